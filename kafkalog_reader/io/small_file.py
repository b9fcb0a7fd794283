"""Reads small files that may be absent: checkpoints, metadata, snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.window import read_small_file

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext

CHECKPOINT_LIMIT: Final = 256 << 20
"""Size of a checkpoint of a million partitions with the longest names; none is larger."""
METADATA_LIMIT: Final = 1 << 20
_KEPT: Final = 64 << 10
"""Maximum bytes of a file that one look remembers."""


def read_if_present(path: str, limit: int, *, context: ReadContext) -> bytes | None:
    """The content of a small file; None if there is no such file.

    Raises:
        UnreadableFileError: it exists but cannot be read, or holds more than ``limit`` bytes.
    """

    def read() -> bytes | None:
        try:
            return read_small_file(path, limit, context=context)
        except UnreadableFileError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise

    return context.once(
        ("small file", path, limit),
        read,
        lambda content: content is None or len(content) <= _KEPT,
    )
