"""The record batches of a segment file, run by run, as columns; and why the chain of them ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.window import WINDOW_SIZE, Windows
from kafkalog_reader.kernel import codes, record_batches
from kafkalog_reader.tables.large_batch import LARGE, LARGEST, LargeBatches
from kafkalog_reader.tables.recycled_memory import allocate
from kafkalog_reader.tables.sparse_index import SparseIndex
from kafkalog_reader.tables.table import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import PartitionDirectory, SegmentFiles

HEADER_SIZE: Final = 61
CODEC_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
LONGEST_RUN: Final = 32_768
"""Batches a run at most: their columns fit into a second-level cache."""

_SMALLEST_LENGTHS: Final = {0: 14, 1: 22, 2: 49}
_TAIL_WINDOW: Final = 256 << 10
_INDEX_ENTRIES_TRIED: Final = 4

_COLUMNS: Final = {
    "position": np.int64,
    "base_offset": np.int64,
    "last_offset": np.int64,
    "crc": np.int64,
    "crc_computed": np.int64,
    "base_timestamp": np.int64,
    "max_timestamp": np.int64,
    "producer_id": np.int64,
    "size_in_bytes": np.int32,
    "leader_epoch": np.int32,
    "last_offset_delta": np.int32,
    "base_sequence": np.int32,
    "records_count": np.int32,
    "attributes": np.int16,
    "producer_epoch": np.int16,
    "magic": np.int8,
}

_BYTES_A_BATCH: Final = sum(np.dtype(kind).itemsize for kind in _COLUMNS.values())


class ScanEnd(Enum):
    """Why a scan ended where it did."""

    COMPLETE = "complete"
    """At its end: every byte belongs to a batch."""
    TORN = "torn"
    """The last batch needs more bytes than there are."""
    ZEROS = "zeros"
    """Nothing but zeros from here on: preallocated, or never written before a crash."""
    IMPOSSIBLE_LENGTH = "impossible length"
    UNKNOWN_MAGIC = "unknown magic"
    WRONG_CRC = "wrong CRC"
    """Ends no scan, but the tail that a broker's recovery would keep."""


@dataclass(slots=True, eq=False)
class BatchRun:
    """Whole record batches found in one window, as columns of ``count`` entries.

    Of messages (magic 0 and 1) the attributes keep only the bits that mean something. Where the
    records of a compressed one begin is not known: ``base_offset`` is the lowest it can be,
    ``records_count`` the most, and ``base_timestamp`` -1.

    Attributes:
        buffer: the window; valid until the next run is asked for. The columns stay.
        window_position: position in the file of ``buffer[0]``.
        position: in the file, of each batch.
        crc_computed: of the bytes that are there; the stored one where nobody asked for the check.
    """

    buffer: memoryview
    window_position: int
    count: int
    position: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    crc: NDArray[np.int64]
    crc_computed: NDArray[np.int64]
    base_timestamp: NDArray[np.int64]
    max_timestamp: NDArray[np.int64]
    producer_id: NDArray[np.int64]
    size_in_bytes: NDArray[np.int32]
    leader_epoch: NDArray[np.int32]
    last_offset_delta: NDArray[np.int32]
    base_sequence: NDArray[np.int32]
    records_count: NDArray[np.int32]
    attributes: NDArray[np.int16]
    producer_epoch: NDArray[np.int16]
    magic: NDArray[np.int8]

    @classmethod
    def with_room(cls, buffer: memoryview, window_position: int, capacity: int) -> BatchRun:
        """A run with columns to be filled."""
        room = allocate(capacity * _BYTES_A_BATCH)
        columns, at = {}, 0
        for name, kind in _COLUMNS.items():
            columns[name] = np.frombuffer(room, kind, capacity, at)
            at += capacity * np.dtype(kind).itemsize
        return cls(buffer, window_position, capacity, **columns)

    @property
    def is_wrapper(self) -> NDArray[np.bool_]:
        """Where a message holds compressed messages."""
        wrapper: NDArray[np.bool_] = (self.magic < 2) & ((self.attributes & CODEC_MASK) != 0)
        return wrapper

    @property
    def timestamp_type(self) -> NDArray[np.int32]:
        """-1 in magic 0, else 0 CreateTime or 1 LogAppendTime."""
        return timestamp_types(self.magic, self.attributes)

    @property
    def crc_valid(self) -> NDArray[np.bool_]:
        """Where the stored CRC is that of the bytes."""
        same: NDArray[np.bool_] = self.crc == self.crc_computed
        return same

    def taken(self, which: NDArray[np.intp] | slice) -> BatchRun:
        """The same window with only these batches."""
        columns = {name: getattr(self, name)[which] for name in _COLUMNS}
        return BatchRun(self.buffer, self.window_position, len(columns["position"]), **columns)


