"""Decompresses one raw snappy block with Arrow's copy of Google's library, which Kafka also uses.

Source: google/snappy format_description.txt.
"""

from __future__ import annotations

from typing import Final

_MAX_VARINT: Final = 5


class SnappyError(ValueError):
    """The bytes are not a snappy block."""


def announced_size(block: bytes | memoryview) -> int:
    """The decompressed size that a block states.

    Raises:
        SnappyError: the size is cut short or too long.
    """
    size = 0
    for number, byte in enumerate(block[:_MAX_VARINT]):
        size |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return size
    raise SnappyError("snappy block without a length")


def decompress_snappy_block(block: bytes | memoryview, size: int) -> memoryview:
    """Decompress a block.

    Args:
        block: the whole block.
        size: from ``announced_size``; this much memory is allocated.

    Raises:
        SnappyError: it does not decompress.
    """
    import pyarrow as pa  # slow to import, and most commands do not need it

    try:
        content = pa.Codec("snappy").decompress(block, decompressed_size=size)
    except OSError as error:
        raise SnappyError(f"snappy block does not decompress: {error}") from error
    return memoryview(content).cast("B")
