"""Walks the batches of a segment as a starting broker does: by its rules, not by ours.

It reads every magic from 2 up as 2, because the magic is outside the CRC and nothing else checks
it; it ignores fewer than 18 bytes at the end; and it stops without an error where a batch does not
fit into the file. Source: Kafka 4.3, FileLogInputStream.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from kafkalog_reader.audits.recovery.markers import lacking_markers, lacks_marker
from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    CRC_AT,
    CRC_COVERS_FROM,
    HEADER,
    LENGTH_END,
    LOG_ENTRY_SIZE,
    MAGIC,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_CRC_AT,
    MESSAGE_CRC_COVERS_FROM,
    MESSAGE_TIMESTAMP_AT,
    MESSAGE_TIMESTAMP_SIZE,
    MIN_LENGTH_0,
    MIN_LENGTH_1,
    MIN_LENGTH_2,
    OFFSET_AND_LENGTH,
    UP_TO_MAGIC,
)
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.io.window import WINDOW_SIZE, Windows
from kafkalog_reader.scan.large_batch import LARGE, is_crc_valid
from kafkalog_reader.scan.scan import Scan, ScanPolicy

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.scan.batch_run import BatchRun

_TIMESTAMP_END: Final = MESSAGE_TIMESTAMP_AT + MESSAGE_TIMESTAMP_SIZE
_MIN_OF: Final = {0: MIN_LENGTH_0, 1: MIN_LENGTH_1, 2: MIN_LENGTH_2}
"""Minimum lengths at which the kernel itself reads a batch or message."""
_NEVER: Final = 2**31
_FOREIGN_WINDOW: Final = 1 << 20
_FOREIGN_AT_ONCE: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How brokers of a release read a log file.

    Attributes:
        start_size: bytes that are read first; if no more are left, they are not a batch.
        raises: whether an impossible length is an error; if not, it is the end.
        decompresses: whether old wrappers are decompressed to find where they begin.
        finds_by_last_offset: whether a search for an offset returns the first batch that ends there
            or above; since 4.1 it returns the first that begins there or above, or the one before
            it if the offset is inside.
    """

    start_size: int = LOG_ENTRY_SIZE
    raises: bool = True
    decompresses: bool = True
    finds_by_last_offset: bool = False


CURRENT_READING: Final = Reading()


def following(offset: int) -> int:
    """One more, as Java counts: the greatest offset is followed by the lowest."""
    return offset + 1 if offset < 2**63 - 1 else -(2**63)


class WalkEnd(Enum):
    """Why a walk over batches ended."""

    END = "end of the file"
    CUT_SHORT = "batch cut short"
    """No error: a partial batch, or fewer bytes than the start of a header."""
    TOO_SMALL = "impossible length"
    """An error: a length that no message can have; usually zeros."""


class _Row(NamedTuple):
    position: int
    size_in_bytes: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    max_timestamp: int
    records: int
    is_old: bool
    is_sound: bool = True
    lacks_marker: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StoredBatches:
    """Consecutive batches as columns.

    Attributes:
        base_offset: for a message, its offset: only decompression shows where a wrapper begins.
        last_offset: base offset plus delta, unchecked; for a message, its offset.
        leader_epoch: -1 for messages.
        is_sound: whether ``RecordBatch#ensureValid`` accepts it: large enough, with a valid CRC.
        records: by the header; 1 for a message, whatever it wraps.
        is_old: whether it is a message.
        lacks_marker: whether it is a control batch of a producer without a transaction marker;
            always False if that is not checked.
    """

    position: NDArray[np.int64]
    size_in_bytes: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int64]
    max_timestamp: NDArray[np.int64]
    records: NDArray[np.int64]
    is_old: NDArray[np.bool_]
    is_sound: NDArray[np.bool_]
    lacks_marker: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.position)

    def first(self, count: int) -> StoredBatches:
        """The first ``count`` batches."""
        if count == len(self):
            return self
        return StoredBatches(**{name: getattr(self, name)[:count] for name in self.__slots__})


