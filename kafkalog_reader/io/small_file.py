"""Small files that may be absent: checkpoints, metadata, snapshots."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.one_look import once
from kafkalog_reader.io.window import read_small_file

CHECKPOINT_LIMIT: Final = 256 << 20
"""A checkpoint of a million partitions with the longest names; no checkpoint is larger."""
METADATA_LIMIT: Final = 1 << 20
_KEPT: Final = 64 << 10
"""Bytes of a file that is not read twice within one look."""


def read_if_present(path: str, limit: int, *, follow_links: bool = False) -> bytes | None:
    """The whole of a small file; None when there is no such file.

    Raises:
        UnreadableFileError: it is there and cannot be read, or holds more than ``limit`` bytes.
    """

    def read() -> bytes | None:
        try:
            return read_small_file(path, limit, follow_links=follow_links)
        except UnreadableFileError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise

    return once(
        ("small file", path, limit, follow_links),
        read,
        lambda content: content is None or len(content) <= _KEPT,
    )