class SegmentScan:
    """Iterates over the record batches of a ``.log``, or of a part that starts at a batch border.

    A batch with a wrong CRC has a sound length and ends nothing. After the last run the attributes
    below say where and why the chain ended; going on behind damage is the caller's business: it
    starts another scan where it believes that batches follow.

    Args:
        path: the segment file.
        start, stop: positions; ``stop`` None is the end of the file.
        check_crc: otherwise ``crc_computed`` is the stored one.
        lowest_offset: that may come first; bounds where a compressed message begins.
        progress: told the bytes of every window.
        window_size: bytes held at once, unless one batch is larger.
        first_read: bytes of the first window; each is twice the one before, up to window_size.
        large: judges the lengths above 64 MiB, for several scans together.

    Attributes:
        end: why the scan ended, ``COMPLETE`` until then.
        end_position: the first byte not consumed.
        next_offset: one after the last batch's last offset; None before the first batch.
        problem: what ended it, in words for people; empty when ``COMPLETE``.
        skippable: size of the batch at ``end_position`` that is whole but of another magic.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """

    def __init__(
        self,
        path: str,
        start: int = 0,
        stop: int | None = None,
        *,
        check_crc: bool = True,
        lowest_offset: int = 0,
        progress: Progress = no_progress,
        window_size: int = WINDOW_SIZE,
        follow_links: bool = False,
        first_read: int = WINDOW_SIZE,
        large: LargeBatches | None = None,
    ) -> None:
        self.path = path
        self.end = ScanEnd.COMPLETE
        self.end_position = start
        self.next_offset: int | None = None
        self.problem = ""
        self.skippable = 0
        self._range = (start, stop)
        self._check_crc = check_crc
        self._lowest_offset = lowest_offset
        self._progress = progress
        self._window_size = window_size
        self._follow_links = follow_links
        self._first_read = first_read
        self._large = LargeBatches() if large is None else large

    def __iter__(self) -> Iterator[BatchRun]:
        start, stop = self._range
        with Windows(
            self.path,
            start,
            stop,
            size=self._window_size,
            follow_links=self._follow_links,
            allocate=allocate,
        ) as windows:
            self.end_position = windows.start
            needed, reading = 0, self._first_read
            while self.end_position < windows.stop:
                window = windows.read(self.end_position, needed, at_most=max(needed, reading))
                reading *= 2
                before = self.end_position
                reason = codes.SCAN_FULL
                for run, run_reason in self._runs(window):
                    reason = run_reason
                    if run.count:
                        yield run
                self._progress(self.end_position - before)
                if reason == codes.SCAN_FULL:
                    continue
                rest = window[self.end_position - before :]
                left = windows.stop - self.end_position
                needed = _needed(rest, left)
                is_over = reason != codes.SCAN_SHORT or needed > left
                if needed > LARGE and not is_over:
                    rest = memoryview(bytes(rest[:HEADER_SIZE]))
                    is_over = not self._large.is_sound(windows, self.end_position, needed)
                if is_over:
                    self._progress(left)
                    self._conclude(reason, rest, windows)
                    return

    def _runs(self, window: memoryview) -> Iterator[tuple[BatchRun, int]]:
        origin, at, reason = self.end_position, 0, codes.SCAN_FULL
        while at < len(window) and reason == codes.SCAN_FULL:
            capacity = min(LONGEST_RUN, (len(window) - at) // HEADER_SIZE // 8 * 8 + 8)
            run = BatchRun.with_room(window, origin, capacity)
            count, at, reason = record_batches.scan_batches(
                window, at, len(window), origin, self._check_crc, run, capacity,
                self._lowest_offset if self.next_offset is None else self.next_offset,
            )  # fmt: skip
            if count < capacity:
                run = run.taken(slice(0, count))
            if count:
                self.next_offset = int(run.last_offset[-1]) + 1
            self.end_position = origin + at
            yield run, reason

    def _conclude(self, reason: int, rest: memoryview, windows: Windows) -> None:
        left = windows.stop - self.end_position
        length = int.from_bytes(rest[8:12], "big", signed=True)
        if reason == codes.SCAN_SHORT and 12 + length <= left and left >= HEADER_SIZE:
            self.end = ScanEnd.IMPOSSIBLE_LENGTH
            self.problem = f"batch length {length:,}: the CRC is not that of so many bytes"
            if 12 + length > LARGEST:
                self.problem = f"batch length {length:,}: at most {LARGEST:,} bytes are read"
        elif reason == codes.SCAN_SHORT:
            self.end = ScanEnd.TORN
            self.problem = f"torn batch: {left} bytes left"
            if left >= HEADER_SIZE:
                self.problem += f" of {length + 12}"
        elif reason == codes.SCAN_BAD_LENGTH:
            if windows.only_zeros(self.end_position):
                self.end = ScanEnd.ZEROS
                self.problem = f"{left} zero bytes to the end"
            else:
                self.end = ScanEnd.IMPOSSIBLE_LENGTH
                smallest = _SMALLEST_LENGTHS.get(rest[16], 14)
                self.problem = f"batch length {length}, at least {smallest} expected"
        else:
            magic = int.from_bytes(rest[16:17], signed=True)
            whole = 12 + length <= left
            self.skippable = 12 + length if whole else 0
            self.end = ScanEnd.UNKNOWN_MAGIC
            self.problem = f"unknown magic {magic}, expected 0 to 2"


def timestamp_types(magic: NDArray[np.int8], attributes: NDArray[np.int16]) -> NDArray[np.int32]:
    """Who set the timestamps of batches: -1 nobody (magic 0), 0 the producer, 1 the leader."""
    types = ((attributes & LOG_APPEND_TIME) >> 3).astype(np.int32)
    without = (magic < 2) & ((attributes & codes.NO_TIMESTAMP_TYPE) != 0)
    return np.where(without, np.int32(-1), types) if without.any() else types


def _needed(rest: memoryview, left: int) -> int:
    """How many bytes the batch at the start of ``rest`` takes; more than ``left`` when torn."""
    if len(rest) < 17:  # not even its length and magic: the next window tells, if there is one
        return min(17, left) if len(rest) < left else left + 1
    return 12 + int.from_bytes(rest[8:12], "big", signed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTail:
    """Where the log of one replica ends, by its batches.

    Attributes:
        next_offset: the log end offset, up to the first batch whose CRC or length is wrong.
        last_leader_epoch: of the last batch; None when there is no batch at all.
        end: why the log ends there.
        end_position: in the last segment, the first byte that belongs to no sound batch.
        segment_base_offset: of the last segment.
        last_position: of the last sound batch in the last segment; None when that has none.
    """

    next_offset: int
    last_leader_epoch: int | None
    end: ScanEnd
    end_position: int
    segment_base_offset: int
    last_position: int | None


def scan_tail(directory: PartitionDirectory) -> LogTail:
    """Find the end of a replica's log from its last segment, without reading what lies before.

    The offset index only says where to begin: an entry counts when a batch with a sound CRC lies
    there; otherwise the segment is scanned from its start.

    Raises:
        UnreadableFileError: a file cannot be opened or read.
    """
    found = [segment for segment in segments(directory) if segment.log_size is not None]
    if not found:
        return LogTail(
            next_offset=0,
            last_leader_epoch=None,
            end=ScanEnd.COMPLETE,
            end_position=0,
            segment_base_offset=0,
            last_position=None,
        )
    tail = _segment_tail(found[-1], follow_links=directory.follow_links)
    leader_epoch = tail.last_leader_epoch
    for segment in reversed(found[:-1]):  # a segment just rolled is empty
        if leader_epoch is not None:
            break
        before = _segment_tail(segment, follow_links=directory.follow_links)
        leader_epoch = before.last_leader_epoch
    return replace(tail, last_leader_epoch=leader_epoch)


def _segment_tail(segment: SegmentFiles, *, follow_links: bool) -> LogTail:
    path = segment.path("log")
    start = _last_confirmed_position(segment, follow_links=follow_links)
    scan = SegmentScan(path, start, window_size=_TAIL_WINDOW, follow_links=follow_links)
    next_offset, leader_epoch, last_position = segment.base_offset, None, None
    end, end_position = None, start
    for run in scan:
        sound = int(np.argmin(np.append(run.crc_valid, False)))
        if sound:
            next_offset = int(run.last_offset[sound - 1]) + 1
            leader_epoch = int(run.leader_epoch[sound - 1])
            last_position = int(run.position[sound - 1])
        if sound < run.count:
            end, end_position = ScanEnd.WRONG_CRC, int(run.position[sound])
            break
    return LogTail(
        next_offset=next_offset,
        last_leader_epoch=leader_epoch,
        end=end or scan.end,
        end_position=end_position if end else scan.end_position,
        segment_base_offset=segment.base_offset,
        last_position=last_position,
    )


def _last_confirmed_position(segment: SegmentFiles, *, follow_links: bool) -> int:
    if not segment.offset_index_size:
        return 0
    with SparseIndex(segment, follow_links=follow_links) as index:
        for number in range(len(index) - 1, max(-1, len(index) - 1 - _INDEX_ENTRIES_TRIED), -1):
            position = index[number][1]
            if batch_starts_at(segment, position, follow_links=follow_links):
                return position
    return 0


def batch_starts_at(
    segment: SegmentFiles, position: int, *, follow_links: bool, up_to_offset: int | None = None
) -> bool:
    """Whether a batch of this segment with a sound CRC lies at ``position``.

    Who looks for an offset gives it as ``up_to_offset``: a batch that starts behind it would hide
    it. Indexes of a replica that was truncated keep entries of what was cut (their bytes stay when
    Kafka's AbstractIndex#truncateToEntries moves its end), and later batches may start there.
    """
    if segment.log_size is None or not 0 <= position < segment.log_size:
        return False
    scan = SegmentScan(
        segment.path("log"), position, window_size=_TAIL_WINDOW, follow_links=follow_links
    )
    run = next(iter(scan), None)
    return (
        run is not None
        and bool(run.crc_valid[0])
        and int(run.base_offset[0]) >= segment.base_offset
        and (up_to_offset is None or int(run.base_offset[0]) <= up_to_offset)
    )
