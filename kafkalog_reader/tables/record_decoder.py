"""Runs of sound batches into decoded records, as many as make a good Arrow record batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.io.names import shown
from kafkalog_reader.kernel import codes, payload_shapes, records
from kafkalog_reader.tables.batch_scan import CODEC_MASK, HEADER_SIZE
from kafkalog_reader.tables.decompression import Decompressor, Limits
from kafkalog_reader.tables.messages import MessageReader
from kafkalog_reader.tables.record_columns import LARGEST_COLUMN, RecordColumns
from kafkalog_reader.tables.selected_batches import batch_position

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

    @classmethod
    def behind_each_other(cls, run: BatchRun, ends: list[int]) -> _Payloads:
        """Payloads that fill a buffer from its start, each up to the next of ``ends``."""
        stops = np.array(ends, np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), stops[:-1]])
        return cls(run, starts, stops - starts)

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
        self._messages = MessageReader(piece, damage, self._decompressor)
        self._decoded: DecodedRecords | None = None
        self._file = LogPosition(shown(piece.path))

    def add(self, run: BatchRun) -> Iterator[DecodedRecords]:
        """Decode a run; yield what is full. The run's window may be reused afterwards.

        Raises:
            CorruptRecordError: a batch contradicts itself, in mode ``FAILFAST``.
        """
        if run.count == 0:
            return
        if run.magic.min() < 2:
            yield from self._add_messages(run)
            return
        if not (run.attributes & CODEC_MASK).any():
            position = run.position - run.window_position + HEADER_SIZE
            size = run.size_in_bytes.astype(np.int64) - HEADER_SIZE
            yield from self._decode(run.buffer, _Payloads(run, position, size))
            return
        for payloads in self._decompress(run):
            yield from self._decode(self._decompressor.buffer, payloads)

    def _add_messages(self, run: BatchRun) -> Iterator[DecodedRecords]:
        """Decode a run with messages of magic 0 or 1 in it."""
        is_message = run.magic < 2
        borders = np.flatnonzero(is_message[1:] != is_message[:-1]) + 1
        for start, stop in pairwise([0, *borders.tolist(), run.count]):
            part = run.taken(slice(start, stop))
            if not is_message[start]:
                yield from self.add(part)
                continue
            for made in self._messages.rewritten(part):
                payloads = _Payloads(made.run, made.payload_position, made.payload_size)
                yield from self._decode(made.source, payloads)

    def flush(self) -> Iterator[DecodedRecords]:
        """Yield what is left, if anything is."""
        if self._decoded is not None and self._decoded.columns.rows:
            yield self._decoded
        self._decoded = None

    def _decompress(self, run: BatchRun) -> Iterator[_Payloads]:
        """Decompress batch by batch; yield some whenever they are enough for a kernel call."""
        decompressor = self._decompressor
        starts = run.position - run.window_position + HEADER_SIZE
        stops = starts + run.size_in_bytes - HEADER_SIZE
        numbers = run.attributes & CODEC_MASK
        shapes = np.empty(run.count, np.int32)
        bounds = np.empty(run.count, np.int64)
        block_starts, block_stops = starts.copy(), stops.copy()
        payload_shapes.find_shapes(run.buffer, numbers, block_starts, block_stops, shapes, bounds)
        buffer = run.buffer
        first = 0
        ends: list[int] = []
        decompressor.clear()
        for number, (shape, start, stop, bound) in enumerate(
            zip(
                shapes.tolist(),
                block_starts.tolist(),
                block_stops.tolist(),
                bounds.tolist(),
                strict=True,
            )
        ):
            if not decompressor.add_simple(shape, buffer[start:stop], bound):
                payload = buffer[starts[number] : stops[number]]
                try:
                    self._decompress_with_care(run, number, payload)
                except CorruptRecordError:
                    if ends:  # what comes before the damage is still read
                        part = run.taken(slice(first, number))
                        yield _Payloads.behind_each_other(part, ends)
                    raise
            ends.append(decompressor.size)
            if decompressor.size >= DECOMPRESSED_TOGETHER:
                yield _Payloads.behind_each_other(run.taken(slice(first, number + 1)), ends)
                decompressor.clear()
                first, ends = number + 1, []
        if ends:
            part = run.taken(slice(first, run.count)) if first else run
            yield _Payloads.behind_each_other(part, ends)

    def _decompress_with_care(self, run: BatchRun, number: int, payload: memoryview) -> None:
        """Decompress one batch step by step; one that does not decompress has no records."""
        if run.records_count[number] == 0:  # an emptied batch has no payload worth a look
            return
        try:
            self._decompressor.add(int(run.attributes[number]) & CODEC_MASK, payload, self._file)
        except CorruptRecordError as error:
            run.records_count[number] = 0
            where = batch_position(self._piece, run, number)
            self._damage.left_out(CorruptRecordError(error.problem, where))

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
