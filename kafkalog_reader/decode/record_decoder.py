"""Decodes runs of sound batches into Arrow record batches of a good size."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from kafkalog_reader.decode.codec_libraries import MAX_BLOCK, CodecLibraries
from kafkalog_reader.decode.decompression import Decompressor
from kafkalog_reader.decode.messages import MessageReader
from kafkalog_reader.decode.record_buffers import MAX_COLUMN, RecordBuffers
from kafkalog_reader.errors import CorruptRecordError, LimitReachedError, LogPosition
from kafkalog_reader.format.batch_fields import CODEC_MASK, HEADER_SIZE
from kafkalog_reader.io.names import shown
from kafkalog_reader.kernel import codes, payload_shapes, sound_batches, uncompressed_batches
from kafkalog_reader.scan.recycled_memory import allocate, room_for
from kafkalog_reader.scan.segment_slice import batch_position

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from kafkalog_reader.decode.decompression import Block
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.scan.unscanned_batches import UnscannedBatches

ROWS: Final = 65_536
SIZE: Final = 16 << 20
HEADERS: Final = 65_536
_NO_OFFSET: Final = 2**63 - 1
DECOMPRESSED_TOGETHER: Final = 512 << 10
"""Bytes decompressed before they are decoded: they should still be in the second-level cache."""


class Passing(Protocol):
    """A scan that can skip what was already decoded: see ``Scan.pass_over``.

    Attributes:
        next_offset, may_skip, may_fall: which offset the next batch may begin at.
    """

    @property
    def next_offset(self) -> int: ...

    @property
    def may_skip(self) -> bool: ...

    @property
    def may_fall(self) -> bool: ...

    def pass_over(self, stop: int, last_offset: int) -> None:
        """Leave batches that were offered out of the runs that follow."""


class _Payloads:
    """Batches whose uncompressed records are in one buffer, for ``UncompressedBatches``."""

    __slots__ = (
        "attributes", "base_offset", "base_sequence", "base_timestamp", "last_offset_delta",
        "magic", "max_timestamp", "payload_position", "payload_size", "problem",
        "problem_position", "records_count", "row_end", "run",
    )  # fmt: skip

    def __init__(
        self, run: BatchRun, payload_position: NDArray[np.int64], payload_size: NDArray[np.int64]
    ) -> None:
        self.run = run
        self.payload_position = payload_position
        self.payload_size = payload_size
        self.base_offset = run.base_offset
        self.last_offset_delta = run.last_offset_delta
        self.base_timestamp = run.base_timestamp
        self.max_timestamp = run.max_timestamp
        self.magic = run.magic
        self.attributes = run.attributes
        self.base_sequence = run.base_sequence
        self.records_count = run.records_count
        _, self.row_end = room_for(np.int64, run.count)
        _, self.problem = room_for(np.int32, run.count)
        _, self.problem_position = room_for(np.int64, run.count)

    @classmethod
    def in_window(cls, run: BatchRun) -> _Payloads:
        """Payloads at their places in the run's window."""
        _, position = room_for(np.int64, run.count)
        _, size = room_for(np.int64, run.count)
        np.subtract(run.position, run.window_position - HEADER_SIZE, out=position)
        np.subtract(run.size_in_bytes, HEADER_SIZE, out=size)
        return cls(run, position, size)

    def put_one_after_another(self, first: int, ends: list[int]) -> None:
        """Payloads of the batches from ``first`` on, one after another; ``ends`` has their ends."""
        stop = first + len(ends)
        starts = self.payload_position[first:stop]
        starts[0], starts[1:] = 0, ends[:-1]
        np.subtract(ends, starts, out=self.payload_size[first:stop])