class BatchWalk:
    """Iterates over the batches of a ``.log`` from a position on, as a broker does.

    Args:
        path: the segment file.
        start, stop: positions; bytes from ``stop`` on were cut, or belong to another segment.
        check_crc: check CRCs. Otherwise every batch counts as sound except old wrappers, which a
            broker decompresses as it walks.
        progress: receives the number of bytes read.
        context: how files are read.
        reading: how the broker's release reads.
        check_markers: look for transaction markers in control batches.

    Attributes:
        end, end_position: why and where it ended; valid after the last batch.
        problem: the same in words; empty at the end of the file.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """

    def __init__(
        self,
        path: str,
        start: int,
        stop: int,
        *,
        check_crc: bool,
        progress: Progress = no_progress,
        context: ReadContext,
        reading: Reading = CURRENT_READING,
        check_markers: bool = False,
    ) -> None:
        self.end = WalkEnd.END
        self.end_position = start
        self.problem = ""
        self._path = path
        self._stop = stop
        self._check_crc = check_crc
        self._progress = progress
        self._context = context
        self._reading = reading
        self._check_markers = check_markers
        self._patience = 0

    def __iter__(self) -> Iterator[StoredBatches]:
        window_size = WINDOW_SIZE
        while True:
            started = self.end_position
            scan = Scan(
                self._path,
                ScanPolicy(tolerant=False, check_crc=self._check_crc, window_size=window_size),
                self.end_position,
                self._stop,
                progress=self._progress,
                context=self._context,
            )
            for run in scan.runs():
                yield _stored(run, check_crc=self._check_crc, check_markers=self._check_markers)
            self.end_position = scan.end_position
            # Where magics alternate, a window must not be read for every batch.
            window_size = min(max(4 * (self.end_position - started), 64 << 10), WINDOW_SIZE)
            if not (yield from self._foreign()):
                return

    def _foreign(self) -> Generator[StoredBatches, None, bool]:
        """Yield batches that the kernel does not read, one by one; return whether there were any.

        The first is where it stopped, such as a batch above 64 MiB with a wrong CRC. After them, a
        batch follows that the kernel reads, or the walk is over.
        """
        rows: list[_Row] = []
        found, in_a_row = False, 0
        with Windows(
            self._path,
            self.end_position,
            self._stop,
            size=_FOREIGN_WINDOW,
            context=self._context,
        ) as windows:
            peek = _Peek(windows)
            while self._has_batch(peek):
                start = peek.at(self.end_position, UP_TO_MAGIC.size + 1)
                _, length, _, magic = UP_TO_MAGIC.unpack_from(start)
                in_a_row = in_a_row + 1 if length >= _MIN_OF.get(magic, _NEVER) else 0
                if found and in_a_row > self._patience:
                    break
                size = LENGTH_END + length
                is_wrapper = magic < MAGIC and bool(start[MESSAGE_ATTRIBUTES_AT] & CODEC_MASK)
                header = peek.at(self.end_position, HEADER.size)[:size]
                row = _row(header, self.end_position, magic)
                if self._check_markers and magic >= MAGIC and size <= LARGE:
                    batch = peek.at(self.end_position, size)[:size]
                    row = row._replace(lacks_marker=lacks_marker(batch))
                if self._check_crc or is_wrapper:
                    row = row._replace(is_sound=peek.is_sound(self.end_position, size, magic))
                rows.append(row)
                self.end_position += size
                self._progress(size)
                found = True
                if len(rows) == _FOREIGN_AT_ONCE:
                    yield _of_rows(rows)
                    rows = []
        if rows:
            yield _of_rows(rows)
        # Where magics alternate, going back to the kernel costs more than a few batches here.
        self._patience = min(2 * self._patience + 1, _FOREIGN_AT_ONCE)
        return found and self.end is WalkEnd.END and self.end_position < self._stop

    def _has_batch(self, peek: _Peek) -> bool:
        """Whether a complete batch begins here; if not, end the walk and note why."""
        left = self._stop - self.end_position
        if left <= 0:
            return False
        if left <= self._reading.start_size:
            self._over(WalkEnd.CUT_SHORT, f"{left} bytes are left, too few for a batch")
            return False
        start = peek.at(self.end_position, OFFSET_AND_LENGTH.size)
        _, length = OFFSET_AND_LENGTH.unpack_from(start)
        if length < MIN_LENGTH_0:
            end = WalkEnd.TOO_SMALL if self._reading.raises else WalkEnd.CUT_SHORT
            self._over(end, f"batch length {length}, at least 14 expected")
        elif LENGTH_END + length > left:
            self._over(WalkEnd.CUT_SHORT, f"batch cut short: {left} of {LENGTH_END + length} bytes")
        else:
            return True
        return False

    def _over(self, end: WalkEnd, problem: str) -> None:
        self.end, self.problem = end, problem


