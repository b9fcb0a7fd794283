"""Reads small files, once a look: checkpoints, metadata, snapshots, which may be absent; logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.window import Windows, read_small_file, read_small_page

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

CHECKPOINT_LIMIT: Final = 256 << 20
"""Size of a checkpoint of a million partitions with the longest names; none is larger."""
METADATA_LIMIT: Final = 1 << 20
SMALL_LOG: Final = 32 << 10
"""Maximum bytes of a log that is read as a whole, sooner than by its index."""
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


def small_log(segment: SegmentFiles, *, context: ReadContext) -> bytes | None:
    """The whole log of a segment; None if it has more than ``SMALL_LOG`` bytes, or none.

    Raises:
        UnreadableFileError: it cannot be read.
    """
    if not 0 < (segment.log_size or 0) <= SMALL_LOG:
        return None

    def read() -> bytes | None:
        path = segment.path("log")
        content = read_small_page(path, context=context)
        if content is not None:
            return content
        with Windows(path, size=SMALL_LOG, context=context) as windows:
            # it may have grown since it was listed
            return bytes(windows.read(0)) if 0 < windows.size_in_bytes <= SMALL_LOG else None

    return context.once(("small log", segment.directory, segment.base_offset, segment.suffix), read)
