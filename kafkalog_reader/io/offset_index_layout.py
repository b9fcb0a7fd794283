"""Which entries an offset index has: 8 bytes, or 12 in releases with KIP-1333.

Nothing in the file says so. An entry is added before a batch that is not the first of its segment.
So the first position is above 0; read as 8 bytes, the first entry of 12 bytes, which segments above
2 GiB need, has position 0. Read as 12, the entries rise, and batches begin where they point.
"""

from __future__ import annotations

import logging
import struct
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.index_entries import (
    OFFSET_INDEX_ENTRY,
    WIDE_OFFSET_INDEX_ENTRY,
    FixedEntry,
)
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

logger = logging.getLogger(__name__)

WIDE: Final = "its entries have 12 bytes (KIP-1333)"
"""For a warning. Releases up to 4.4 read them as entries of 8 bytes."""
_HEAD: Final = 20 * OFFSET_INDEX_ENTRY.size * WIDE_OFFSET_INDEX_ENTRY.size
"""Bytes that are looked at: a whole number of entries of either size."""
_CONFIRMED: Final = 2
"""Entries that are looked up in the log."""
_BASE_OFFSET: Final = struct.Struct(">q")
_MIN_UNCONFIRMED: Final = 3
"""Wide entries that rise, where there is no log."""


def offset_index_entry(
    segment: SegmentFiles, *, context: ReadContext, head: bytes | None = None
) -> FixedEntry:
    """The entry that the offset index of a segment consists of; warns if it is the wide one.

    Args:
        segment: has the index.
        context: how files are read.
        head: the beginning of the index, if it is known; otherwise it is read.

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    has_log = segment.log_size is not None
    return entry_of_file(
        segment.path("index"),
        segment.path("log") if has_log else None,
        segment.base_offset,
        context=context,
        head=head,
    )


def entry_of_file(
    index: str,
    log: str | None,
    base_offset: int,
    *,
    context: ReadContext,
    head: bytes | None = None,
) -> FixedEntry:
    """Like ``offset_index_entry``, of files by their paths; ``log`` is None if there is none."""
    if head is None:
        with Windows(index, size=_HEAD, context=context) as windows:
            head = bytes(windows.read(0, at_most=_HEAD))
    head = head[:_HEAD]
    if _rising(OFFSET_INDEX_ENTRY, head):
        return OFFSET_INDEX_ENTRY
    wide = _rising(WIDE_OFFSET_INDEX_ENTRY, head)
    if not wide or not _is_confirmed(wide, log, base_offset, context):
        return OFFSET_INDEX_ENTRY
    context.warn(logger, index, WIDE)
    return WIDE_OFFSET_INDEX_ENTRY


def _rising(entry: FixedEntry, head: bytes) -> list[tuple[int, int]]:
    """The first entries, as far as they rise; a truncation may have left others behind them."""
    found = [(0, 0)]
    whole = head[: len(head) - len(head) % entry.size]
    for relative_offset, position in entry.struct.iter_unpack(whole):
        if relative_offset <= found[-1][0] or position <= found[-1][1]:
            break
        found.append((relative_offset, position))
    return found[1:]


def _is_confirmed(
    entries: list[tuple[int, int]], log: str | None, base_offset: int, context: ReadContext
) -> bool:
    """Whether batches begin where the first entries point."""
    if log is None:
        return len(entries) >= _MIN_UNCONFIRMED
    try:
        with Windows(log, size=_BASE_OFFSET.size, context=context) as windows:
            return all(
                _begins_batch(windows, position, base_offset, relative_offset)
                for relative_offset, position in entries[:_CONFIRMED]
            )
    except LocatedError:  # the reader of the log reports it
        return False


def _begins_batch(windows: Windows, position: int, base_offset: int, relative_offset: int) -> bool:
    if position > windows.size_in_bytes - _BASE_OFFSET.size:
        return False
    (named,) = _BASE_OFFSET.unpack(windows.read(position, at_most=_BASE_OFFSET.size))
    return base_offset <= int(named) <= base_offset + relative_offset
