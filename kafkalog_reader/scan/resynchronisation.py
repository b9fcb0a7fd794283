"""Finds the next sound batch after damage: by the damaged one's end, the offset index, or a search.

Only a valid CRC counts. Skipped bytes become an ``UnreadableRegion``, and reading continues.
Brokers do not continue: a length that points past the end of the file ends the log for them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.batch_fields import (
    BASE_TIMESTAMP_AT,
    CODEC_MASK,
    CONTROL_BIT,
    MAGIC,
    MAGIC_AT,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_TIMESTAMP_AT,
    MESSAGE_TIMESTAMP_SIZE,
    MIN_SIZE_0,
    UP_TO_LAST_OFFSET_DELTA,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.batch_finder import BatchFinder
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_chain import BatchChain
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.large_batch import LargeBatches

MAX_SEARCHES: Final = 10_000
"""In one segment. The search is linear, but what follows from a damaged region is not free: in
``findings`` each takes a millisecond and 8 KB, and hostile bytes can make a million."""
_WRAPPER_CODECS: Final = (1, 2, 3)
_NULL: Final = b"\xff\xff\xff\xff"


class Resynchronisation:
    """Finds unreadable bytes between the batches of one segment, and the next sound batch.

    Args:
        segment: the segment.
        start, stop: a part of it, from a batch border on.

    Attributes:
        next_offset: one after the last batch's last offset, set by the scan; None before the
            first.
    """

    def __init__(
        self, segment: SegmentFiles, start: int, stop: int, *, context: ReadContext
    ) -> None:
        self.next_offset: int | None = None
        self._segment = segment
        self._stop = stop
        self._finder = BatchFinder(segment, stop, context=context)
        self._searches = 0
        self._settled = start
        """Up to here, wrong CRCs have been checked for batches that they hide."""

    @property
    def given_up(self) -> int:
        """Damaged batches since the last region that were not searched, to limit the work."""
        return self._finder.given_up

    @property
    def large(self) -> LargeBatches:
        """Judges large batches, also those of the chains around."""
        return self._finder.large

    def go_on_at(self, position: int) -> None:
        """Begin a chain at this position; everything before it is finished."""
        self._settled = max(self._settled, position)

    def close(self) -> None:
        """Close the file."""
        self._finder.close()

    def lowest_offset(self) -> int:
        """The lowest offset that may come next; offsets impossible in this segment are ignored."""
        if self.next_offset is None or self.next_offset > self._finder.highest_offset:
            return self._segment.base_offset
        return max(self.next_offset, self._segment.base_offset)

    # --- wrong CRCs on the way

    def hiding_batch(self, run: BatchRun) -> tuple[int, int] | None:
        """The first batch with a wrong CRC and a wrong length, and where the next sound one is."""
        if run.all_valid or run.position[-1] < self._settled:
            return None
        valid = run.crc_valid
        suspects = np.flatnonzero(~valid & ~_leads_on(run, valid))
        while True:
            suspects = suspects[np.searchsorted(run.position[suspects], self._settled) :]
            if not len(suspects):
                return None
            if self._searches >= MAX_SEARCHES:
                self._finder.give_up(len(suspects))
                return None
            number = int(suspects[0])
            following = self._hidden_after(run, number)
            if following is not None:
                return number, following

    def _hidden_after(self, run: BatchRun, number: int) -> int | None:
        """Where a sound batch begins that the batch's length skips; None if there is none."""
        position = int(run.position[number])
        end = position + int(run.size_in_bytes[number])
        self._settled = end
        self._searches += 1
        last_offset = int(run.last_offset[number])
        following = self._finder.batch_at(end) if end < self._stop else None
        if following is not None or end == self._stop:
            first = self._finder.highest_offset + 1
            if following is not None:
                first = following
            if first <= last_offset + 1:
                return None
            found = self._finder.search(position + 1, end, last_offset + 1, first - 1)
            self._settled = end if found is None else found
            return found
        lowest = self.lowest_offset()
        if number:
            lowest = max(lowest, int(run.last_offset[number - 1]) + 1)
        if run.is_wrapper[number] and last_offset <= self._finder.highest_offset:
            lowest = max(lowest, last_offset + 1)
        found = self._next_sound(position, lowest)
        self._settled = self._stop if found is None else found
        if found is None or self._finder.chain_reaches(position, found):
            return None
        return found

    def region_of_batch(self, run: BatchRun, number: int, following: int) -> UnreadableRegion:
        position = int(run.position[number])
        return self._region(
            position,
            following,
            ScanEnd.WRONG_CRC,
            f"CRC is wrong: stored 0x{int(run.crc[number]):08x}, computed "
            f"0x{int(run.crc_computed[number]):08x}, and no sound batch begins at its end",
        )

    # --- chains that end

    def region_of_end(self, chain: BatchChain) -> UnreadableRegion:
        position = chain.end_position
        following = None
        self._searches += 1
        if self._searches > MAX_SEARCHES:
            self._finder.give_up()
        elif chain.end is not ScanEnd.ZEROS and self._settled < self._stop:
            own_end = position + chain.skippable
            if chain.skippable and self._finder.batch_at(own_end) is not None:
                following = own_end
            else:
                following = self._next_sound(position, self._lowest_after(position))
        region = self._region(position, following, chain.end, chain.problem)
        return replace(region, magic=chain.magic)

    def _lowest_after(self, position: int) -> int:
        """The lowest offset after a damaged entry: above its own offset if it is compressed.

        Codecs store incompressible data unchanged: messages inside such a wrapper look sound,
        but their offsets are relative to it.
        """
        header = self._finder.header_at(position)
        if self._begins_batch(header) and _is_wrapper(header):
            return int.from_bytes(header[:8], "big", signed=True) + 1
        return self.lowest_offset()

    def _begins_batch(self, header: bytes) -> bool:
        """Whether this offset may come next; zeros may not."""
        if len(header) < MIN_SIZE_0 or not any(header):
            return False
        offset = int.from_bytes(header[:8], "big", signed=True)
        return self.lowest_offset() <= offset <= self._finder.highest_offset

    def _next_sound(self, position: int, lowest: int) -> int | None:
        """The first sound batch after ``position``; the index limits the search."""
        indexed = self._finder.indexed_after(position)
        stop = self._stop if indexed is None else indexed
        found = self._finder.search(position + 1, stop, lowest, self._finder.highest_offset)
        return indexed if found is None else found

    def _region(
        self, start: int, following: int | None, end: ScanEnd, problem: str
    ) -> UnreadableRegion:
        header = self._finder.header_at(start)
        begins_batch = self._begins_batch(header)
        region = UnreadableRegion(
            file=shown(self._segment.path("log")),
            start=start,
            stop=self._stop if following is None else following,
            first_offset=self.next_offset,
            next_offset=None if following is None else self._finder.base_offset_at(following),
            end=end,
            problem=problem,
            goes_on=following is not None,
            begins_batch=begins_batch,
            begun_records=_begun_records(header) if begins_batch else 0,
            given_up=self._finder.given_up,
        )
        self._finder.begin_region()
        return region