class DecodedRecords:
    """Decoded records, and the batch that each came from.

    Attributes:
        columns: what the kernel decoded.
    """

    def __init__(self, columns: RecordBuffers) -> None:
        self.columns = columns
        self._parts: list[tuple[_Payloads, int, int, int]] = []

    def came_from(self, payloads: _Payloads, first: int, stop: int, row: int) -> None:
        """Note which batches of a run the rows from ``row`` on came from."""
        if self._parts and self._parts[-1][0] is payloads:
            _, first, _, row = self._parts.pop()
        self._parts.append((payloads, first, stop, row))

    def rows_before(self, position: int) -> int:
        """How many records are before the first batch that begins at or after a position."""
        for payloads, first, stop, row in self._parts:
            reaching = np.flatnonzero(payloads.run.position[first:stop] >= position)
            if len(reaching):
                return int(payloads.row_end[first + reaching[0] - 1]) if reaching[0] else row
        return self.columns.rows

    def of_batches(self, name: str) -> NDArray[Any]:
        """A header column with one entry for each batch."""
        return np.concatenate(
            [getattr(payloads.run, name)[first:stop] for payloads, first, stop, _ in self._parts]
        )

    def of_records(self, of_batches: NDArray[Any]) -> NDArray[Any]:
        """Repeat each batch's entry for all of its records."""
        if len(of_batches) and (of_batches == of_batches[0]).all():
            return np.full(self.columns.rows, of_batches[0], of_batches.dtype)
        ends = [payloads.row_end[first:stop] for payloads, first, stop, _ in self._parts]
        return np.repeat(of_batches, np.diff(np.concatenate(ends), prepend=0))


