"""Decompresses the payloads of record batches, up to a limit.

It accepts and refuses exactly what Kafka's Java reader does. The declared format does
the same more slowly (``format.compression``), and tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import lz4.block
from isal import isal_zlib

from kafkalog_reader.decode.arrow_arrays import texts
from kafkalog_reader.decode.native_blocks import NativeBlocks, address_of
from kafkalog_reader.errors import CorruptRecordError, KafkaLogError
from kafkalog_reader.format.batch_fields import CODEC_MASK
from kafkalog_reader.format.compression import GZIP_MEMBER, GZIP_WINDOW, Codec, codec_text
from kafkalog_reader.format.decompression_limit import (
    Limits,
    checked_size,
    window_too_large,
)
from kafkalog_reader.format.snappy_block import (
    SnappyError,
    announced_size,
    decompress_snappy_block,
)
from kafkalog_reader.format.zstd import ZstdError, frame_decompressor
from kafkalog_reader.kernel import codes, payload_shapes
from kafkalog_reader.scan.recycled_memory import allocate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.errors import LogPosition

_NAMES_OF_NUMBERS: Final = tuple(map(codec_text, range(CODEC_MASK + 1)))
_SNAPPY_MAGIC: Final = b"\x82SNAPPY\x00"
_SNAPPY_HEADER_SIZE: Final = 16
_SNAPPY_STREAM_BEGINS: Final = int.from_bytes(_SNAPPY_MAGIC[:4], "big")
# Flags 60 (independent blocks, nothing else), block size 40 (64 KiB), the checksum of the two:
# what Kafka's own writer begins every frame with.
_LZ4_FRAME_START: Final = bytes.fromhex("04224d18604082")
_LZ4_BLOCK_SIZE: Final = 1 << 16
_LZ4_STORED: Final = 1 << 31
_ONE_CALL: Final = 4 << 20  # within every limit
_STEP: Final = 1 << 17
_MEMBER_STEP: Final = 1 << 12  # a million members must not mean a million copies of the rest
_SCRATCH: Final = 2 << 20
Block = tuple[int, int, int, int]
"""Shape, start, stop, and maximum decompressed size."""
_LIBRARY_ERRORS: Final[tuple[type[Exception], ...]] = (
    ZstdError,
    lz4.block.LZ4BlockError,
    SnappyError,
    isal_zlib.error,  # type: ignore[assignment, unused-ignore]  # the stub calls it an instance
)


def codec_names(numbers: NDArray[np.int16]) -> pa.StringArray:
    """Bits 0 to 2 of attributes as names."""
    return texts(_NAMES_OF_NUMBERS, numbers)


def _not_simple(_payload: memoryview, _room: memoryview, _bound: int) -> int | None:
    return None


def _copy_stored(payload: memoryview, room: memoryview, bound: int) -> int:
    room[:bound] = payload
    return bound


def _decompress_lz4_block(block: memoryview, room: memoryview, bound: int) -> int:
    content = lz4.block.decompress(block, uncompressed_size=bound)
    room[: len(content)] = content
    return len(content)


def _decompress_snappy_block(block: memoryview, room: memoryview, bound: int) -> int | None:
    if announced_size(block) != bound:
        return None
    room[:bound] = decompress_snappy_block(block, bound)
    return bound


class Decompressor:
    """Decompresses payloads one after another into one buffer that is reused.

    Attributes:
        size: bytes in ``buffer`` that hold decompressed payloads.
    """

    def __init__(self, limits: Limits) -> None:
        self.size = 0
        self._limits = limits
        self._take(_SCRATCH)
        self._never_too_much = limits.largest_output(0)
        native = NativeBlocks(limits)
        self._native = {
            codes.SHAPE_LZ4_BLOCK: native.lz4,
            codes.SHAPE_SNAPPY_BLOCK: native.snappy,
            codes.SHAPE_ZSTD_FRAME: native.zstd,
        }
        self._simple: dict[int, Callable[[memoryview, memoryview, int], int | None]] = {
            codes.SHAPE_OTHER: _not_simple,
            codes.SHAPE_STORED: _copy_stored,
            codes.SHAPE_LZ4_BLOCK: _decompress_lz4_block,
            codes.SHAPE_SNAPPY_BLOCK: _decompress_snappy_block,
            codes.SHAPE_ZSTD_FRAME: self._simple_zstd,
            codes.SHAPE_GZIP: self._simple_gzip,
        }
        self._codecs: dict[int, Callable[[memoryview, LogPosition], None]] = {
            Codec.NONE: self._append,
            Codec.GZIP: self._append_gzip,
            Codec.SNAPPY: self._append_snappy,
            Codec.LZ4: self._append_lz4,
            Codec.ZSTD: self._append_zstd,
        }

    @property
    def buffer(self) -> memoryview:
        """Everything decompressed since ``clear``; valid until the next payload."""
        return self._view[: self.size]

    @property
    def scratch(self) -> memoryview:
        """The whole room that ``buffer`` is the start of; replaced when a payload needs more."""
        return self._view

    def clear(self) -> None:
        """Drop what was decompressed, and memory that only one giant batch needed."""
        self.size = 0
        if len(self._view) > self._limits.ratio_from_bytes:
            self._take(_SCRATCH)

    def _take(self, size: int) -> None:
        self._view = memoryview(allocate(size)).cast("B")
        self._address = address_of(self._view)

    def add_simple(self, shape: int, payload: memoryview, bound: int) -> bool:
        """Decompress and append one payload of a known shape; see ``add_blocks``."""
        return self.add_blocks(payload, iter([(shape, 0, len(payload), bound)]), [], 0)

    def add_blocks(
        self, buffer: memoryview, blocks: Iterator[Block], ends: list[int], enough: int
    ) -> bool:
        """Decompress and append payloads of known shapes with one call of a library each.

        Args:
            buffer: holds the payloads.
            blocks: the shape of each payload (``codes.SHAPE_…``), where its only block starts and
                stops, and its maximum decompressed size; used until there are ``enough``.
            ends: receives ``size`` after each payload.
            enough: stop once ``size`` has reached it.

        Returns:
            False if the last block could not be decompressed: nothing of it is appended, and
            ``add`` says why.
        """
        scratch = self._view
        size, capacity = self.size, len(scratch)
        source = address_of(buffer)
        try:
            for shape, start, stop, bound in blocks:
                if bound > capacity - size or bound > self._never_too_much:
                    return False
                native = self._native.get(shape)
                count = (
                    self._simple[shape](buffer[start:stop], scratch[size:], bound)
                    if native is None
                    else native(source + start, stop - start, self._address + size, bound)
                )
                if count is None or count < 0:
                    return False
                size += count
                ends.append(size)
                if size >= enough:
                    break
        except _LIBRARY_ERRORS:
            return False
        finally:
            self.size = size
        return True

    def _simple_zstd(self, payload: memoryview, room: memoryview, bound: int) -> int | None:
        if bound == 0:  # not what it claims
            return None
        frame = frame_decompressor(self._limits.zstd_window)
        content = frame.decompress(payload, bound)
        if not frame.eof or frame.unused_data:
            return None
        room[: len(content)] = content
        return len(content)

    def _simple_gzip(self, payload: memoryview, room: memoryview, _bound: int) -> int | None:
        member = isal_zlib.decompressobj(wbits=GZIP_WINDOW)
        content = member.decompress(payload, min(len(room), self._never_too_much))
        if not member.eof or member.unused_data:
            return None
        room[: len(content)] = content
        return len(content)

    def add(self, codec: int, payload: memoryview, where: LogPosition) -> int:
        """Decompress and append a payload; return its decompressed size.

        Raises:
            CorruptRecordError: the payload is not valid for the codec.
            LimitReachedError: it would exceed the limits.
        """
        start = self.size
        try:
            self._codecs[codec](payload, where)
        except _LIBRARY_ERRORS as error:
            self.size = start
            refused = window_too_large(error, self._limits.zstd_window, where)
            if refused is not None:
                raise refused from error
            raise CorruptRecordError(
                f"{codec_text(codec)} does not decompress: {error}", where
            ) from error
        except KafkaLogError:
            self.size = start
            raise
        return self.size - start

    def _room(self, size: int) -> memoryview:
        """At least ``size`` free bytes."""
        if size > len(self._view) - self.size:
            needed = max(self.size + size, 2 * len(self._view))
            before = self._view[: self.size]
            self._take(needed)
            self._view[: self.size] = before
        return self._view[self.size :]

    def _append(self, content: bytes | memoryview, _where: LogPosition | None = None) -> None:
        size = len(content)
        self._room(size)[:size] = content
        self.size += size

    def _check(self, size: int, payload: memoryview, where: LogPosition) -> None:
        checked_size(size, self._limits.largest_output(len(payload)), where)

    def _append_zstd(self, payload: memoryview, where: LogPosition) -> None:
        frames, bound = payload_shapes.measure_zstd(payload)
        if not frames:
            raise CorruptRecordError("zstd frame is cut short or invalid", where)
        native = self._native[codes.SHAPE_ZSTD_FRAME]
        if native is not None and frames == 1 and 0 < bound <= _ONE_CALL:
            room = self._room(bound)
            count = native(address_of(payload), len(payload), self._address + self.size, len(room))
            if count >= 0:
                self._check(count, payload, where)
                self.size += count
                return
        step = len(payload) if frames == 1 else _MEMBER_STEP
        start, position = self.size, 0
        while position < len(payload):
            frame = frame_decompressor(self._limits.zstd_window)
            while not frame.eof:
                taken = payload[position : position + step] if frame.needs_input else b""
                if frame.needs_input and not taken:
                    raise CorruptRecordError("zstd frame is cut short or invalid", where)
                self._append(frame.decompress(taken, _STEP))
                self._check(self.size - start, payload, where)
                position += len(taken)
            position -= len(frame.unused_data)

    def _append_gzip(self, payload: memoryview, where: LogPosition) -> None:
        """Append all members; after the first, other bytes are ignored, as in the JDK."""
        start, position = self.size, 0
        while position == 0 or bytes(payload[position : position + 3]) == GZIP_MEMBER:
            member = isal_zlib.decompressobj(wbits=GZIP_WINDOW)
            while not member.eof:
                step = payload[position : position + _MEMBER_STEP]
                if not step:
                    raise CorruptRecordError("gzip member cut short", where)
                left = self._limits.largest_output(len(payload)) - (self.size - start)
                self._append(member.decompress(step, left + 1))
                self._check(self.size - start, payload, where)
                position += len(step) - len(member.unused_data)

    def _append_snappy(self, payload: memoryview, where: LogPosition) -> None:
        """Append snappy-java's stream of blocks, or one raw block of other clients."""
        start = self.size
        size = len(payload)
        if size < _SNAPPY_HEADER_SIZE or bytes(payload[:8]) != _SNAPPY_MAGIC:
            self._append_snappy_block(payload, payload, start, where)
            return
        position = _SNAPPY_HEADER_SIZE
        while size - position >= 4:  # fewer stray bytes are ignored
            length = int.from_bytes(payload[position : position + 4], "big")
            if length == _SNAPPY_STREAM_BEGINS:
                position += _SNAPPY_HEADER_SIZE
                continue
            position += 4
            if not 0 < length <= size - position:
                raise CorruptRecordError(
                    f"snappy block of {length} bytes, {size - position} left", where
                )
            self._append_snappy_block(payload[position : position + length], payload, start, where)
            position += length

    def _append_snappy_block(
        self, block: memoryview, payload: memoryview, start: int, where: LogPosition
    ) -> None:
        announced = announced_size(block)
        self._check(self.size - start + announced, payload, where)  # before it is allocated
        room = self._room(announced)
        native = self._native[codes.SHAPE_SNAPPY_BLOCK]
        if native is None or bytes(block[:8]) == _SNAPPY_MAGIC:  # it would take it for a stream
            count = -1
        else:
            count = native(address_of(block), len(block), self._address + self.size, announced)
        if count < 0:  # the library has the last word
            room[:announced] = decompress_snappy_block(block, announced)
        self.size += announced

    def _append_lz4(self, payload: memoryview, where: LogPosition) -> None:
        """Append the first frame, block by block: Kafka accepts fewer kinds of frames than LZ4."""
        start = self.size
        if bytes(payload[:7]) != _LZ4_FRAME_START:  # other clients' flags: the format reads all
            # rare, and construct takes long to import
            from kafkalog_reader.format.lz4_frame import decompress_lz4_frame

            largest = self._limits.largest_output(len(payload))
            self._append(decompress_lz4_frame(bytes(payload), where, largest))
            return
        native = self._native[codes.SHAPE_LZ4_BLOCK]
        source = address_of(payload)
        position = len(_LZ4_FRAME_START)
        while True:
            if len(payload) - position < 4:
                raise CorruptRecordError("lz4 frame has no end mark", where)
            stored_size = int.from_bytes(payload[position : position + 4], "little")
            length = stored_size & ~_LZ4_STORED
            position += 4
            if length == 0:
                return
            if length > min(_LZ4_BLOCK_SIZE, len(payload) - position):
                raise CorruptRecordError(
                    f"lz4 block of {length} bytes, {len(payload) - position} left", where
                )
            block = payload[position : position + length]
            room = self._room(_LZ4_BLOCK_SIZE)
            count = -1
            if stored_size & _LZ4_STORED:
                count = _copy_stored(block, room, length)
            elif native is not None:
                target = self._address + self.size
                count = native(source + position, length, target, _LZ4_BLOCK_SIZE)
            if count < 0:
                count = _decompress_lz4_block(block, room, _LZ4_BLOCK_SIZE)
            self.size += count
            position += length
            self._check(self.size - start, payload, where)
