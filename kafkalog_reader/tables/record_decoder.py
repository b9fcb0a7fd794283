"""Runs of sound batches into decoded records, as many as make a good Arrow record batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.io.names import shown
from kafkalog_reader.kernel import codes, records
from kafkalog_reader.tables.batch_scan import HEADER_SIZE
from kafkalog_reader.tables.decompression import Decompressor, Limits
from kafkalog_reader.tables.record_columns import LARGEST_COLUMN, RecordColumns
from kafkalog_reader.tables.selected_batches import CODEC_MASK, batch_position

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from kafkalog_reader.tables.batch_scan import BatchRun
    from kafkalog_reader.tables.damage import Damage
    from kafkalog_reader.tables.log_unit import SegmentSlice

ROWS: Final = 65_536
SIZE: Final = 16 << 20
HEADERS: Final = 65_536
DECOMPRESSED_TOGETHER: Final = 512 << 10
"""Bytes decompressed before they are decoded: they should still be in the second-level cache."""


@dataclass(slots=True)
class _Payloads:
    """Batches whose uncompressed records lie in one buffer, as ``UncompressedBatches`` wants."""

    run: BatchRun
    payload_position: NDArray[np.int64]
    payload_size: NDArray[np.int64]
    row_end: NDArray[np.int64] = field(init=False)
    problem: NDArray[np.int32] = field(init=False)
    problem_position: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.row_end = np.empty(self.run.count, np.int64)
        self.problem = np.zeros(self.run.count, np.int32)
        self.problem_position = np.zeros(self.run.count, np.int64)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  the header's columns
        return getattr(self.run, name)


class DecodedRecords:
    """Decoded records, and the batch that each came from.

    Attributes:
        columns: what the kernel decoded.
    """

    def __init__(self, columns: RecordColumns) -> None:
        self.columns = columns
        self._runs: list[BatchRun] = []
        self._counts: list[NDArray[np.int64]] = []

    def came_from(self, run: BatchRun, counts: NDArray[np.int64]) -> None:
        """Note that the next rows are so many of each batch of ``run``."""
        self._runs.append(run)
        self._counts.append(counts)

    def of_batches(self, name: str) -> NDArray[Any]:
        """A header column, one entry a batch."""
        return np.concatenate([getattr(run, name) for run in self._runs])

    def of_records(self, of_batches: NDArray[Any]) -> NDArray[Any]:
        """One entry a batch made one entry a record."""
        if len(of_batches) and (of_batches == of_batches[0]).all():
            return np.full(self.columns.rows, of_batches[0], of_batches.dtype)
        return np.repeat(of_batches, np.concatenate(self._counts))


class RecordDecoder:
    """Decodes the batches of one slice.

    Args:
        wanted: names of columns of ``records``.
        piece: what the batches are of, for messages.
        damage: told of batches that contradict themselves.
        limits: how much one batch may decompress to.
    """

    def __init__(
        self,
        wanted: AbstractSet[str],
        piece: SegmentSlice,
        damage: Damage,
        limits: Limits = Limits(),  # noqa: B008  frozen
    ) -> None:
        self._wanted = wanted
        self._piece = piece
        self._damage = damage
        self._decompressor = Decompressor(limits)
        self._decoded: DecodedRecords | None = None
        self._file = LogPosition(shown(piece.path))

    def add(self, run: BatchRun) -> Iterator[DecodedRecords]:
        """Decode a run; yield what is full. The run's window may be reused afterwards.

        Raises:
            CorruptRecordError: a batch contradicts itself, in mode ``FAILFAST``.
        """
        if run.count == 0:
            return
        if not (run.attributes & CODEC_MASK).any():
            position = run.position - run.window_position + HEADER_SIZE
            size = run.size_in_bytes.astype(np.int64) - HEADER_SIZE
            yield from self._decode(run.buffer, _Payloads(run, position, size))
            return
        start = 0
        while start < run.count:
            stop, payloads = self._decompress(run, start)
            if payloads is not None:
                yield from self._decode(self._decompressor.buffer, payloads)
            start = stop

    def flush(self) -> Iterator[DecodedRecords]:
        """Yield what is left, if anything is."""
        if self._decoded is not None and self._decoded.columns.rows:
            yield self._decoded
        self._decoded = None

    def _decompress(self, run: BatchRun, start: int) -> tuple[int, _Payloads | None]:
        """Decompress some batches from number ``start`` on, and say where it stopped."""
        decompressor = self._decompressor
        decompressor.clear()
        positions = (run.position - run.window_position).tolist()
        sizes = run.size_in_bytes.tolist()
        codecs = (run.attributes & CODEC_MASK).tolist()
        done: list[int] = []
        ends: list[int] = []
        number = start
        while number < run.count and decompressor.size < DECOMPRESSED_TOGETHER:
            begin = positions[number]
            payload = run.buffer[begin + HEADER_SIZE : begin + sizes[number]]
            try:
                if run.records_count[number]:  # an emptied batch keeps no payload worth a look
                    decompressor.add(codecs[number], payload, self._file)
            except CorruptRecordError as error:
                where = batch_position(self._piece, run, number)
                self._damage.left_out(CorruptRecordError(error.problem, where))
            else:
                done.append(number)
                ends.append(decompressor.size)
            number += 1
        if not done:
            return number, None
        stops = np.array(ends, np.int64)
        starts = np.concatenate([[0], stops[:-1]])
        everything = len(done) == run.count
        return number, _Payloads(
            run if everything else run.taken(np.array(done)), starts, stops - starts
        )

    def _decode(self, source: memoryview, payloads: _Payloads) -> Iterator[DecodedRecords]:
        batches = records.UncompressedBatches(source, payloads)
        first = 0
        while first < payloads.run.count:
            decoded = self._decoded or self._with_room(payloads, first)
            self._decoded = decoded
            row_start = decoded.columns.rows
            stop = batches.decode(first, decoded.columns.kernel)
            if stop > first:
                ends = payloads.row_end[first:stop]
                part = slice(first, stop)
                everything = stop - first == payloads.run.count
                decoded.came_from(
                    payloads.run if everything else payloads.run.taken(part),
                    np.diff(ends, prepend=row_start),
                )
                self._report(payloads, first, stop)
            if stop < payloads.run.count:
                yield from self.flush()
                if stop == first and row_start == 0:
                    self._decoded = self._with_room(payloads, first, headers=decoded)
            first = stop

    def _with_room(
        self, payloads: _Payloads, batch: int, headers: DecodedRecords | None = None
    ) -> DecodedRecords:
        """Room for a usual number of records, or for one batch that is larger."""
        size = int(payloads.payload_size[batch])
        count = int(payloads.run.records_count[batch])
        rows = max(ROWS, min(count, size // 7))
        most_headers = HEADERS if headers is None else max(HEADERS, size // 2)
        return DecodedRecords(
            RecordColumns(self._wanted, rows, min(max(SIZE, size), LARGEST_COLUMN), most_headers)
        )

    def _report(self, payloads: _Payloads, first: int, stop: int) -> None:
        for batch in np.flatnonzero(payloads.problem[first:stop]) + first:
            problem = codes.PROBLEMS[int(payloads.problem[batch])]
            inside = int(payloads.problem_position[batch])
            self._damage.left_out(
                CorruptRecordError(
                    f"{problem} (at byte {inside} of its uncompressed records)",
                    batch_position(self._piece, payloads.run, int(batch)),
                )
            )
