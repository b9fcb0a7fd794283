"""Small files that may be absent: checkpoints, metadata, snapshots."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.window import read_small_file

CHECKPOINT_LIMIT: Final = 256 << 20
"""A checkpoint of a million partitions with the longest names; more is no checkpoint."""
METADATA_LIMIT: Final = 1 << 20


def read_if_present(path: str, limit: int, *, follow_links: bool = False) -> bytes | None:
    """The whole of a small file; None when there is no such file.

    Raises:
        UnreadableFileError: it is there and cannot be read, or holds more than ``limit`` bytes.
    """
    try:
        return read_small_file(path, limit, follow_links=follow_links)
    except UnreadableFileError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
