"""Follows the chain of record batches in a file by their lengths, and says why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.batch_fields import (
    HEADER_SIZE,
    LENGTH_AT,
    LENGTH_END,
    LOG_ENTRY_SIZE,
    MAGIC_AT,
    MIN_LENGTH_0,
    MIN_LENGTH_1,
    MIN_LENGTH_2,
)
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.io.window import WINDOW_SIZE, Windows
from kafkalog_reader.kernel import codes, record_batches
from kafkalog_reader.scan.batch_run import MAX_RUN, BatchRun
from kafkalog_reader.scan.large_batch import LARGE, MAX, LargeBatches
from kafkalog_reader.scan.recycled_memory import allocate
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unscanned_batches import UnscannedBatches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.read_context import ReadContext

_MIN_LENGTHS: Final = {0: MIN_LENGTH_0, 1: MIN_LENGTH_1, 2: MIN_LENGTH_2}
_MAX_LENGTH: Final = 2**31 - 1 - LENGTH_END
"""Kafka's files, and so its batches, end at 2^31 - 1; the length field excludes the first 12."""


class BatchChain:
    """Iterates over the record batches of a ``.log``, or of a part that starts at a batch border.

    A batch with a wrong CRC but a correct length does not end the chain. After the last run the
    attributes below say where and why the chain ended. It is one way in which ``Scan`` reads.

    Args:
        path: the segment file.
        start, stop: positions; ``stop`` None is the end of the file.
        check_crc: if False, ``crc_computed`` is the stored CRC.
        offer_windows: yield each window before it is scanned; see ``pass_over``.
        lowest_offset: the lowest that may come first; bounds where a compressed message begins.
        progress: receives the bytes of every window.
        window_size: bytes held at once, unless one batch is larger.
        first_read: bytes of the first window; each is twice the one before, up to window_size.
        large: judges the lengths above 64 MiB, for several scans together.

    Attributes:
        end: why the scan ended, ``COMPLETE`` until then.
        end_position: the first byte not consumed.
        stop: where the range ends, once reading has begun.
        next_offset: one past the last batch's last offset; None before the first batch.
        problem: why it ended, in words; empty if ``COMPLETE``.
        magic: of the batch at ``end_position`` if ``UNKNOWN_MAGIC`` ended it.
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
        offer_windows: bool = False,
        lowest_offset: int = 0,
        progress: Progress = no_progress,
        window_size: int = WINDOW_SIZE,
        context: ReadContext,
        first_read: int = WINDOW_SIZE,
        large: LargeBatches | None = None,
    ) -> None:
        self.path = path
        self.end = ScanEnd.COMPLETE
        self.end_position = start
        self.stop = start
        self.next_offset: int | None = None
        self.problem = ""
        self.magic: int | None = None
        self.skippable = 0
        self._range = (start, stop)
        self._check_crc = check_crc
        self._offer_windows = offer_windows
        self._lowest_offset = lowest_offset
        self._progress = progress
        self._window_size = window_size
        self._context = context
        self._first_read = first_read
        self._large = LargeBatches() if large is None else large
        self._room: BatchRun | None = None
        self._passed: tuple[int, int] | None = None

    def pass_over(self, stop: int, last_offset: int) -> None:
        """Leave the first batches of the window just offered out of the runs that follow.

        Args:
            stop: where in the window the next batch begins.
            last_offset: of the last batch left out.
        """
        self._passed = (stop, last_offset)

    def runs(self) -> Iterator[BatchRun]:
        """The batches of windows that are not offered."""
        return (found for found in self if isinstance(found, BatchRun))

    def __iter__(self) -> Iterator[BatchRun | UnscannedBatches]:
        start, stop = self._range
        with Windows(
            self.path,
            start,
            stop,
            size=self._window_size,
            context=self._context,
            allocate=allocate,
        ) as windows:
            self.end_position, self.stop = windows.start, windows.stop
            needed, reading = 0, self._first_read
            while self.end_position < windows.stop:
                window = windows.read(self.end_position, needed, at_most=max(needed, reading))
                reading *= 2
                before = self.end_position
                reason = codes.SCAN_FULL
                for found, last_reason in self._in_window(window):
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

    def _in_window(self, window: memoryview) -> Iterator[tuple[BatchRun | UnscannedBatches, int]]:
        origin, at, reason = self.end_position, 0, codes.SCAN_FULL
        while at < len(window) and reason == codes.SCAN_FULL:
            if self._offer_windows:
                yield UnscannedBatches(window, at), reason
                passed, self._passed = self._passed, None
                if passed is not None:
                    at, last_offset = passed
                    self.next_offset = min(last_offset, MAX_OFFSET - 1) + 1
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
        """Columns to fill; those of the previous window if little of them was used."""
        if self._room is None or self._room.count < capacity:
            self._room = BatchRun.with_room(window, origin, capacity)
        self._room.buffer, self._room.window_position = window, origin
        return self._room

    def _conclude(self, reason: int, rest: memoryview, windows: Windows) -> None:
        left = windows.stop - self.end_position
        length = int.from_bytes(rest[LENGTH_AT:LENGTH_END], "big", signed=True)
        if reason == codes.SCAN_SHORT and LENGTH_END + length <= left and left >= HEADER_SIZE:
            self.end = ScanEnd.IMPOSSIBLE_LENGTH
            self.problem = f"batch length {length:,}: the CRC does not match that many bytes"
            if LENGTH_END + length > MAX:
                self.problem = f"batch length {length:,}: at most {MAX:,} bytes are read"
        elif reason == codes.SCAN_SHORT:
            self.end = ScanEnd.TORN
            self.problem = f"torn batch: {left} bytes left"
            if left >= HEADER_SIZE:
                self.problem += f" of {length + LENGTH_END}"
        elif reason == codes.SCAN_BAD_LENGTH:
            if windows.only_zeros(self.end_position):
                self.end = ScanEnd.ZEROS
                self.problem = f"{left} zero bytes to the end"
            else:
                self.end = ScanEnd.IMPOSSIBLE_LENGTH
                limit = f"at least {_MIN_LENGTHS.get(rest[MAGIC_AT], MIN_LENGTH_0)}"
                if length > _MAX_LENGTH:
                    limit = f"at most {_MAX_LENGTH}"
                self.problem = f"batch length {length}, {limit} expected"
        else:
            self.magic = int.from_bytes(rest[MAGIC_AT:LOG_ENTRY_SIZE], signed=True)
            whole = LENGTH_END + length <= left
            self.skippable = LENGTH_END + length if whole else 0
            self.end = ScanEnd.UNKNOWN_MAGIC
            self.problem = f"unknown magic {self.magic}, expected 0 to 2"


def _needed(rest: memoryview, left: int) -> int:
    """How many bytes the batch at the start of ``rest`` takes; more than ``left`` if it is torn."""
    if len(rest) < LOG_ENTRY_SIZE:  # not even its length and magic: the next window may show it
        return min(LOG_ENTRY_SIZE, left) if len(rest) < left else left + 1
    return LENGTH_END + int.from_bytes(rest[LENGTH_AT:LENGTH_END], "big")
