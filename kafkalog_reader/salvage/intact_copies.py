"""Finds the copy of a partition that is intact where reading another one stops at damage."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader import registry
from kafkalog_reader.errors import KafkaLogError, UnreadableFileError
from kafkalog_reader.io.evidence import Evidence
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail
from kafkalog_reader.tables.best_replica import best_and_lacking
from kafkalog_reader.tables.options import CONSUMER_VIEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest

MAX_BYTES: Final = 1 << 30
"""Bytes of all copies of a partition that are read to find an intact one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCopies:
    """The copies of a partition of which one is damaged.

    Attributes:
        damaged: the one where reading stopped.
        others: the longest first.
        everyone: all of them.
        intact: the longest one that can be read to its end and has the offset of the damage; None
            if there is none.
        end: where ``intact`` ends.
        is_shorter: another copy ends after ``intact``.
    """

    damaged: PartitionDirectory
    others: Sequence[PartitionDirectory]
    everyone: Sequence[PartitionDirectory]
    intact: PartitionDirectory | None
    end: int
    is_shorter: bool

    def broker_of(self, copy: PartitionDirectory) -> int | None:
        """The node id that selects this copy; None if it does not select this one alone."""
        broker = copy.log_directory.broker_id
        is_alone = [each.log_directory.broker_id for each in self.everyone].count(broker) == 1
        return broker if is_alone else None


def other_copies(
    error: LocatedError, evidence: Evidence, request: ReadRequest
) -> OtherCopies | None:
    """Judge the other copies of the partition that an error is about.

    Returns:
        None if there is no other copy, or if they are too large to be read for this.
    """
    copies = _copies_of(error, evidence, request)
    if len(copies) < 2 or sum(map(_size, copies)) > MAX_BYTES:
        return None
    (damaged,) = (each for each in copies if _is_about(error, each))
    ends = {each: _end(each) for each in copies}
    others = sorted((each for each in copies if each is not damaged), key=lambda e: -ends[e])
    offset = error.where.offset or 0
    reaching = (each for each in others if _base(each) <= offset < ends[each])
    intact = next(
        (each for each in reaching if fork_of(each, damaged) is None and _is_intact(each)), None
    )
    end = 0 if intact is None else ends[intact]
    return OtherCopies(
        damaged=damaged,
        others=others,
        everyone=copies,
        intact=intact,
        end=end,
        is_shorter=end < max(ends.values()),
    )


def _copies_of(
    error: LocatedError, evidence: Evidence, request: ReadRequest
) -> Sequence[PartitionDirectory]:
    """The copies of the partition that the error is about; none if it is about something else."""
    for _, replicas in evidence.topic_partitions(request):
        if any(_is_about(error, each) for each in replicas):
            return replicas
    return ()


def _is_about(error: LocatedError, directory: PartitionDirectory) -> bool:
    file = error.where.file
    return shown(directory.path) in (file, posixpath.dirname(file))


def _base(directory: PartitionDirectory) -> int:
    return next((each.base_offset for each in readable_segments(directory) if each.log_size), 0)


def _size(directory: PartitionDirectory) -> int:
    return sum(segment.log_size or 0 for segment in readable_segments(directory))


def _end(directory: PartitionDirectory) -> int:
    try:
        return end_after_damage(directory, scan_tail(directory)).next_offset
    except UnreadableFileError:
        return 0


def fork_of(*copies: PartitionDirectory) -> int | None:
    """Where one has other records than the other, by their leader epochs; None if nowhere."""
    _, lacking = best_and_lacking(copies, Damage(Mode.DROPMALFORMED))
    return min((each.first_offset for each in lacking if each.is_fork), default=None)


def _is_intact(directory: PartitionDirectory) -> bool:
    """Whether `kafkalog records` reads all of this copy, and doubts no offset."""
    return _read_rows(directory) is not None


def is_readable(directory: PartitionDirectory, offset: int) -> bool:
    """Whether `kafkalog records` shows the record at this offset."""
    return bool(_read_rows(directory, from_offset=offset, to_offset=offset + 1))


def _read_rows(directory: PartitionDirectory, **offsets: int) -> int | None:
    """The number of records of a copy; None if something is damaged, missing or doubtful."""
    table = registry.table("records")
    options: dict[str, Any] = {**CONSUMER_VIEW, "include_control_records": False, **offsets}
    request = replace(registry.request(table, None, **options), mode=Mode.DROPMALFORMED)
    alone = Evidence(roots=(), given=(directory,), context=directory.context)
    metrics = ReadMetrics()
    try:
        rows: int = sum(each.num_rows for each in registry.read(table, alone, request, metrics))
    except KafkaLogError:
        return None
    if metrics.damaged_regions or metrics.missing_ranges or metrics.doubtful_ranges:
        return None
    return rows
