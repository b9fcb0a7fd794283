"""Decompresses messages of magic 0 and 1 and rewrites them as records of magic 2."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.errors import CorruptRecordError, LimitReachedError, LogPosition
from kafkalog_reader.format.batch_fields import CODEC_MASK
from kafkalog_reader.format.xxhash32 import compute_xxhash32
from kafkalog_reader.io.names import shown
from kafkalog_reader.kernel import codes, message_fields, messages, payload_shapes
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.recycled_memory import allocate
from kafkalog_reader.scan.segment_slice import batch_position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.decode.decompression import Decompressor
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.segment_slice import SegmentSlice

REWRITTEN_TOGETHER: Final = 512 << 10
"""Bytes decompressed before they are rewritten: they should still be in the second-level cache."""
_LZ4: Final = 3
_LZ4_DESCRIPTOR: Final = 4
"""Position of the flags in an LZ4 frame."""
_NO_VALUE: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class RewrittenMessages:
    """Batches of records of magic 2 that were made of messages.

    Attributes:
        source: the records, valid until the next are requested.
        run: one entry a batch; position, size and magic are those of the message or wrapper.
        payload_position, payload_size: where in ``source`` the records of each batch are.
    """

    source: memoryview
    run: BatchRun
    payload_position: NDArray[np.int64]
    payload_size: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """Messages and wrappers in the form that the kernel's ``MessageRewriter`` takes."""

    entry_position: NDArray[np.int64]
    entry_size: NDArray[np.int64]
    content_start: NDArray[np.int64]
    content_stop: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    max_timestamp: NDArray[np.int64]
    attributes: NDArray[np.int16]
    problem: NDArray[np.int32]
    problem_position: NDArray[np.int64]

    @classmethod
    def of(cls, run: BatchRun) -> _Entries:
        return cls(
            entry_position=run.position - run.window_position,
            entry_size=run.size_in_bytes.astype(np.int64),
            content_start=np.zeros(run.count, np.int64),
            content_stop=np.full(run.count, _NO_VALUE, np.int64),
            last_offset=np.ascontiguousarray(run.last_offset),
            max_timestamp=np.ascontiguousarray(run.max_timestamp),
            attributes=np.ascontiguousarray(run.attributes),
            problem=np.zeros(run.count, np.int32),
            problem_position=np.zeros(run.count, np.int64),
        )

    def part(self, which: slice) -> _Entries:
        return _Entries(**{field.name: getattr(self, field.name)[which] for field in fields(self)})


@dataclass(frozen=True, slots=True, eq=False)
class _HeaderRoom:
    """Room for the headers of rewritten batches."""

    entry: NDArray[np.int64]
    payload_position: NDArray[np.int64]
    payload_size: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    base_timestamp: NDArray[np.int64]
    last_offset_delta: NDArray[np.int32]
    records_count: NDArray[np.int32]
    attributes: NDArray[np.int16]

    @classmethod
    def for_batches(cls, count: int) -> _HeaderRoom:
        return cls(
            entry=np.empty(count, np.int64),
            payload_position=np.empty(count, np.int64),
            payload_size=np.empty(count, np.int64),
            base_offset=np.empty(count, np.int64),
            base_timestamp=np.empty(count, np.int64),
            last_offset_delta=np.empty(count, np.int32),
            records_count=np.empty(count, np.int32),
            attributes=np.empty(count, np.int16),
        )


