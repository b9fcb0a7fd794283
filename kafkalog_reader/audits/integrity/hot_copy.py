"""Whether a checkpoint is ahead of a log only because the broker wrote while files were copied.

Trap T01 (replica-divergence.md, section 2): file after file is copied, and the log grows meanwhile.
File times distinguish a copy of a running broker from a log that lost its end, as long as nobody
copied the copy.
"""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.checkpoints import checkpoint_path
from kafkalog_reader.io.names import PARTITION_METADATA

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.evidence import SegmentFiles

_META_PROPERTIES: Final = "meta.properties"
_WRITTEN_TO_SECONDS: Final = 60
"""So old the last record may be when its log is copied, for clients to be writing still."""
_COPIED_TOGETHER_SECONDS: Final = 5
_CLOCK_SECONDS: Final = 1


def was_copied_while_written(
    replica: Replica, checkpoint: str, last: SegmentFiles, last_timestamp: int
) -> bool:
    """Whether a row above the log end has this innocent explanation, by the times of the files.

    All of it must hold: the log was copied while clients wrote, and the checkpoint was written
    after that.

    Args:
        replica: whose row it is.
        checkpoint: the name of the file with the row.
        last: the segment in which the log ends.
        last_timestamp: of its records, in milliseconds.
    """
    root = replica.directory.log_directory
    try:
        copied_at = Path(last.path("log")).stat().st_ctime
        ahead = Path(checkpoint_path(root, checkpoint)).stat()
    except OSError:
        return False
    return ahead.st_mtime > copied_at and is_hot_copy(replica, last, last_timestamp)


def is_hot_copy(replica: Replica, last: SegmentFiles, last_timestamp: int) -> bool:
    """Whether a log was copied from a running broker, by the times of the files.

    Both must hold: the files are a copy, and clients were writing when the log was copied.

    Args:
        replica: whose log.
        last: the segment in which it ends.
        last_timestamp: of its records, in milliseconds.
    """
    if replica.directory.log_directory.clean_shutdown:
        return False
    try:
        log = Path(last.path("log")).stat()
        first = _written_once(replica).stat()
    except OSError:
        return False
    keeps_times = first.st_ctime - first.st_mtime > _CLOCK_SECONDS
    is_copy = keeps_times or first.st_mtime > log.st_mtime - _COPIED_TOGETHER_SECONDS
    return is_copy and abs(log.st_ctime - last_timestamp / 1000) < _WRITTEN_TO_SECONDS


def _written_once(replica: Replica) -> Path:
    """A file that its broker never touches again."""
    path = Path(replica.directory.path) / PARTITION_METADATA
    if path.exists():
        return path
    return Path(posixpath.join(replica.directory.log_directory.path, _META_PROPERTIES))
