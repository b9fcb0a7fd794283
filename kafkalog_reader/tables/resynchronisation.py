"""The next sound batch behind damage: the damaged one's own end, the offset index, every byte.

Only a valid CRC counts. What is skipped becomes a value, ``DamagedRegion``, and reading goes on.
Brokers do not: a length that points behind the end of the file ends the log for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.io.window import WINDOW_SIZE, Windows
from kafkalog_reader.kernel import batch_search
from kafkalog_reader.tables.batch_scan import BatchRun, ScanEnd, SegmentScan
from kafkalog_reader.tables.damaged_region import DamagedRegion
from kafkalog_reader.tables.sparse_index import SparseIndex
from kafkalog_reader.tables.table import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import SegmentFiles

MOST_SEARCHES: Final = 10_000
"""In one segment. Hostile bytes can alternate with sound batches a million times."""
LOOKAHEAD: Final = 256 << 20
"""How far behind a sound batch one that begins before it may end: twice the largest known."""
_WINDOW_SIZES: Final = (16 << 10, 256 << 10, 4 << 20)
"""Most damage is small, and most of what is read beyond it is read again."""
_MOST_WAITING: Final = 1 << 16
_OFFSETS_OF_SEGMENT: Final = 1 << 31
"""Indexes store offsets relative to the segment's base as int32."""
_INDEX_ENTRIES_TRIED: Final = 4
_SMALLEST_ENTRY: Final = 26
_PROBE: Final = 16 << 10
_WRAPPER_CODECS: Final = (1, 2, 3)


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """What a search notes, as the kernel's ``BatchSearch`` wants it."""

    registers: NDArray[np.int64]
    message_registers: NDArray[np.int64]
    waiting_position: NDArray[np.int64]
    waiting_end: NDArray[np.int64]
    waiting_register: NDArray[np.int64]

    @classmethod
    def for_windows(cls) -> _Room:
        blocks = _WINDOW_SIZES[-1] // 64 + 1
        return cls(
            registers=np.empty(blocks, np.int64),
            message_registers=np.empty(blocks, np.int64),
            waiting_position=np.empty(_MOST_WAITING, np.int64),
            waiting_end=np.empty(_MOST_WAITING, np.int64),
            waiting_register=np.empty(_MOST_WAITING, np.int64),
        )


class BatchFinder:
    """Finds sound batches in one segment, or a part of it that ends at a batch border.

    Args:
        segment: the segment.
        stop: no batch reaches beyond.
        given_up: how many candidates a cap on work left unjudged, so far.
    """

    def __init__(self, segment: SegmentFiles, stop: int, *, follow_links: bool) -> None:
        self.given_up = 0
        self._segment = segment
        self._stop = stop
        self._follow_links = follow_links
        self._room: _Room | None = None

    @property
    def highest_offset(self) -> int:
        """The greatest offset that a batch of the segment may have."""
        return min(self._segment.base_offset + _OFFSETS_OF_SEGMENT, 2**63) - 1

    def batch_at(self, position: int, *, stop: int | None = None) -> BatchRun | None:
        """The batch at a position and those behind it, if the first is sound."""
        scan = SegmentScan(
            self._segment.path("log"),
            position,
            self._stop if stop is None else stop,
            lowest_offset=self._segment.base_offset,
            window_size=_PROBE,
            follow_links=self._follow_links,
        )
        run = next(iter(scan), None)
        return run if run is not None and run.crc_valid[0] else None

    def chain_reaches(self, position: int, target: int) -> bool:
        """Whether the lengths of the entries from ``position`` on lead exactly to ``target``."""
        scan = SegmentScan(
            self._segment.path("log"),
            position,
            target,
            check_crc=False,
            window_size=_PROBE,
            follow_links=self._follow_links,
        )
        for _ in scan:
            pass
        return scan.end is ScanEnd.COMPLETE

    def indexed_after(self, position: int) -> int | None:
        """Where, by the offset index, the first sound batch behind ``position`` begins."""
        if not self._segment.offset_index_size:
            return None
        with SparseIndex(self._segment, follow_links=self._follow_links) as index:
            number = index.last_up_to_position(position) + 1
            for entry in range(number, min(number + _INDEX_ENTRIES_TRIED, len(index))):
                found = index[entry][1]
                if position < found < self._stop and self.batch_at(found) is not None:
                    return found
        return None

    def search(self, start: int, stop: int, lowest: int, highest: int) -> int | None:
        """Search every byte for the first sound batch that begins and ends in [start, stop)."""
        if stop - start < _SMALLEST_ENTRY:
            return None
        if self._room is None:
            self._room = _Room.for_windows()
        search = batch_search.BatchSearch(self._room, stop, lowest, highest, LOOKAHEAD)
        position = start
        for size in _WINDOW_SIZES:
            with Windows(
                self._segment.path("log"), start, stop, size=size, follow_links=self._follow_links
            ) as windows:
                while position >= 0:
                    position = search.feed(windows.read(position), position)
                    if size != _WINDOW_SIZES[-1]:
                        break
            if position < 0:
                break
        self.given_up += search.given_up
        found: int = search.found
        return None if found < 0 else found


