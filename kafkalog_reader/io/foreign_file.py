"""Recognises files that are not Kafka's but are often given as if they were.

Sources: ZooKeeper FileTxnLog, FileSnap; Redpanda storage/segment_utils; the git-lfs specification.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

GIT_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
GIT_LFS_ADVICE: Final = "a git-lfs pointer, not the file itself: run `git lfs pull` in the clone"
MAX_POINTER_SIZE: Final = 1024
"""In bytes, by the specification."""

READ_ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".zip")
"""Endings of archives that are paths; see ``io/archive.py``."""
_ARCHIVE: Final = (
    "an archive: unpack it first, and give the unpacked folder "
    f"(read as they are, by their names: {', '.join(f'*{each}' for each in READ_ARCHIVES)})"
)
_ZOOKEEPER_SNAPSHOT: Final = (
    "a ZooKeeper snapshot (zkSnapShotToolkit.sh prints it): give the brokers' log.dirs instead"
)
_ZOOKEEPER_LOG: Final = (
    "a ZooKeeper transaction log (zkTxnLogToolkit.sh prints it): give the brokers' log.dirs instead"
)
_REDPANDA: Final = (
    "a Redpanda segment, whose batch headers differ from Kafka's: read it with "
    "Redpanda's offline_log_viewer, or consume the topic"
)
ARCHIVES: Final = (".tar", ".tgz", ".gz", ".zip", ".zst", ".xz", ".bz2", ".7z")
_BY_NAME: Final = (
    (re.compile(r"snapshot\.[0-9a-f]{1,16}", re.ASCII), "snapshot.*", _ZOOKEEPER_SNAPSHOT),
    (re.compile(r"log\.[0-9a-f]{1,16}", re.ASCII), "log.*", _ZOOKEEPER_LOG),
    (re.compile(r"[0-9]{1,20}-[0-9]{1,20}-v[0-9]\.log", re.ASCII), "*-v*.log", _REDPANDA),
)
_BY_CONTENT: Final = (
    (GIT_LFS_POINTER, GIT_LFS_ADVICE),
    (b"ZKSN", _ZOOKEEPER_SNAPSHOT),
    (b"ZKLG", _ZOOKEEPER_LOG),
    (b"\x1f\x8b", _ARCHIVE),
    (b"PK\x03\x04", _ARCHIVE),
    (b"\x28\xb5\x2f\xfd", _ARCHIVE),
    (b"\xfd7zXZ\x00", _ARCHIVE),
)


def describe_foreign_file(path: str, read_start: Callable[[int], bytes] | None) -> str | None:
    """What a file is and what to do with it; None if it is not known to be foreign.

    Args:
        path: a regular file.
        read_start: reads the first bytes of the file; None does not check them, because a
            segment may begin with any bytes.
    """
    name = os.path.basename(path)
    if name.endswith(ARCHIVES):
        return _ARCHIVE
    for pattern, _, description in _BY_NAME:
        if pattern.fullmatch(name):
            return description
    if read_start is None:
        return None
    start = read_start(len(GIT_LFS_POINTER))
    return next((what for magic, what in _BY_CONTENT if start.startswith(magic)), None)


def foreign_pattern(name: str) -> str | None:
    """The pattern under which files of this kind are counted; None if the kind is unknown."""
    return next((shown for pattern, shown, _ in _BY_NAME if pattern.fullmatch(name)), None)


def advice_on_pattern(shown: str) -> str | None:
    """What files with this pattern are and what to do; see ``foreign_pattern``."""
    return next((what for _, pattern, what in _BY_NAME if pattern == shown), None)