class RecordDecoder:
    """Decodes the batches of one slice.

    Args:
        wanted: names of columns of ``records``.
        segment_slice: the slice of the batches, for messages.
        damage: handles batches that contradict themselves.
        with_control: whether control batches that were not pruned are decoded.
    """

    def __init__(
        self,
        wanted: AbstractSet[str],
        segment_slice: SegmentSlice,
        damage: Damage,
        *,
        with_control: bool = True,
    ) -> None:
        self._wanted = wanted
        self._segment_slice = segment_slice
        self._damage = damage
        limits = segment_slice.directory.context.limits
        self._decompressor = Decompressor(limits)
        self._messages = MessageReader(segment_slice, damage, self._decompressor)
        self._decoded: DecodedRecords | None = None
        self._file = LogPosition(shown(segment_slice.path))
        self._sound = sound_batches.SoundBatches(
            segment_slice.from_offset,
            _NO_OFFSET if segment_slice.to_offset is None else segment_slice.to_offset,
            with_control,
            CodecLibraries(limits),
            memoryview(allocate(MAX_BLOCK)).cast("B"),
        )

    def take(self, offered: UnscannedBatches, scan: Passing) -> Iterator[DecodedRecords]:
        """Decode the sound batches at the start of a chain in one pass; yield full columns.

        The caller must scan and add batches that are damaged, pruned or of another kind;
        ``scan.pass_over`` receives the decoded ones.
        """
        start = offered.start
        is_full = True
        while is_full:
            decoded = self._decoded or DecodedRecords(
                RecordBuffers(self._wanted, ROWS, SIZE, HEADERS)
            )
            self._decoded = decoded
            was_empty = decoded.columns.rows == 0
            self._sound.decode(
                offered.buffer, start, len(offered.buffer), decoded.columns.kernel,
                scan.next_offset, scan.may_skip, scan.may_fall,
            )  # fmt: skip
            is_full = self._sound.is_full
            if self._sound.position > start:
                start = self._sound.position
                scan.pass_over(start, self._sound.last_offset)
            elif was_empty:  # the first batch is too large
                return
            if is_full:
                yield from self.flush()

    def add(self, run: BatchRun) -> Iterator[DecodedRecords]:
        """Decode a run; yield full columns.

        The window may be reused afterwards.

        Raises:
            CorruptRecordError: a batch contradicts itself, in mode ``FAILFAST``.
        """
        if run.count == 0:
            return
        if run.magic.min() < 2:
            yield from self._add_messages(run)
            return
        if not (run.attributes & CODEC_MASK).any():
            payloads = _Payloads.in_window(run)
            batches = uncompressed_batches.UncompressedBatches(run.buffer, payloads)
            yield from self._decode(batches, payloads, 0, run.count)
            return
        yield from self._decompress(run)

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
                batches = uncompressed_batches.UncompressedBatches(made.source, payloads)
                yield from self._decode(batches, payloads, 0, made.run.count)

    def flush(self) -> Iterator[DecodedRecords]:
        """Yield the remaining records, if any."""
        if self._decoded is not None and self._decoded.columns.rows:
            yield self._decoded
        self._decoded = None

    def _decompress(self, run: BatchRun) -> Iterator[DecodedRecords]:
        """Decompress batch by batch; decode whenever there is enough for a kernel call."""
        decompressor = self._decompressor
        payloads = _Payloads.in_window(run)
        starts = payloads.payload_position.copy()
        stops = starts + payloads.payload_size
        numbers = run.attributes & CODEC_MASK
        shapes = np.empty(run.count, np.int32)
        bounds = np.empty(run.count, np.int64)
        block_starts, block_stops = starts.copy(), stops.copy()
        payload_shapes.find_shapes(run.buffer, numbers, block_starts, block_stops, shapes, bounds)
        blocks = zip(
            shapes.tolist(),
            block_starts.tolist(),
            block_stops.tolist(),
            bounds.tolist(),
            strict=True,
        )
        scratch = decompressor.scratch
        batches = uncompressed_batches.UncompressedBatches(scratch, payloads)
        first = 0
        while first < run.count:
            ends, damage = self._gather(run, first, blocks, starts, stops)
            if decompressor.scratch is not scratch:  # it took a larger one
                scratch = decompressor.scratch
                batches = uncompressed_batches.UncompressedBatches(scratch, payloads)
            if ends:
                payloads.put_one_after_another(first, ends)
                yield from self._decode(batches, payloads, first, first + len(ends))
            if damage is not None:
                raise damage
            first += len(ends)

    def _gather(
        self,
        run: BatchRun,
        first: int,
        blocks: Iterator[Block],
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
    ) -> tuple[list[int], CorruptRecordError | LimitReachedError | None]:
        """Decompress batches from ``first`` on until there is enough, or one is damaged."""
        decompressor = self._decompressor
        decompressor.clear()
        ends: list[int] = []
        while first + len(ends) < run.count and decompressor.size < DECOMPRESSED_TOGETHER:
            if not decompressor.add_blocks(run.buffer, blocks, ends, DECOMPRESSED_TOGETHER):
                number = first + len(ends)
                try:
                    payload = run.buffer[starts[number] : stops[number]]
                    self._decompress_with_care(run, number, payload)
                except (CorruptRecordError, LimitReachedError) as damage:
                    return ends, damage
                ends.append(decompressor.size)
        return ends, None

    def _decompress_with_care(self, run: BatchRun, number: int, payload: memoryview) -> None:
        """Decompress one batch step by step; if that fails, it has no records."""
        if run.records_count[number] == 0:  # an emptied batch has no payload worth a look
            return
        try:
            self._decompressor.add(int(run.attributes[number]) & CODEC_MASK, payload, self._file)
        except (CorruptRecordError, LimitReachedError) as error:
            run.records_count[number] = 0
            where = batch_position(self._segment_slice, run, number)
            next_offset = int(run.last_offset[number]) + 1
            self._damage.left_out(type(error)(error.problem, where), next_offset=next_offset)

    def _decode(
        self,
        batches: uncompressed_batches.UncompressedBatches,
        payloads: _Payloads,
        first: int,
        stop: int,
    ) -> Iterator[DecodedRecords]:
        while first < stop:
            decoded = self._decoded or self._with_room(payloads, first)
            self._decoded = decoded
            row = decoded.columns.rows
            reached = batches.decode(first, stop, decoded.columns.kernel)
            if reached > first:
                decoded.came_from(payloads, first, reached, row)
                self._report(payloads, first, reached)
            if reached < stop:
                yield from self.flush()
                if reached == first and row == 0:
                    self._decoded = self._with_room(payloads, first, headers=decoded)
            first = reached

    def _with_room(
        self, payloads: _Payloads, batch: int, headers: DecodedRecords | None = None
    ) -> DecodedRecords:
        """Room for a usual number of records, or for one batch that is larger."""
        size = int(payloads.payload_size[batch])
        count = int(payloads.run.records_count[batch])
        rows = max(ROWS, min(count, size // 7))
        most_headers = HEADERS if headers is None else max(HEADERS, size // 2)
        return DecodedRecords(
            RecordBuffers(self._wanted, rows, min(max(SIZE, size), MAX_COLUMN), most_headers)
        )

    def _report(self, payloads: _Payloads, first: int, stop: int) -> None:
        if not payloads.problem[first:stop].any():
            return
        for batch in np.flatnonzero(payloads.problem[first:stop]) + first:
            problem = codes.PROBLEMS[int(payloads.problem[batch])]
            inside = int(payloads.problem_position[batch])
            self._damage.left_out(
                CorruptRecordError(
                    f"{problem} (at byte {inside} of its uncompressed records)",
                    batch_position(self._segment_slice, payloads.run, int(batch)),
                ),
                next_offset=int(payloads.run.last_offset[batch]) + 1,
            )
