"""The offset index as a hint where batches may start. Callers confirm each entry in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.offset_index_layout import offset_index_entry
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles


_PAGE: Final = 4096 * 3
"""Bytes that one read brings: a whole number of entries of 8 or 12 bytes."""


class SparseIndex:
    """Entries of one offset index, read on request, a page at a time: a few pages of 10 MiB.

    A preallocated index ends with zeros, which are not entries; the entries before them rise.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """

    def __init__(self, segment: SegmentFiles, *, context: ReadContext) -> None:
        self._base_offset = segment.base_offset
        self._windows = Windows(segment.path("index"), size=_PAGE, context=context)
        head = bytes(self._windows.read(0, at_most=_PAGE))
        self._pages = {0: head}
        self._entry = offset_index_entry(segment, context=context, head=head)
        self._count = self._first_where(
            self._windows.size_in_bytes // self._entry.size,
            lambda n: self[n] == (self._base_offset, 0),
        )

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> tuple[int, int]:
        """The offset and the position that an entry names."""
        page, within = divmod(number * self._entry.size, _PAGE)
        if page not in self._pages:
            self._pages[page] = bytes(self._windows.read(page * _PAGE, at_most=_PAGE))
        relative_offset, position = self._entry.struct.unpack_from(self._pages[page], within)
        # Unsigned, so that damage never points before the file.
        bits = 8 * (self._entry.size - 4)
        return self._base_offset + relative_offset % 2**32, position % 2**bits

    def last_below_offset(self, offset: int) -> int:
        """The number of the last entry whose offset is below ``offset``, or -1."""
        return self._first_where(self._count, lambda n: self[n][0] >= offset) - 1

    def first_from_offset(self, offset: int) -> int:
        """The number of the first entry whose offset is at least ``offset``, or ``len``."""
        return self._first_where(self._count, lambda n: self[n][0] >= offset)

    def last_up_to_position(self, position: int) -> int:
        """The number of the last entry at or before ``position``, or -1."""
        return self._first_where(self._count, lambda n: self[n][1] > position) - 1

    def _first_where(self, count: int, holds: Callable[[int], bool]) -> int:
        """The first number for which a condition holds that stays true from there on."""
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if holds(middle):
                high = middle
            else:
                low = middle + 1
        return low

    def close(self) -> None:
        """Close the file; pages that were read stay valid."""
        self._windows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
