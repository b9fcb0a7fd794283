"""Copies that were moved aside where the printed commands put them, and what is in their place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.file_repair import aside_path
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import topic_id_of
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.io.directories import LogDirectory


def has_aside(root: LogDirectory) -> bool:
    """Whether copies may have been moved out of a log directory, to the folder beside it."""
    path = Path(aside_path(root.path, ""))
    return path.is_dir() and not path.is_symlink()


def moved_copy(root: LogDirectory, topic: str, partition: int) -> PartitionDirectory | None:
    """The copy of a partition that was moved out of a log directory; None if none is beside it."""
    path = aside_path(root.path, f"{topic}-{partition}")
    if Path(path).is_symlink() or not Path(path).is_dir():
        return None
    return PartitionDirectory(path=path, log_directory=root, topic=topic, partition=partition)


def is_replaced(moved: PartitionDirectory, live: Iterable[PartitionDirectory]) -> bool:
    """Whether a copy that brokers serve reaches as far as one that was moved aside.

    So does a merged log, which has every batch that any copy has readable. A copy of another topic
    of that name, which was deleted, is not to be compared. False where that is unknown.
    """
    live = tuple(live)
    own, others = topic_id_of(moved), {topic_id_of(each) for each in live} - {None}
    if own is not None and others and own not in others:
        return True
    try:
        return _end(moved) <= max(map(_end, live))
    except LocatedError:
        return False


def _end(directory: PartitionDirectory) -> tuple[int, int]:
    """The leader epoch of the last sound batch, and the log end, also after damage."""
    tail = scan_tail(directory)
    epoch = -1 if tail.last_leader_epoch is None else tail.last_leader_epoch
    return epoch, end_after_damage(directory, tail).next_offset
