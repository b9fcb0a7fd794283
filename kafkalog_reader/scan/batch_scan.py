"""The record batches of a segment file, run by run, as columns; and why the chain of them ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.io.window import WINDOW_SIZE, Windows
from kafkalog_reader.kernel import codes, record_batches
from kafkalog_reader.scan.large_batch import LARGE, MAX, LargeBatches
from kafkalog_reader.scan.recycled_memory import allocate
from kafkalog_reader.scan.run_summary import RunSummary
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unscanned_batches import UnscannedBatches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


HEADER_SIZE: Final = 61
CODEC_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
MAX_OFFSET: Final = 2**63 - 1
MAX_RUN: Final = 32_768
"""Batches a run at most: their columns fit into a second-level cache."""

_WORTH_KEEPING: Final = 8
"""Columns of which a smaller part was filled are copied: that takes less than to make new ones."""
_MIN_LENGTHS: Final = {0: 14, 1: 22, 2: 49}
_MAX_LENGTH: Final = 2**31 - 1 - 12
"""Kafka's files, and so its batches, end at 2^31 - 1; the length does not count the first 12."""

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

_ALL_VALID: Final = np.ones(MAX_RUN, np.bool_)
_ALL_VALID.flags.writeable = False
_NEAR_THE_LAST_OFFSET: Final = MAX_OFFSET - 2**32
"""Above it ``last_offset`` of a batch may be the base offset, because the sum overflows."""
_APART: Final = 256
"""Bytes between columns: with a power of two of rows all would want the same lines of the cache."""
_BYTES_A_BATCH: Final = sum(np.dtype(kind).itemsize for kind in _COLUMNS.values())


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
        crc_computed: of the bytes that are there; the stored one where the check was not requested.
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
    _all_valid: bool | None = field(default=None, init=False, repr=False)
    _crc_valid: NDArray[np.bool_] | None = field(default=None, init=False, repr=False)
    _summary: RunSummary | None = field(default=None, init=False, repr=False)
    _leader_epoch_starts: list[int] | None = field(default=None, init=False, repr=False)

    @classmethod
    def with_room(cls, buffer: memoryview, window_position: int, capacity: int) -> BatchRun:
        """A run with columns to be filled."""
        room = allocate(capacity * _BYTES_A_BATCH + len(_COLUMNS) * _APART)
        columns, at = {}, 0
        for name, kind in _COLUMNS.items():
            columns[name] = np.frombuffer(room, kind, capacity, at)
            at += capacity * np.dtype(kind).itemsize + _APART
        return cls(buffer, window_position, capacity, **columns)

    @property
    def is_wrapper(self) -> NDArray[np.bool_]:
        """Where a message holds compressed messages."""
        wrapper: NDArray[np.bool_] = (self.magic < 2) & ((self.attributes & CODEC_MASK) != 0)
        return wrapper

    @property
    def timestamp_type(self) -> NDArray[np.int32]:
        """-1 in magic 0, else 0 CreateTime or 1 LogAppendTime."""
        types = ((self.attributes & LOG_APPEND_TIME) >> 3).astype(np.int32)
        without = (self.magic < 2) & ((self.attributes & codes.NO_TIMESTAMP_TYPE) != 0)
        return np.where(without, np.int32(-1), types) if without.any() else types

    @property
    def summary(self) -> RunSummary:
        """What all of its batches have in common; there must be one."""
        if self._summary is None:
            found = record_batches.summarize_batches(self, self.count)
            self._summary = RunSummary._make(found)
        return self._summary

    @property
    def crc_valid(self) -> NDArray[np.bool_]:
        """Where the stored CRC is that of the bytes; not to be written to."""
        if self._crc_valid is None:
            if self.count <= len(_ALL_VALID) and self.all_valid:
                self._crc_valid = _ALL_VALID[: self.count]
            else:
                self._crc_valid = self.crc == self.crc_computed
        return self._crc_valid

    @property
    def all_valid(self) -> bool:
        """Whether the stored CRC is that of the bytes everywhere."""
        if self._all_valid is None:
            self._all_valid = self.count == 0 or self.summary.valid == self.count
        return self._all_valid

    @property
    def is_row(self) -> bool:
        """Whether nothing is missing, so that the first and the last batch tell of all offsets.

        Every batch is of magic 2 with a right CRC, begins at the offset where the one before it
        ends, and has as many records as offsets.
        """
        if self.count == 0:
            return False
        all_of_them = self.summary
        return bool(
            all_of_them.valid == self.count
            and all_of_them.leads_on
            and all_of_them.is_full
            and all_of_them.least_magic == all_of_them.greatest_magic == MAGIC
            and all_of_them.least_base_offset >= 0
            and self.last_offset[-1] < _NEAR_THE_LAST_OFFSET
        )

    @property
    def leader_epoch_starts(self) -> list[int]:
        """The first batch, and each whose leader epoch is not that of the batch before it."""
        if self.summary.is_one_epoch:
            return [0]
        if self._leader_epoch_starts is None:
            changes = np.flatnonzero(self.leader_epoch[1:] != self.leader_epoch[:-1]) + 1
            self._leader_epoch_starts = [0, *changes.tolist()]
        return self._leader_epoch_starts

    def held_records(self, part: slice) -> NDArray[np.int64]:
        """Records of some batches: as they say, and no more than they have offsets.

        The count of a damaged batch may be any number.
        """
        offsets = self.last_offset_delta[part].astype(np.int64) + 1
        held: NDArray[np.int64] = np.minimum(np.maximum(self.records_count[part], 0), offsets)
        return np.maximum(held, 0)

    def move(self, number: int, base_offset: int) -> None:
        """Take a batch for one of another base offset; its bytes stay as they are."""
        self.base_offset[number] = base_offset
        self.last_offset[number] = base_offset + int(self.last_offset_delta[number])
        self._summary = None

    def taken(self, which: NDArray[np.intp] | slice) -> BatchRun:
        """The same window with only these batches."""
        columns = {name: getattr(self, name)[which] for name in _COLUMNS}
        return BatchRun(self.buffer, self.window_position, len(columns["position"]), **columns)

    def first(self, count: int, valid: int) -> tuple[BatchRun, BatchRun | None]:
        """The first batches, and these columns to be filled again where hardly any were.

        Args:
            count: how many were filled.
            valid: of how many the stored CRC is that of the bytes.
        """
        rest: BatchRun | None = None
        if count >= self.count // _WORTH_KEEPING:
            run = self.taken(slice(0, count))
        else:
            columns = {name: getattr(self, name)[:count].copy() for name in _COLUMNS}
            run, rest = BatchRun(self.buffer, self.window_position, count, **columns), self
        run._all_valid = valid == count
        return run, rest


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
        progress: receives the bytes of every window.
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
        self._room: BatchRun | None = None

    def __iter__(self) -> Iterator[BatchRun]:
        return (found for found in self._found(offer=False) if isinstance(found, BatchRun))

    def offering(self) -> Iterator[BatchRun | UnscannedBatches]:
        """Iterate over the same, and offer each window's batches before they are scanned.

        Those that are taken come in no run.
        """
        return self._found(offer=True)

    def _found(self, *, offer: bool) -> Iterator[BatchRun | UnscannedBatches]:
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
                for found, last_reason in self._in_window(window, offer=offer):
                    reason = last_reason
                    if isinstance(found, UnscannedBatches) or found.count:
                        yield found
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

    def _in_window(
        self, window: memoryview, *, offer: bool
    ) -> Iterator[tuple[BatchRun | UnscannedBatches, int]]:
        origin, at, reason = self.end_position, 0, codes.SCAN_FULL
        while at < len(window) and reason == codes.SCAN_FULL:
            if offer:
                offered = UnscannedBatches(window, at)
                yield offered, reason
                if offered.last_offset is not None:
                    at = offered.start
                    self.next_offset = min(offered.last_offset, MAX_OFFSET - 1) + 1
                    self.end_position = origin + at
                    if at == len(window):
                        return
            capacity = min(MAX_RUN, (len(window) - at) // HEADER_SIZE // 8 * 8 + 8)
            room = self._room_for(capacity, window, origin)
            count, valid, at, reason = record_batches.scan_batches(
                window, at, len(window), origin, self._check_crc, room, capacity,
                self._lowest_offset if self.next_offset is None else self.next_offset,
            )  # fmt: skip
            run, self._room = room.first(count, valid)
            if count:
                self.next_offset = min(int(run.last_offset[-1]), MAX_OFFSET - 1) + 1
            self.end_position = origin + at
            yield run, reason

    def _room_for(self, capacity: int, window: memoryview, origin: int) -> BatchRun:
        """Columns to be filled; those of the window before where they were hardly used."""
        if self._room is None or self._room.count < capacity:
            self._room = BatchRun.with_room(window, origin, capacity)
        self._room.buffer, self._room.window_position = window, origin
        return self._room

    def _conclude(self, reason: int, rest: memoryview, windows: Windows) -> None:
        left = windows.stop - self.end_position
        length = int.from_bytes(rest[8:12], "big", signed=True)
        if reason == codes.SCAN_SHORT and 12 + length <= left and left >= HEADER_SIZE:
            self.end = ScanEnd.IMPOSSIBLE_LENGTH
            self.problem = f"batch length {length:,}: the CRC does not match that many bytes"
            if 12 + length > MAX:
                self.problem = f"batch length {length:,}: at most {MAX:,} bytes are read"
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
                limit = f"at least {_MIN_LENGTHS.get(rest[16], 14)}"
                if length > _MAX_LENGTH:
                    limit = f"at most {_MAX_LENGTH}"
                self.problem = f"batch length {length}, {limit} expected"
        else:
            magic = int.from_bytes(rest[16:17], signed=True)
            whole = 12 + length <= left
            self.skippable = 12 + length if whole else 0
            self.end = ScanEnd.UNKNOWN_MAGIC
            self.problem = f"unknown magic {magic}, expected 0 to 2"


def _needed(rest: memoryview, left: int) -> int:
    """How many bytes the batch at the start of ``rest`` takes; more than ``left`` when torn."""
    if len(rest) < 17:  # not even its length and magic: the next window shows, if there is one
        return min(17, left) if len(rest) < left else left + 1
    return 12 + int.from_bytes(rest[8:12], "big", signed=True)
