"""Whether the offset index of a segment was written for another log.

A broker writes both together. Where the entries do not point to batches with their offsets, the
segment's file may have been overwritten with another one.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.window import Windows
from kafkalog_reader.scan.sparse_index import SparseIndex

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory

_HEADER: Final = struct.Struct(">q8xb6xi")
"""Of a batch: its base offset, magic and last offset delta."""
_MAGIC: Final = 2
_MOST_MESSAGES: Final = 1 << 20
"""In one wrapper of an older format."""
_LOOKS: Final = 16
"""Maximum entries that are looked at."""


def has_foreign_index(directory: PartitionDirectory, offset: int) -> bool:
    """Whether most entries of the index of the segment that has an offset point to no batch."""
    try:
        log = [each for each in segments(directory) if each.log_size]
        number = max(bisect_right(log, offset, key=lambda each: each.base_offset) - 1, 0)
        if not log or not log[number].offset_index_size:
            return False
        segment, context = log[number], directory.context
        with SparseIndex(segment, context=context) as index:
            step = max(1, len(index) // _LOOKS)
            entries = [index[each] for each in range(0, len(index), step)]
        windows = Windows(segment.path("log"), size=_HEADER.size, context=context)
        try:
            headers = [
                bytes(windows.read(position, at_most=_HEADER.size)) for _, position in entries
            ]
        finally:
            windows.close()
    except LocatedError:  # the audits report it
        return False
    wrong = sum(
        not _holds(header, named) for header, (named, _) in zip(headers, entries, strict=True)
    )
    return 2 * wrong > len(entries)


def _holds(header: bytes, offset: int) -> bool:
    """Whether a batch that begins with these bytes has an offset.

    Before magic 2 the header has the last offset, and entries may have the first one.
    """
    if len(header) < _HEADER.size:
        return False
    base, magic, delta = map(int, _HEADER.unpack(header))
    if 0 <= magic < _MAGIC:
        return offset <= base < offset + _MOST_MESSAGES
    return magic == _MAGIC and base <= offset <= base + delta
