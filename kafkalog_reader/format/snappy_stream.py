"""Snappy as in Kafka's logs: snappy-java's stream of blocks, or one raw block of other clients.

Source: snappy-java 1.1.10, SnappyInputStream; Kafka 4.0, common.compress.SnappyCompression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from construct import Const, Int32sb, Int32ub, Struct

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.decompression_limit import checked_size
from kafkalog_reader.format.snappy_block import (
    SnappyError,
    announced_size,
    decompress_snappy_block,
)

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition

STREAM_MAGIC: Final[bytes] = b"\x82SNAPPY\x00"
SNAPPY_STREAM_HEADER: Final = Struct(
    "magic" / Const(STREAM_MAGIC),
    "version" / Int32sb,
    "lowest_compatible_version" / Int32sb,
)
HEADER_SIZE: Final[int] = SNAPPY_STREAM_HEADER.sizeof()
_MAGIC_HEAD: Final[int] = Int32ub.parse(STREAM_MAGIC)


def decompress_snappy(payload: bytes, where: LogPosition, limit: int) -> bytes:
    """Decompress a stream of blocks, or one raw block if the payload has no stream header.

    Raises:
        CorruptRecordError: a block is cut short or is not a snappy block.
        LimitReachedError: the output would be larger than ``limit``.
    """
    if len(payload) < HEADER_SIZE or not payload.startswith(STREAM_MAGIC):
        return _block(payload, where, limit, 0)
    position = HEADER_SIZE
    blocks: list[bytes] = []
    size = 0
    while len(payload) - position >= 4:  # fewer stray bytes are ignored
        length = int.from_bytes(payload[position : position + 4], "big")
        if length == _MAGIC_HEAD:  # another stream begins
            position += HEADER_SIZE
            continue
        position += 4
        if not 0 < length <= len(payload) - position:
            raise CorruptRecordError(
                f"snappy block of {length} bytes, {len(payload) - position} left", where
            )
        blocks.append(_block(payload[position : position + length], where, limit, size))
        size += len(blocks[-1])
        position += length
    return b"".join(blocks)


def _block(block: bytes, where: LogPosition, limit: int, size_before: int) -> bytes:
    try:
        announced = announced_size(block)
        checked_size(size_before + announced, limit, where)  # before the library allocates it
        return bytes(decompress_snappy_block(block, announced))
    except SnappyError as error:
        raise CorruptRecordError(str(error), where) from error
