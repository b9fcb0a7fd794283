"""Recognises a checkpoint that is ahead of its log because the broker wrote during the copy.

Trap T01 (replica-divergence.md, section 2): files are copied one after another, and the log grows
meanwhile. File times distinguish a copy of a running broker from a log that lost its end, unless
the copy was copied again; of an archive, its own time does.
"""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.checkpoints import checkpoint_path
from kafkalog_reader.io.names import PARTITION_METADATA

if TYPE_CHECKING:
    import os

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles

_META_PROPERTIES: Final = "meta.properties"
_WRITTEN_TO_SECONDS: Final = 60
"""Maximum age of the last record, when its log is copied, of a log that is being written."""
_COPIED_TOGETHER_SECONDS: Final = 5
_CLOCK_SECONDS: Final = 1


def was_copied_while_written(
    directory: PartitionDirectory, checkpoint: str, last: SegmentFiles, last_timestamp: int
) -> bool:
    """Whether file times explain a row above the log end as innocent.

    Both must be true: the log was copied while clients wrote, and the checkpoint was written later.

    Args:
        directory: the replica of the row.
        checkpoint: the name of the file with the row.
        last: the last segment.
        last_timestamp: the timestamp of its last record, in milliseconds.
    """
    root = directory.log_directory
    try:
        copied_at = Path(last.path("log")).stat().st_ctime
        ahead = Path(checkpoint_path(root, checkpoint)).stat()
    except OSError:
        return False
    is_later = _written_by(ahead) > copied_at
    return is_later and is_hot_copy(directory, last, last_timestamp)


def is_hot_copy(directory: PartitionDirectory, last: SegmentFiles, last_timestamp: int) -> bool:
    """Whether file times show that a log was copied from a running broker.

    Both must be true: the files are a copy, and clients wrote when the log was copied.

    Args:
        directory: the replica of the log.
        last: its last segment.
        last_timestamp: the timestamp of its last record, in milliseconds; negative for messages of
            magic 0, which have none: the time of modification replaces it, if the copy kept that.
    """
    if directory.log_directory.clean_shutdown:
        return False
    try:
        log = Path(last.path("log")).stat()
        first = _written_once(directory).stat()
    except OSError:
        return False
    archived_at = _archived_at(directory)
    keeps_times = first.st_ctime - first.st_mtime > _CLOCK_SECONDS
    is_copy = keeps_times or first.st_mtime > log.st_mtime - _COPIED_TOGETHER_SECONDS
    copied_at = log.st_ctime if archived_at is None else archived_at
    written_at = log.st_mtime if last_timestamp < 0 and keeps_times else last_timestamp / 1000
    return is_copy and abs(copied_at - written_at) < _WRITTEN_TO_SECONDS


def _written_by(file: os.stat_result) -> float:
    """When a file was written at the latest: archives and some file systems keep whole seconds."""
    is_whole = file.st_mtime_ns % 10**9 == 0
    return file.st_mtime + (_CLOCK_SECONDS if is_whole else 0)


def _archived_at(directory: PartitionDirectory) -> float | None:
    """When the archive was written that holds the log; None if it is in none.

    The times of change of its files are those of unpacking it.
    """
    for source in directory.log_directory.context.sources:
        written_at_ns = source.written_at_ns
        if written_at_ns is not None and directory.path.startswith(f"{source.home}/"):
            return written_at_ns / 10**9
    return None


def _written_once(directory: PartitionDirectory) -> Path:
    """A file that the broker writes only once."""
    path = Path(directory.path) / PARTITION_METADATA
    if path.exists():
        return path
    return Path(posixpath.join(directory.log_directory.path, _META_PROPERTIES))