class MessageReader:
    """Reads the messages of one slice.

    Args:
        segment_slice: their slice, for error messages.
        damage: handles messages that contradict themselves.
        decompressor: the slice's.
    """

    def __init__(
        self, segment_slice: SegmentSlice, damage: Damage, decompressor: Decompressor
    ) -> None:
        self._segment_slice = segment_slice
        self._damage = damage
        self._decompressor = decompressor
        self._file = LogPosition(shown(segment_slice.path))

    def rewritten(self, run: BatchRun) -> Iterator[RewrittenMessages]:
        """Rewrite a run that holds only messages, in file order.

        Raises:
            CorruptRecordError: one contradicts itself, in mode ``FAILFAST``.
        """
        entries = _Entries.of(run)
        first = 0
        self._decompressor.clear()
        for number, error in self._decompress(run, entries):
            if error is not None:
                entries.problem[number] = codes.BAD_WRAPPER_VALUE  # skipped, whatever it is
                yield from self._rewrite(run, entries, slice(first, number))
                next_offset = int(run.last_offset[number]) + 1
                self._damage.left_out(error, next_offset=next_offset)
            else:
                yield from self._rewrite(run, entries, slice(first, number + 1))
            first = number + 1
            self._decompressor.clear()
        yield from self._rewrite(run, entries, slice(first, run.count))

    def _decompress(
        self, run: BatchRun, entries: _Entries
    ) -> Iterator[tuple[int, CorruptRecordError | LimitReachedError | None]]:
        """Decompress one wrapper after another; stop at a failure and when there is enough."""
        wrappers = np.flatnonzero(run.attributes & CODEC_MASK)
        if not len(wrappers):
            return
        count = len(wrappers)
        starts, stops = np.empty(count, np.int64), np.empty(count, np.int64)
        problems = np.zeros(count, np.int32)
        message_fields.find_values(
            run.buffer,
            entries.entry_position[wrappers],
            entries.entry_size[wrappers],
            starts,
            stops,
            problems,
        )
        problems[(problems == codes.SOUND) & (stops == _NO_VALUE)] = codes.BAD_WRAPPER_VALUE
        numbers = run.attributes[wrappers] & CODEC_MASK
        is_sound = problems == codes.SOUND
        block_starts, block_stops = np.where(is_sound, starts, 0), np.where(is_sound, stops, 0)
        shapes, bounds = np.empty(count, np.int32), np.empty(count, np.int64)
        starts, stops = block_starts.copy(), block_stops.copy()
        payload_shapes.find_shapes(run.buffer, numbers, block_starts, block_stops, shapes, bounds)
        decompressor = self._decompressor
        for wrapper, number in enumerate(wrappers.tolist()):
            error: CorruptRecordError | LimitReachedError | None = None
            entries.content_start[number] = decompressor.size
            if problems[wrapper]:
                problem = codes.PROBLEMS[int(problems[wrapper])]
                error = CorruptRecordError(
                    problem, batch_position(self._segment_slice, run, number)
                )
            elif not decompressor.add_simple(
                int(shapes[wrapper]),
                run.buffer[block_starts[wrapper] : block_stops[wrapper]],
                int(bounds[wrapper]),
            ):
                value = run.buffer[starts[wrapper] : stops[wrapper]]
                if numbers[wrapper] == _LZ4 and run.magic[number] == 0:
                    value = memoryview(_with_header_checksum(value))
                try:
                    decompressor.add(int(numbers[wrapper]), value, self._file)
                except (CorruptRecordError, LimitReachedError) as raised:
                    where = batch_position(self._segment_slice, run, number)
                    error = type(raised)(raised.problem, where)
            entries.content_stop[number] = decompressor.size
            if error is not None or decompressor.size >= REWRITTEN_TOGETHER:
                yield number, error

    def _rewrite(
        self, run: BatchRun, entries: _Entries, which: slice
    ) -> Iterator[RewrittenMessages]:
        """Rewrite entries whose contents are decompressed, and report their problems."""
        count = which.stop - which.start
        if count == 0:
            return
        run, entries = run.taken(which), entries.part(which)
        size = int(entries.entry_size.sum()) + self._decompressor.size
        target = memoryview(allocate(size)).cast("B")
        capacity = count + 64
        first = 0
        while first < count:
            room = _HeaderRoom.for_batches(capacity)
            rewriter = messages.MessageRewriter(
                run.buffer, self._decompressor.buffer, entries, target, room
            )
            following = rewriter.rewrite(first)
            batches = self._before_damage(room, rewriter.batches, entries, first, following)
            if batches:
                yield _of_room(run, room, batches, target)
            self._report(run, entries, first, following)
            if following == first:  # one wrapper with inner messages of ever changing magic
                capacity *= 2
            first = following

    def _before_damage(
        self, room: _HeaderRoom, batches: int, entries: _Entries, first: int, stop: int
    ) -> int:
        """How many rewritten batches may be shown: none after damage that will raise an error."""
        damaged = np.flatnonzero(entries.problem[first:stop])
        if self._damage.mode is not Mode.FAILFAST or len(damaged) == 0:
            return batches
        return int(np.searchsorted(room.entry[:batches], first + damaged[0]))

    def _report(self, run: BatchRun, entries: _Entries, first: int, stop: int) -> None:
        for entry in (np.flatnonzero(entries.problem[first:stop]) + first).tolist():
            problem = codes.PROBLEMS[int(entries.problem[entry])]
            if entries.content_stop[entry] != _NO_VALUE:
                inside = int(entries.problem_position[entry])
                problem += f" (at byte {inside} of its decompressed messages)"
            self._damage.left_out(
                CorruptRecordError(problem, batch_position(self._segment_slice, run, entry)),
                next_offset=int(run.last_offset[entry]) + 1,
            )


def _of_room(run: BatchRun, room: _HeaderRoom, count: int, target: memoryview) -> RewrittenMessages:
    batches = replace(
        run.taken(room.entry[:count]),
        base_offset=room.base_offset[:count],
        base_timestamp=room.base_timestamp[:count],
        last_offset_delta=room.last_offset_delta[:count],
        records_count=room.records_count[:count],
        attributes=room.attributes[:count],
    )
    return RewrittenMessages(
        target, batches, room.payload_position[:count], room.payload_size[:count]
    )


def _with_header_checksum(frame: memoryview) -> bytes:
    """An LZ4 frame with a correct header checksum: in magic 0 it also covers the frame's magic.

    Kafka's reader ignores it (KAFKA-3160).
    """
    corrected = bytearray(frame)
    if len(frame) > _LZ4_DESCRIPTOR:
        flags = frame[_LZ4_DESCRIPTOR]
        end = _LZ4_DESCRIPTOR + 2 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
        if end < len(frame):
            corrected[end] = compute_xxhash32(bytes(frame[_LZ4_DESCRIPTOR:end])) >> 8 & 0xFF
    return bytes(corrected)
