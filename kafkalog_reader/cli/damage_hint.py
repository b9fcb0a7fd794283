"""Where reading stops at damage: which supplied copy, or which merge, has the records."""

from __future__ import annotations

import posixpath
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import (
    CorruptLogError,
    KafkaLogError,
    LocatedError,
    MissingRecordsError,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.damage import Damage, Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest

PAST_DAMAGE: Final = (
    "--mode PERMISSIVE shows what can be read around it; `kafkalog salvage` writes that to a folder"
)
MAX_BYTES: Final = 1 << 30
"""Bytes of all copies of a partition that are read to find an intact one."""


@contextmanager
def ways_past_damage(
    evidence: Evidence, request: ReadRequest, *, is_of_records: bool = True
) -> Iterator[None]:
    """Add to an error about damage or missing records how to go on.

    Args:
        evidence: the inputs.
        request: what is read from them.
        is_of_records: whether records are read, so that another copy has the same.
    """
    try:
        yield
    except (CorruptLogError, MissingRecordsError) as error:
        if request.mode is Mode.FAILFAST:
            if is_of_records:
                for line in _ways(error, evidence, replace(request, brokers=None)):
                    error.add_note(line)
            error.add_note(PAST_DAMAGE)
        raise


def _ways(error: LocatedError, evidence: Evidence, request: ReadRequest) -> Iterator[str]:
    """Yield lines with commands that read the partition whole, or at least to a later offset."""
    copies = _copies(error, evidence, request)
    if len(copies) < 2 or sum(map(_size, copies)) > MAX_BYTES:
        return
    (damaged,) = (each for each in copies if shown(each.path) == _folder(error))
    ends = {each: _end(each) for each in copies}
    longest = max(ends.values())
    candidates = sorted((each for each in copies if each is not damaged), key=lambda e: -ends[e])
    reaching = (each for each in candidates if ends[each] > (error.where.offset or 0))
    best = next(
        (each for each in reaching if _fork_of(each, damaged) is None and _is_intact(each)), None
    )
    if best is not None:
        short = "" if ends[best] == longest else f", but it ends at offset {ends[best] - 1:,}"
        yield f"{best.replica_name} has an intact copy{short}: {_reading(best, copies)}"
    elif (offset := error.where.offset) is not None:
        yield from _reading_there(offset, damaged, candidates, copies)
    if (best is None or ends[best] < longest) and _can_be_merged(copies):
        yield f"All copies together make one log with more records: {_merging(copies)}"


def _reading_there(
    offset: int,
    damaged: PartitionDirectory,
    candidates: Sequence[PartitionDirectory],
    copies: Sequence[PartitionDirectory],
) -> Iterator[str]:
    """Name the copy that can be read at the damage, although it is damaged or forks elsewhere."""
    for each in candidates:
        fork = _fork_of(each, damaged)
        if (fork is None or offset < fork) and _is_readable(each, offset):
            stop = "" if fork is None else f" --to-offset {fork}"
            there = f"{_reading(each, copies)} --from-offset {offset}{stop}"
            yield f"{each.replica_name} can be read at offset {offset:,}: {there}"
            return


def _copies(
    error: LocatedError, evidence: Evidence, request: ReadRequest
) -> Sequence[PartitionDirectory]:
    """The copies of the partition that the error is about; none if it is about something else."""
    folder = _folder(error)
    for _, replicas in evidence.topic_partitions(request):
        if any(shown(each.path) == folder for each in replicas):
            return replicas
    return ()


def _folder(error: LocatedError) -> str:
    return posixpath.dirname(error.where.file)


def _size(directory: PartitionDirectory) -> int:
    return sum(segment.log_size or 0 for segment in segments(directory))


def _end(directory: PartitionDirectory) -> int:
    from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail

    return end_after_damage(directory, scan_tail(directory)).next_offset


def _fork_of(*copies: PartitionDirectory) -> int | None:
    """Where one has other records than the other, by their leader epochs; None if nowhere."""
    from kafkalog_reader.tables.best_replica import best_and_lacking

    _, lacking = best_and_lacking(copies, Damage(Mode.DROPMALFORMED))
    return min((each.first_offset for each in lacking if each.is_fork), default=None)


def _is_intact(directory: PartitionDirectory) -> bool:
    """Whether `kafkalog records` reads all of this copy, and doubts no offset."""
    return _read_rows(directory) is not None


def _is_readable(directory: PartitionDirectory, offset: int) -> bool:
    """Whether `kafkalog records` shows the record at this offset."""
    return bool(_read_rows(directory, from_offset=offset, to_offset=offset + 1))


def _read_rows(directory: PartitionDirectory, **offsets: int) -> int | None:
    """The number of records of a copy; None if something is damaged, missing or doubtful."""
    from kafkalog_reader import registry
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.options import CONSUMER_VIEW

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


def _can_be_merged(copies: Sequence[PartitionDirectory]) -> bool:
    """Whether a merge has more than any copy, and lacks nothing that one of them has readable."""
    from kafkalog_reader.salvage.merge import try_merge
    from kafkalog_reader.tables.request import ReadRequest

    request = ReadRequest(mode=Mode.PERMISSIVE, log_range_only=True)
    try:
        return try_merge(shown(copies[0].path), copies, request).gained_offsets > 0
    except KafkaLogError:
        return False


def _reading(best: PartitionDirectory, copies: Sequence[PartitionDirectory]) -> str:
    broker = best.log_directory.broker_id
    is_named = [each.log_directory.broker_id for each in copies].count(broker) == 1
    if broker is None or not is_named:
        return f"kafkalog records {_words([best])}"
    return f"kafkalog records {_words(copies)} --replica broker:{broker}"


def _merging(copies: Sequence[PartitionDirectory]) -> str:
    from kafkalog_reader.report.command_text import merged_folder
    from kafkalog_reader.report.shell_word import shell_word

    folder = shell_word(merged_folder(copies[0].topic, copies[0].partition))
    return f"kafkalog salvage {_words(copies)} --merge --as-segments --output {folder}"


def _words(copies: Sequence[PartitionDirectory]) -> str:
    from kafkalog_reader.report.command_text import path_word
    from kafkalog_reader.report.shell_word import shell_word

    paths = " ".join(dict.fromkeys(map(path_word, copies)))
    links = " --follow-links" if any(each.follow_links for each in copies) else ""
    topic = shell_word(copies[0].topic or "")
    return f"{paths}{links} --topic {topic} --partition {copies[0].partition}"