class _Peek:
    """Reads bytes anywhere in a file, from one window while they are in it."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._window, self._origin = memoryview(b""), 0

    def at(self, position: int, size: int) -> memoryview:
        """The bytes from a position on: ``size`` at least, unless the range ends before."""
        start = position - self._origin
        if start < 0 or start + size > len(self._window):
            self._window, self._origin = self._windows.read(position, size), position
            start = 0
        return self._window[start:]

    def is_sound(self, position: int, size: int, magic: int) -> bool:
        """Whether ``RecordBatch#ensureValid`` accepts the batch; the file holds all of it."""
        if magic >= MAGIC and size < HEADER.size:
            return False
        if size > LARGE:
            self._window = memoryview(b"")
            return is_crc_valid(self._windows, position, size)
        batch = self.at(position, size)[:size]
        if magic < MAGIC:
            return _uint32(batch, MESSAGE_CRC_AT) == zlib.crc32(batch[MESSAGE_CRC_COVERS_FROM:])
        return _uint32(batch, CRC_AT) == compute_crc32c(bytes(batch[CRC_COVERS_FROM:]))


def _stored(run: BatchRun, *, check_crc: bool, check_markers: bool) -> StoredBatches:
    is_magic_2 = run.magic >= MAGIC
    is_sound = run.crc_valid
    if not check_crc:
        is_sound = is_sound.copy()
        for wrapper in np.flatnonzero(run.is_wrapper).tolist():
            start = int(run.position[wrapper]) - run.window_position
            message = run.buffer[
                start + MESSAGE_CRC_COVERS_FROM : start + int(run.size_in_bytes[wrapper])
            ]
            is_sound[wrapper] = zlib.crc32(message) == run.crc[wrapper]
    return StoredBatches(
        position=run.position,
        size_in_bytes=run.size_in_bytes.astype(np.int64),
        base_offset=np.where(is_magic_2, run.base_offset, run.last_offset),
        # Java adds them without a check, and sums overflow.
        last_offset=np.where(is_magic_2, run.base_offset + run.last_offset_delta, run.last_offset),
        leader_epoch=run.leader_epoch.astype(np.int64),
        max_timestamp=run.max_timestamp,
        records=np.where(is_magic_2, np.maximum(run.records_count, 0), 1).astype(np.int64),
        is_old=~is_magic_2,
        is_sound=is_sound,
        lacks_marker=(
            lacking_markers(run) if check_markers else np.zeros(run.count, dtype=np.bool_)
        ),
    )


def _uint32(content: memoryview, at: int) -> int:
    return int.from_bytes(content[at : at + 4], "big")


def _row(header: memoryview, position: int, magic: int) -> _Row:
    base_offset, length = OFFSET_AND_LENGTH.unpack_from(header)
    if magic < MAGIC:
        timestamp = -1
        if magic == 1 and len(header) >= _TIMESTAMP_END:
            timestamp = int.from_bytes(
                header[MESSAGE_TIMESTAMP_AT:_TIMESTAMP_END], "big", signed=True
            )
        size = LENGTH_END + length
        return _Row(position, size, base_offset, base_offset, -1, timestamp, 1, is_old=True)
    fields = bytes(header[: HEADER.size]).ljust(HEADER.size, b"\0")
    _, _, leader_epoch, _, _, _, delta, _, max_timestamp, *_, records = HEADER.unpack(fields)
    last_offset = (base_offset + delta + 2**63) % 2**64 - 2**63
    return _Row(
        position,
        LENGTH_END + length,
        base_offset,
        last_offset,
        leader_epoch,
        max_timestamp,
        max(records, 0),
        is_old=False,
    )


def _of_rows(rows: list[_Row]) -> StoredBatches:
    columns: dict[str, Any] = {
        name: np.array(values, dtype=np.bool_ if type(values[0]) is bool else np.int64)
        for name, values in zip(_Row._fields, zip(*rows, strict=True), strict=True)
    }
    return StoredBatches(**columns)