def _begun_records(header: bytes) -> int:
    """The maximum number of client records of a batch whose header may be cut short, too."""
    if len(header) < BASE_TIMESTAMP_AT or header[MAGIC_AT] != MAGIC:
        return 0
    attributes, last_offset_delta = UP_TO_LAST_OFFSET_DELTA.unpack_from(header)[-2:]
    return 0 if attributes & CONTROL_BIT else max(0, last_offset_delta + 1)


def _is_wrapper(header: bytes) -> bool:
    """Whether it begins a message with a codec and, as all wrappers, without a key."""
    magic = header[MAGIC_AT]
    if magic >= MAGIC or header[MESSAGE_ATTRIBUTES_AT] & CODEC_MASK not in _WRAPPER_CODECS:
        return False
    key = MESSAGE_TIMESTAMP_AT + MESSAGE_TIMESTAMP_SIZE * magic
    return header[key : key + 4] == _NULL


def _leads_on(run: BatchRun, valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where offsets go on without a gap to the next batch with a right CRC: nothing is hidden."""
    numbers = np.arange(run.count)
    ends = np.ones(run.count, np.bool_)
    ends[:-1] = run.base_offset[1:] != run.last_offset[:-1] + 1
    next_valid = np.full(run.count, run.count)
    next_valid[:-1] = _next_where(valid, numbers)[1:]
    leads: NDArray[np.bool_] = next_valid < run.count
    return leads & (_next_where(ends, numbers) >= next_valid)


def _next_where(holds: NDArray[np.bool_], numbers: NDArray[np.intp]) -> NDArray[np.intp]:
    """The first number from each on where a condition holds, or their count."""
    found = np.where(holds, numbers, len(numbers))
    following: NDArray[np.intp] = np.minimum.accumulate(found[::-1])[::-1]
    return following
