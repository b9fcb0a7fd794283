"""Finds sound batches: at a position, with the offset index, or by a search of every byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    CRC_COVERS_FROM,
    HEADER_SIZE,
    LENGTH_AT,
    LENGTH_END,
    MAGIC,
    MAGIC_AT,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_CRC_COVERS_FROM,
    MIN_SIZE_0,
    MIN_SIZE_1,
)
from kafkalog_reader.io.window import Windows
from kafkalog_reader.kernel import batch_search, checksums
from kafkalog_reader.scan.batch_chain import BatchChain
from kafkalog_reader.scan.large_batch import LARGE, MAX, LargeBatches
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.sparse_index import SparseIndex

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_FIRST_WINDOW: Final = 16 << 10
"""Most damage is small, and most bytes that are read after it are read again."""
_MAX_WINDOW: Final = 512 << 10
_OFFSETS_OF_SEGMENT: Final = 1 << 31
"""Indexes store offsets relative to the segment's base as int32."""
_INDEX_ENTRIES_TRIED: Final = 4
_BUDGET: Final = 4 << 30
"""Budget of bytes per segment for checksums of false lengths; sound batches do not
count, and the search adds eight bytes for each byte that it passes."""
_PROBE: Final = 16 << 10


class BatchFinder:
    """Finds sound batches in one segment, or a part of it that ends at a batch border.

    The first search opens the file; it stays open until ``close``.

    Args:
        segment: the segment.
        stop: no batch may reach beyond it.

    Attributes:
        large: judges large batches, also those of the scans around the finder.
    """

    def __init__(self, segment: SegmentFiles, stop: int, *, context: ReadContext) -> None:
        self.large = LargeBatches()
        self._given_up = 0
        self._segment = segment
        self._stop = stop
        self._context = context
        self._opened: Windows | None = None
        self._budget = _BUDGET

    @property
    def highest_offset(self) -> int:
        """The greatest offset that a batch of the segment may have."""
        return min(self._segment.base_offset + _OFFSETS_OF_SEGMENT, 2**63) - 1

    def close(self) -> None:
        """Close the file if it was opened."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def give_up(self, candidates: int = 1) -> None:
        """Count candidates that the budget leaves unchecked."""
        self._given_up += candidates

    @property
    def given_up(self) -> int:
        """How many candidates the budget left unchecked since the last region."""
        return self._given_up + self.large.refused

    def begin_region(self) -> None:
        """Reset the count of unchecked candidates."""
        self._given_up = self.large.refused = 0

    def header_at(self, position: int) -> bytes:
        """The first bytes at a position; fewer at the end of the segment."""
        return bytes(self._windows().read(position, at_most=HEADER_SIZE))

    def batch_at(self, position: int) -> int | None:
        """The base offset of the sound batch at a position; None if there is none.

        For compressed messages it is the lowest possible one: the first offset is stored
        inside. A budget limits how many bytes of false batches are read; beyond it, they count
        as unchecked.
        """
        windows = self._windows()
        found = windows.read(position, at_most=_PROBE)
        if len(found) < MIN_SIZE_0:
            return None
        size = LENGTH_END + int.from_bytes(found[LENGTH_AT:LENGTH_END], "big", signed=True)
        magic = found[MAGIC_AT]
        smallest = (MIN_SIZE_0, MIN_SIZE_1, HEADER_SIZE)
        if magic > MAGIC or not smallest[magic] <= size <= windows.stop - position:
            return None
        header = bytes(found[:HEADER_SIZE])
        if size > LARGE:
            if not self.large.is_sound(windows, position, size):
                return None
        else:
            if size > max(self._budget, _PROBE):
                self.give_up()
                return None
            if size > len(found):
                found = windows.read(position, size, at_most=size)
            is_batch = magic == MAGIC
            compute = checksums.checksum if is_batch else checksums.checksum_of_messages
            covered_from = CRC_COVERS_FROM if is_batch else MESSAGE_CRC_COVERS_FROM
            stored = int.from_bytes(header[covered_from - 4 : covered_from], "big")
            if compute(found[covered_from:size]) != stored:
                self._budget -= size
                return None
        return self._base_offset(header)

    def base_offset_at(self, position: int) -> int:
        """The base offset of a batch that is known to be sound, as ``batch_at`` gives it."""
        return self._base_offset(self.header_at(position))

    def _base_offset(self, header: bytes) -> int:
        offset = int.from_bytes(header[:8], "big", signed=True)
        base_offset = self._segment.base_offset
        if _is_compressed_message(header) and base_offset <= offset:
            return max(base_offset, offset - 0x7FFF_FFFE)
        return offset

    def chain_reaches(self, position: int, target: int) -> bool:
        """Whether the lengths of the entries from ``position`` on lead exactly to ``target``."""
        chain = BatchChain(
            self._segment.path("log"),
            position,
            target,
            check_crc=False,
            window_size=_PROBE,
            context=self._context,
            large=self.large,
        )
        for _ in chain:
            pass
        return chain.end is ScanEnd.COMPLETE

    def indexed_after(self, position: int) -> int | None:
        """Where the first sound batch after ``position`` begins, according to the offset index."""
        if not self._segment.offset_index_size:
            return None
        with SparseIndex(self._segment, context=self._context) as index:
            number = index.last_up_to_position(position) + 1
            for entry in range(number, min(number + _INDEX_ENTRIES_TRIED, len(index))):
                found = index[entry][1]
                if position < found < self._stop and self.batch_at(found) is not None:
                    return found
        return None

    def search(self, start: int, stop: int, lowest: int, highest: int) -> int | None:
        """Search every byte for the first sound batch that begins and ends in [start, stop)."""
        windows = self._windows()
        stop = min(stop, windows.stop)
        if stop - start < MIN_SIZE_0 or lowest > highest:
            return None
        search = batch_search.BatchSearch(stop, lowest, highest, MAX, self._budget)
        position, reading = start, _FIRST_WINDOW
        while position >= 0:
            if search.wanted > LARGE:
                if self.large.is_sound(windows, position, search.wanted):
                    break
                position += 1
            wanted = 0 if search.wanted > LARGE else search.wanted
            reach = min(max(wanted, reading), stop - position)
            window = windows.read(position, wanted, at_most=reach)
            position = search.feed(window, position)
            reading = min(2 * reading, _MAX_WINDOW)
            if position >= 0 and not search.wanted:  # holes hold nothing: a header may end in data
                position = max(position, min(windows.next_data(position), stop) - HEADER_SIZE)
        self._budget = search.budget
        self._given_up += search.given_up
        if position >= 0:
            return position
        return None if search.found < 0 else int(search.found)

    def _windows(self) -> Windows:
        if self._opened is None:
            self._opened = Windows(
                self._segment.path("log"),
                0,
                self._stop,
                size=_MAX_WINDOW,
                context=self._context,
            )
        return self._opened


def _is_compressed_message(header: bytes) -> bool:
    return header[MAGIC_AT] < MAGIC and header[MESSAGE_ATTRIBUTES_AT] & CODEC_MASK != 0
