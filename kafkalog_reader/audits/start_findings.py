"""Findings about damage and the next start: what will be cut, served, or never looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.batch_findings import METADATA_TOPIC
from kafkalog_reader.audits.checkpoint_findings import RECOVERY_POINTS
from kafkalog_reader.audits.finding import Finding, finding
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.partition_directory import segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.replica import Replica


def start_findings(replica: Replica, damaged: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what the next start makes of the first damaged place: KL-412, 413 or 414.

    A torn end of the log is no damage here: the start cuts no record there.

    Args:
        replica: of a log directory that was given whole; of others nothing is known.
        damaged: findings of KL-1xx that a broker's recovery would stop at, in log order.
    """
    directory = replica.directory
    is_clean = directory.log_directory.clean_shutdown
    if not damaged or is_clean is None or directory.topic == METADATA_TOPIC:
        return
    first = damaged[0]
    if is_clean:
        yield _of(
            "KL-413",
            replica,
            first,
            "the clean-shutdown marker is there: the next start checks nothing, and readers fail "
            "at the damage",
        )
        return
    recovery_point = _recovery_point(replica)
    bases = [segment.base_offset for segment in segments(directory) if segment.log_size is not None]
    read_from = max((base for base in bases if base <= recovery_point), default=0)
    cut = [each for each in damaged if _base_of(each) >= read_from]
    below = [each for each in damaged if _base_of(each) < read_from]
    if cut:
        yield _of(
            "KL-412",
            replica,
            cut[0],
            f"the next start cuts the log at offset {cut[0].first_offset} and deletes every later "
            "segment",
        )
    if below:
        yield _of(
            "KL-414",
            replica,
            below[0],
            f"the damage lies below the recovery point {recovery_point}: no start checks it, "
            "readers and the cleaner fail at it",
        )


def _of(code: str, replica: Replica, cause: Finding, effect: str) -> Finding:
    return finding(
        code,
        f"{replica.name}: {effect}",
        directory=replica.directory,
        file=cause.file,
        position=cause.position,
        offsets=None
        if cause.first_offset is None or cause.next_offset is None
        else (cause.first_offset, cause.next_offset),
        caused_by=f"{cause.code} {cause.file} {cause.position}",
    )


def _base_of(each: Finding) -> int:
    name = (each.file or "").rsplit("/", 1)[-1]
    return int(name.split(".")[0]) if name[:20].isdigit() else 0


def _recovery_point(replica: Replica) -> int:
    directory = replica.directory
    try:
        rows = checkpointed_offsets(directory.log_directory, RECOVERY_POINTS)
    except LocatedError:  # the broker starts from the beginning then
        return 0
    if directory.topic is None or directory.partition is None:
        return 0
    return rows.get((directory.topic, directory.partition), 0)
