"""Checks the files of one replica against each other; findings name their causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.batch_rules import (
    OFFSET_REGRESSION,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.input_rules import (
    INPUT_CHANGED_DURING_READ,
    UNREADABLE_FILE,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.causes import with_causes
from kafkalog_reader.audits.integrity.checkpoint_findings import (
    clean_shutdown_findings,
    offset_findings,
    problem_findings,
    snapshot_findings,
    temporary_findings,
)
from kafkalog_reader.audits.integrity.epoch_findings import epoch_findings
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.metadata_snapshot import metadata_snapshot_findings
from kafkalog_reader.audits.integrity.name_findings import name_findings
from kafkalog_reader.audits.integrity.segment_chain_findings import file_findings
from kafkalog_reader.audits.integrity.start_findings import fails_readers, start_findings
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.log_watch import WatchedStream
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.recovery.recovery import Recovery
    from kafkalog_reader.io.segment_files import SegmentFiles

_TAILS: Final = codes_with(Role.TAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The findings of one pass over the log and the small files around it, without damage.

    ``log_end_offset`` is where the batches end, whatever the checkpoints say.
    """

    findings: tuple[Finding, ...]
    log_end_offset: int


def check_replica(
    replica: Replica, stream: WatchedStream, *, was_copied_earlier: bool = False
) -> Checked:
    """Check the files of a replica whose stream was read to its end.

    Args:
        replica: the replica.
        stream: its batches.
        was_copied_earlier: whether other copies show that its broker ran while it was copied.
    """
    end = stream.next_offset
    if not _last_segment(replica):  # a broker creates an empty one at the log start
        end = max(end, replica.log_start_offset)
    found = tuple(_checked(replica, stream, end, was_growing=was_copied_earlier))
    return Checked(findings=found, log_end_offset=end)


def _checked(
    replica: Replica, stream: WatchedStream, log_end_offset: int, *, was_growing: bool
) -> Iterator[Finding]:
    in_log = list(stream.findings())
    yield from in_log
    yield from problem_findings(replica)
    changes = _changed(replica, stream)
    yield from offset_findings(
        replica, log_end_offset, stream.last_timestamp, has_grown=was_growing or bool(changes)
    )
    intervals = stream.lineage.build().intervals
    yield from epoch_findings(replica, intervals, log_end_offset, stream.messages_end)
    try:
        repairs = (repair for each in in_log for repair in each.repairs)
        restored = {repair.path for repair in repairs if isinstance(repair, Move)}
        yield from file_findings(replica, restored)
        yield from name_findings(replica)
        yield from snapshot_findings(replica)
        yield from metadata_snapshot_findings(replica, log_end_offset)
        yield from temporary_findings(replica)
        yield from changes
    except (LocatedError, OSError):  # not listed any more: in `problems`, or deleted
        return


def _changed(replica: Replica, stream: WatchedStream) -> list[Finding]:
    try:
        return list(_changes(replica, stream.listed))
    except (LocatedError, OSError):  # not listed any more: in `problems`, or deleted
        return []


def joined(
    replica: Replica,
    damage: Iterable[Finding],
    checked: Checked,
    recovery: Recovery | LocatedError | None,
    is_held_elsewhere: Callable[[int], bool],
) -> list[Finding]:
    """Join damage and the other findings of one replica, with causes and the next start.

    Args:
        replica: the replica.
        damage: findings about the bytes of its segments.
        checked: findings about its other files.
        recovery: the predicted start; None or an error if it cannot be predicted.
        is_held_elsewhere: whether other replicas have all its records from an offset on.
    """
    own = {replica.file_of(problem.where) for problem in replica.problems}
    damage = [
        each
        for each in damage
        if each.code != OFFSET_REGRESSION
        and not (each.code == UNREADABLE_FILE and each.file in own)
    ]
    is_clean = bool(replica.directory.log_directory.clean_shutdown)
    stopping = [
        each
        for each in damage
        if fails_readers(each) or (each.code in _TAILS and (is_clean or each.severity == "H"))
    ]
    stopping.sort(key=lambda each: (each.file or "", each.position or 0))
    last = _last_segment(replica)
    return with_causes(
        [
            *damage,
            *checked.findings,
            *clean_shutdown_findings(replica, checked.log_end_offset, stopping, last),
            *start_findings(
                replica,
                [*damage, *checked.findings],
                recovery,
                checked.log_end_offset,
                is_held_elsewhere,
            ),
        ],
        last,
    )


def _last_segment(replica: Replica) -> str:
    """The file where the log ends; empty without one."""
    try:
        live = [s for s in readable_segments(replica.directory) if s.log_size is not None]
    except LocatedError:
        return ""
    return replica.segment_file(live[-1]) if live else ""


def _changes(replica: Replica, before: Sequence[SegmentFiles]) -> Iterator[Finding]:
    again = replica.directory.within(replica.directory.context.looking_again())
    now = {segment.base_offset: segment for segment in readable_segments(again)}
    for segment in before:
        after = now.get(segment.base_offset)
        if after is None or (after.log_size, after.modified_at) != (
            segment.log_size, segment.modified_at
        ):  # fmt: skip
            file = replica.segment_file(segment)
            size = None if after is None else after.log_size
            yield finding(
                INPUT_CHANGED_DURING_READ,
                f"{file}: changed while it was read: {segment.log_size} bytes before, {size} after",
                directory=replica.directory,
                file=file,
                evidence={
                    "sizeBefore": segment.log_size,
                    "sizeAfter": size,
                    "modifiedBefore": segment.modified_at,
                    "modifiedAfter": None if after is None else after.modified_at,
                },
            )
