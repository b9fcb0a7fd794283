"""Whether the last batch of a log was being written: its end, and all that follows, are zeros.

A file system that lost power can keep the new size of a file and not the bytes: the end of the log
reads as zeros, from within the batch that was being written. The controllers' log is flushed before
a record counts for the high watermark (Kafka 4.4, KafkaRaftClient#flushLeaderLog and the flush of
followers before they fetch on), so such a batch of it was never committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext

_IN_BATCH: Final = 32
"""Bytes at the end of a batch; those of whole metadata records end in fewer zeros."""
_AFTER_BATCH: Final = 512
"""Bytes of a sector. With so many zeros after a batch, one at its end is enough."""
_HEADER: Final = 61


def is_unfinished(
    path: str, position: int, size_in_bytes: int = _HEADER, *, context: ReadContext
) -> bool:
    """Whether a batch that is not sound is the last one and ends in zeros.

    Args:
        path: of the last log segment.
        position: of the batch.
        size_in_bytes: of the batch, by its length field; of its header if that is not known.
        context: how to read.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    end = position + size_in_bytes
    with Windows(path, position, size=4096, context=context) as windows:
        needed = 1 if windows.stop - end >= _AFTER_BATCH else _IN_BATCH
        zeros = end - min(needed, size_in_bytes)
        return windows.stop - zeros >= needed and windows.only_zeros(zeros)
