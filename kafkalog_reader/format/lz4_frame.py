"""The LZ4 frame as Kafka reads it: independent blocks, one frame, the header checksum verified.

Kafka's reader accepts less than the LZ4 frame format (no dependent blocks) and checks less (not the
content checksum), so this module parses the frame and a library decodes single blocks. Source:
Kafka 4.0, common.compress.Lz4BlockInputStream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import lz4.block
import lz4.frame
from construct import (
    BitsInteger,
    BitStruct,
    Byte,
    Const,
    ConstructError,
    Flag,
    If,
    Int32ul,
    Int64ul,
    Struct,
    this,
)

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.decompression_limit import checked_size
from kafkalog_reader.format.xxhash32 import compute_xxhash32

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition

LZ4_FRAME_DESCRIPTOR: Final = Struct(  # little-endian, unlike everything that Kafka declares itself
    "magic" / Const(0x184D2204, Int32ul),
    "flags"
    / BitStruct(
        "version" / Const(1, BitsInteger(2)),
        "independent_blocks" / Const(1, BitsInteger(1)),
        "block_checksums" / Flag,
        "content_size" / Flag,
        "content_checksum" / Flag,
        "reserved" / Const(0, BitsInteger(2)),
    ),
    "block_descriptor"
    / BitStruct(
        "reserved" / Const(0, BitsInteger(1)),
        "block_size_code" / BitsInteger(3),
        "reserved_low" / Const(0, BitsInteger(4)),
    ),
    "content_size" / If(this.flags.content_size, Int64ul),  # skipped, as in Kafka: it may be wrong
    "header_checksum" / Byte,
)
_MAGIC_SIZE: Final[int] = 4
CHECKSUM_POSITION: Final[int] = 6
"""The position if no content size is stored, as in frames built here."""
_STORED: Final[int] = 0x8000_0000
"""Set in a block's size if the block is not compressed."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """The parts of the frame descriptor that the blocks need."""

    blocks_start: int
    max_block_size: int
    block_checksums: bool


def decompress_lz4_frame(
    payload: bytes, where: LogPosition, limit: int, *, check_header: bool = True
) -> bytes:
    """Decompress the first frame of ``payload``; bytes after its end mark are ignored.

    Args:
        payload: starts with the frame.
        where: the place to name in errors.
        limit: maximum bytes of output.
        check_header: False to read frames of magic 0, whose header checksum covers too much
            (KAFKA-3160).

    Raises:
        CorruptRecordError: not a frame that Kafka reads, a wrong checksum, or no end mark.
        LimitReachedError: the output is larger than ``limit``.
    """
    frame = _parse_frame(payload, where, check_header=check_header)
    position = frame.blocks_start
    blocks: list[bytes] = []
    size = 0
    while stored_size := _integer(payload, position, where):
        block_size = stored_size & ~_STORED
        if block_size == 0:  # only the bit "stored" is set: Kafka also ends the frame here
            break
        if block_size > frame.max_block_size:
            raise CorruptRecordError(
                f"lz4 block of {block_size} bytes, at most {frame.max_block_size} allowed", where
            )
        block = payload[position + 4 : position + 4 + block_size]
        position += 4 + block_size
        if len(block) < block_size:
            raise CorruptRecordError(f"lz4 block cut short: {len(block)} of {block_size}", where)
        if frame.block_checksums:
            _check_block(block, _integer(payload, position, where), where)
            position += 4
        blocks.append(block if stored_size & _STORED else _block(block, frame, where))
        size = checked_size(size + len(blocks[-1]), limit, where)
    return b"".join(blocks)


def _parse_frame(payload: bytes, where: LogPosition, *, check_header: bool) -> _Frame:
    try:
        descriptor = LZ4_FRAME_DESCRIPTOR.parse(payload)
    except ConstructError as error:
        raise CorruptRecordError(
            f"not an lz4 frame that Kafka reads: {payload[:16].hex()}", where
        ) from error
    checksum_position = _MAGIC_SIZE + 2 + (8 if descriptor.flags.content_size else 0)
    computed = compute_xxhash32(payload[_MAGIC_SIZE:checksum_position]) >> 8 & 0xFF
    if check_header and descriptor.header_checksum != computed:
        raise CorruptRecordError(
            f"lz4 header checksum stored 0x{descriptor.header_checksum:02x}, "
            f"computed 0x{computed:02x}",
            where,
        )
    code = descriptor.block_descriptor.block_size_code
    if code < 4:
        raise CorruptRecordError(f"lz4 block size code {code}, expected 4 to 7", where)
    return _Frame(
        blocks_start=checksum_position + 1,
        max_block_size=1 << 2 * code + 8,
        block_checksums=descriptor.flags.block_checksums,
    )


def _integer(payload: bytes, position: int, where: LogPosition) -> int:
    if len(payload) - position < 4:
        raise CorruptRecordError("lz4 frame has no end mark", where)
    return int.from_bytes(payload[position : position + 4], "little")


def _check_block(block: bytes, stored: int, where: LogPosition) -> None:
    computed = compute_xxhash32(block)
    if stored != computed:
        raise CorruptRecordError(
            f"lz4 block checksum stored 0x{stored:08x}, computed 0x{computed:08x}", where
        )


def _block(block: bytes, frame: _Frame, where: LogPosition) -> bytes:
    try:
        return bytes(lz4.block.decompress(block, uncompressed_size=frame.max_block_size))
    except lz4.block.LZ4BlockError as error:
        raise CorruptRecordError(f"lz4 block does not decompress: {error}", where) from error