class ResynchronisedScan:
    """Iterates over the batches of a segment and over what is damaged between them.

    A batch with a wrong CRC is a batch as long as its length leads to the next one and hides none;
    otherwise the damaged region begins with it. Without ``check_crc`` lengths are believed as long
    as they lead on.

    Args:
        segment: the segment.
        start, stop: a part of it, from a batch border on; ``stop`` None is the end of the file.
        check_crc: see ``SegmentScan``.
        progress: told the bytes read.
        window_size: bytes held at once, unless one batch is larger.

    Attributes:
        next_offset: one after the last batch's last offset; None before the first batch.
        end_position: the first byte that belongs to no batch: where the first damaged region
            begins, or the end.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """

    def __init__(
        self,
        segment: SegmentFiles,
        start: int = 0,
        stop: int | None = None,
        *,
        check_crc: bool = True,
        progress: Progress = no_progress,
        window_size: int = WINDOW_SIZE,
        follow_links: bool = False,
    ) -> None:
        self.next_offset: int | None = None
        self.end_position = start
        self._segment = segment
        self._start = start
        self._stop = (segment.log_size or 0) if stop is None else stop
        self._check_crc = check_crc
        self._progress = progress
        self._window_size = window_size
        self._follow_links = follow_links
        self._finder = BatchFinder(segment, self._stop, follow_links=follow_links)
        self._searches = 0
        self._settled = start
        """Up to here it is known which wrong CRCs hide nothing."""
        self._is_damaged = False

    def __iter__(self) -> Iterator[BatchRun | DamagedRegion]:
        position = self._start
        while position < self._stop:
            scan = self._scan_from(position)
            region: DamagedRegion | None = None
            for run in scan:
                hidden = self._hiding_batch(run) if self._check_crc else None
                if hidden is None:
                    yield self._seen(run)
                    continue
                number, following = hidden
                if number:
                    yield self._seen(run.taken(slice(0, number)))
                region = self._region_of_batch(run, number, following)
                break
            if region is None:
                if scan.end is ScanEnd.COMPLETE:
                    self._end_at(scan.end_position)
                    return
                region = self._region_of_end(scan)
            self._end_at(region.start)
            self._is_damaged = True
            yield region
            if region.next_offset is None:
                return
            self._settled = max(self._settled, region.stop)
            position = region.stop

    @property
    def given_up(self) -> int:
        """Damaged batches since the last region that were not searched: a cap on work."""
        return self._finder.given_up

    def _scan_from(self, position: int) -> SegmentScan:
        return SegmentScan(
            self._segment.path("log"),
            position,
            self._stop,
            check_crc=self._check_crc,
            lowest_offset=self._lowest_offset(),
            progress=self._progress,
            window_size=self._window_size if not self._is_damaged else _WINDOW_SIZES[1],
            follow_links=self._follow_links,
        )

    def _seen(self, run: BatchRun) -> BatchRun:
        if run.count:
            self.next_offset = min(int(run.last_offset[-1]), 2**63 - 2) + 1
        return run

    def _end_at(self, position: int) -> None:
        if not self._is_damaged:
            self.end_position = position

    def _lowest_offset(self) -> int:
        """What may come next; an offset that cannot be of this segment says nothing about it."""
        if self.next_offset is None or self.next_offset > self._finder.highest_offset:
            return self._segment.base_offset
        return max(self.next_offset, self._segment.base_offset)

    # --- wrong CRCs on the way

    def _hiding_batch(self, run: BatchRun) -> tuple[int, int] | None:
        """The first batch with a wrong CRC whose length lies, and where the next sound one is."""
        valid = run.crc_valid
        if valid.all():
            return None
        leads_on = np.zeros(run.count, np.bool_)
        leads_on[:-1] = valid[1:] & (run.base_offset[1:] == run.last_offset[:-1] + 1)
        suspects = np.flatnonzero(~valid & ~leads_on & (run.position >= self._settled))
        while len(suspects):
            number = int(suspects[0])
            following = self._hidden_behind(run, number)
            if following is not None:
                return number, following
            suspects = suspects[run.position[suspects] >= self._settled]
        return None

    def _hidden_behind(self, run: BatchRun, number: int) -> int | None:
        """Where a sound batch begins that the batch's length skips, if one does."""
        position = int(run.position[number])
        end = position + int(run.size_in_bytes[number])
        self._settled = end
        self._searches += 1
        if self._searches > MOST_SEARCHES:
            self._finder.given_up += 1
            return None
        last_offset = int(run.last_offset[number])
        behind = self._finder.batch_at(end) if end < self._stop else None
        if behind is not None or end == self._stop:
            first = self._finder.highest_offset + 1
            if behind is not None:
                first = int(behind.base_offset[0])
            if first <= last_offset + 1:
                return None
            return self._finder.search(position + 1, end, last_offset + 1, first - 1)
        lowest = self._lowest_offset()
        if number:
            lowest = max(lowest, int(run.last_offset[number - 1]) + 1)
        if run.is_wrapper[number] and last_offset <= self._finder.highest_offset:
            lowest = max(lowest, last_offset + 1)
        found = self._next_sound(position, lowest)
        self._settled = self._stop if found is None else found
        if found is None or self._finder.chain_reaches(position, found):
            return None
        return found

    def _region_of_batch(self, run: BatchRun, number: int, following: int) -> DamagedRegion:
        position = int(run.position[number])
        return self._region(
            position,
            following,
            ScanEnd.WRONG_CRC,
            f"CRC is wrong: stored 0x{int(run.crc[number]):08x}, computed "
            f"0x{int(run.crc_computed[number]):08x}, and so is the batch's length",
        )

    # --- chains that end

    def _region_of_end(self, scan: SegmentScan) -> DamagedRegion:
        position = scan.end_position
        following = None
        self._searches += 1
        if self._searches > MOST_SEARCHES:
            self._finder.given_up += 1
        elif scan.end is not ScanEnd.ZEROS and self._settled < self._stop:
            own_end = position + scan.skippable
            if scan.skippable and self._finder.batch_at(own_end) is not None:
                following = own_end
            else:
                following = self._next_sound(position, self._lowest_behind(position))
        return self._region(position, following, scan.end, scan.problem)

    def _lowest_behind(self, position: int) -> int:
        """The lowest offset behind a damaged entry: above the own offset of one that is compressed.

        Codecs store what does not shrink as it is: messages inside of such a wrapper look sound,
        but their offsets are relative to it.
        """
        header = self._header_at(position)
        if self._begins_batch(header) and header[16] < 2 and header[17] & 7 in _WRAPPER_CODECS:
            return int.from_bytes(header[:8], "big", signed=True) + 1
        return self._lowest_offset()

    def _header_at(self, position: int) -> bytes:
        with Windows(
            self._segment.path("log"), position, self._stop, size=_SMALLEST_ENTRY,
            follow_links=self._follow_links,
        ) as windows:  # fmt: skip
            return bytes(windows.read(position))

    def _begins_batch(self, header: bytes) -> bool:
        """Whether the offset is one that may come next; zeros are none."""
        if len(header) < _SMALLEST_ENTRY or not any(header):
            return False
        offset = int.from_bytes(header[:8], "big", signed=True)
        return self._lowest_offset() <= offset <= self._finder.highest_offset

    def _next_sound(self, position: int, lowest: int) -> int | None:
        """The first sound batch behind ``position``; the index says how far to look at most."""
        indexed = self._finder.indexed_after(position)
        stop = self._stop if indexed is None else indexed
        found = self._finder.search(position + 1, stop, lowest, self._finder.highest_offset)
        return indexed if found is None else found

    def _region(
        self, start: int, following: int | None, end: ScanEnd, problem: str
    ) -> DamagedRegion:
        behind = None if following is None else self._finder.batch_at(following)
        region = DamagedRegion(
            start=start,
            stop=self._stop if behind is None or following is None else following,
            first_offset=self.next_offset,
            next_offset=None if behind is None else int(behind.base_offset[0]),
            end=end,
            problem=problem,
            begins_batch=self._begins_batch(self._header_at(start)),
            given_up=self._finder.given_up,
        )
        self._finder.given_up = 0
        return region
