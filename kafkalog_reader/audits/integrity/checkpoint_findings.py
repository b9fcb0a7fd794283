"""Findings in the small files of one replica: rows in checkpoints, snapshots, topic id."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COMPARE_REPLICAS,
    COPY_AGAIN,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    CHECKPOINT_MALFORMED,
    CHECKPOINT_TEMPORARY_LEFT,
    CLEAN_MARKER_CONTRADICTED,
    CLEANER_OFFSET_BEYOND_END,
    HIGH_WATERMARK_BEYOND_END,
    LOG_START_BEYOND_END,
    LOG_START_BEYOND_HIGH_WATERMARK,
    PARTITION_METADATA_MALFORMED,
    PRODUCER_SNAPSHOT_DAMAGED,
    RECOVERY_POINT_BEYOND_END,
    STRAY_PRODUCER_SNAPSHOT,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    UNKNOWN_VERSION,
    UNREADABLE_FILE,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.refused_file import actions_of_refusal
from kafkalog_reader.errors import (
    CorruptCheckpointError,
    LocatedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.producer_snapshot import check_producer_snapshot
from kafkalog_reader.io.checkpoints import (
    checkpointed_row,
    producer_snapshot_path,
    read_producer_snapshot,
)
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.hot_copy import was_copied_while_written
from kafkalog_reader.io.names import (
    LEADER_EPOCHS,
    METADATA_TOPIC,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    shown,
)
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets, readable_segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.read_context import ReadContext

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
_TAILS: Final = codes_with(Role.TAIL)
_BEYOND_END: Final = {
    HIGH_WATERMARK_BEYOND_END: (
        HIGH_WATERMARKS,
        "high watermark",
        "records known to be committed are gone from this copy",
    ),
    RECOVERY_POINT_BEYOND_END: (
        RECOVERY_POINTS,
        "recovery point",
        "records that had been flushed are gone",
    ),
    LOG_START_BEYOND_END: (LOG_STARTS, "log start", "the next start deletes every segment"),
    CLEANER_OFFSET_BEYOND_END: (
        CLEANER_OFFSETS,
        "cleaner offset",
        "the log lost its end",
    ),
}
"""The checkpoint, what its row is called, and what it means if it is above the log end."""


def problem_findings(replica: Replica) -> Iterator[Finding]:
    """Yield a finding for each small file of a replica that could not be read."""
    for problem in replica.problems:
        yield problem_finding(replica, problem)


def problem_finding(replica: Replica, problem: LocatedError) -> Finding:
    """The finding of a file that could not be read, by the kind of problem."""
    name = posixpath.basename(problem.where.file)
    root = replica.directory.log_directory
    if name in OFFSET_CHECKPOINTS:
        return checkpoint_problem(root, name, problem)
    code = problem_code(problem, name)
    is_epochs = code == CHECKPOINT_MALFORMED and name == LEADER_EPOCHS
    return finding(
        code,
        f"{problem.where}: {problem.problem}",
        directory=replica.directory,
        file=replica.file_of(problem.where),
        position=problem.where.position,
        actions=(WRITE_EPOCHS, CHECK_HARDWARE)
        if is_epochs
        else actions_of_refusal(problem.problem),
    )


def checkpoint_problem(root: LogDirectory, name: str, problem: LocatedError) -> Finding:
    """The finding of a checkpoint of a log directory, which is the same for all its replicas."""
    code = problem_code(problem, name)
    return finding(
        code,
        f"{problem.where}: {problem.problem}",
        directory=PartitionDirectory.whole(root),
        file=name,
        position=problem.where.position,
        actions=actions_of_refusal(problem.problem),
        repairs=(move_aside(root.path, name),) if code == CHECKPOINT_MALFORMED else (),
    )


def problem_code(problem: LocatedError, name: str) -> str:
    """The code for a problem; brokers refuse a checkpoint of another version like a torn one."""
    is_checkpoint = name in (*OFFSET_CHECKPOINTS, LEADER_EPOCHS)
    if isinstance(problem, UnsupportedFormatError):
        return CHECKPOINT_MALFORMED if is_checkpoint else UNKNOWN_VERSION
    if isinstance(problem, CorruptCheckpointError):
        return PARTITION_METADATA_MALFORMED if name == PARTITION_METADATA else CHECKPOINT_MALFORMED
    return UNREADABLE_FILE


def offset_findings(
    replica: Replica,
    log_end_offset: int,
    last_timestamp: int | None = None,
    *,
    has_grown: bool = False,
) -> Iterator[Finding]:
    """Yield rows of the offset checkpoints that contradict the log.

    Nothing here is certain if the copy was taken while the broker ran: files are copied one after
    another, and the log grows meanwhile. If file times show this, the severity is low.

    Args:
        replica: the replica that the rows belong to.
        log_end_offset: where its batches end.
        last_timestamp: the greatest in its last segment, in milliseconds; None without batches.
        has_grown: whether the log changed while it was read or copied, because its broker ran.
    """
    if replica.directory.topic == METADATA_TOPIC:  # it has no such rows
        return
    is_clean = bool(replica.directory.log_directory.clean_shutdown)
    for code, (name, words, effect) in _BEYOND_END.items():
        offset = _row(replica, name)
        if offset is not None and offset > log_end_offset:
            is_hot = not is_clean and (has_grown or _was_hot(replica, name, last_timestamp))
            if is_hot:
                effect = "the broker wrote while its files were read or copied, the log first"
            yield finding(
                code,
                f"{name}: {words} {offset:,} is above the log end {log_end_offset:,}: {effect}",
                severity="L" if is_hot else None,
                actions=(COPY_AGAIN,) if is_hot else None,
                confidence="proven" if is_clean else "possible",
                directory=replica.directory,
                file=name,
                offsets=(log_end_offset, offset),
                evidence={"checkpointed": offset, "logEndOffset": log_end_offset},
            )
    yield from _start_above_high_watermark(replica, log_end_offset)


def _start_above_high_watermark(replica: Replica, log_end_offset: int) -> Iterator[Finding]:
    start, high_watermark = _row(replica, LOG_STARTS), _row(replica, HIGH_WATERMARKS)
    if start is None or high_watermark is None:
        return
    if high_watermark < start <= log_end_offset:
        yield finding(
            LOG_START_BEYOND_HIGH_WATERMARK,
            f"{LOG_STARTS}: log start {start:,} is above the high watermark {high_watermark:,}",
            directory=replica.directory,
            file=LOG_STARTS,
            evidence={"logStartOffset": start, "highWatermark": high_watermark},
        )


def clean_shutdown_findings(
    replica: Replica, log_end_offset: int, damage: Sequence[Finding], last_segment: str
) -> Iterator[Finding]:
    """Yield KL-316 if the log contradicts its clean-shutdown marker.

    Not where the start reads the damaged segment again, because its offset index is missing.

    Args:
        replica: the replica of the log.
        log_end_offset: where its batches end.
        damage: findings at which a recovery would stop.
        last_segment: the name of the file in which the log ends.
    """
    directory = replica.directory
    if not directory.log_directory.clean_shutdown or directory.topic == METADATA_TOPIC:
        return
    segments = readable_segments(directory)
    is_read_again = bool(segments) and segments[-1].offset_index_size is None
    if is_read_again and all(each.file == last_segment for each in damage):
        return
    recovery_point = _row(replica, RECOVERY_POINTS)
    is_short = recovery_point is not None and recovery_point != log_end_offset
    has_damage = any(
        (each.file == last_segment and each.code in _TAILS)
        or (each.first_offset or 0) >= (recovery_point or 0)
        for each in damage
    )
    if is_short or has_damage:
        reason = "the log is damaged" if has_damage else (
            f"the recovery point is {recovery_point:,} and the log end {log_end_offset:,}"
        )  # fmt: skip
        yield finding(
            CLEAN_MARKER_CONTRADICTED,
            f"there is a clean-shutdown marker, but {reason}: the next start checks nothing",
            directory=directory,
            evidence={"recoveryPoint": recovery_point, "logEndOffset": log_end_offset},
        )


def snapshot_findings(replica: Replica) -> Iterator[Finding]:
    """Yield producer snapshots that are damaged, or at offsets where none belongs."""
    directory = replica.directory
    if directory.only is not None or directory.topic == METADATA_TOPIC:
        return
    offsets = producer_snapshot_offsets(directory)
    live = [segment for segment in readable_segments(directory) if segment.log_size is not None]
    bases = {segment.base_offset for segment in live}
    is_needed = len(offsets) == 1 and bool(bases) and min(bases) > 0
    for offset in offsets:
        path = producer_snapshot_path(directory.path, offset)
        try:
            content = read_producer_snapshot(directory.path, offset, context=directory.context)
            if content is not None:
                check_producer_snapshot(content, LogPosition(shown(path)))
        except CorruptCheckpointError as error:
            yield finding(
                PRODUCER_SNAPSHOT_DAMAGED,
                f"{error.where}: {error.problem}; the broker deletes it and replays the log",
                severity="H" if is_needed else "L",
                actions=(COMPARE_REPLICAS,) if is_needed else None,
                directory=directory,
                file=replica.file_of(error.where),
            )
        except LocatedError as error:
            yield problem_finding(replica, error)
        if offset not in bases and offset != max(offsets):
            yield finding(
                STRAY_PRODUCER_SNAPSHOT,
                f"{replica.file(posixpath.basename(path))}: no segment begins at its offset",
                directory=directory,
                file=replica.file(posixpath.basename(path)),
                offsets=(offset, offset),
            )


def temporary_findings(replica: Replica) -> Iterator[Finding]:
    """Yield KL-303 for temporary files of small files that a broker was replacing."""
    if replica.directory.only is None:
        for name in temporary_files(replica.directory.path, replica.directory.context):
            yield finding(
                CHECKPOINT_TEMPORARY_LEFT,
                f"{replica.file(name)}: left behind when a small file was replaced",
                directory=replica.directory,
                file=replica.file(name),
            )


def temporary_files(path: str, context: ReadContext) -> Sequence[str]:
    """The names in a folder that end in ``.tmp``."""
    names = (entry.name for entry in context.entries(path))
    return sorted(shown(name) for name in names if name.endswith(".tmp"))


def _was_hot(replica: Replica, name: str, last_timestamp: int | None) -> bool:
    try:
        live = [s for s in readable_segments(replica.directory) if s.log_size is not None]
    except LocatedError:
        return False
    if not live or last_timestamp is None:
        return False
    return was_copied_while_written(replica.directory, name, live[-1], last_timestamp)


def _row(replica: Replica, name: str) -> int | None:
    try:
        return checkpointed_row(replica.directory, name)
    except LocatedError:  # has its own finding
        return None
