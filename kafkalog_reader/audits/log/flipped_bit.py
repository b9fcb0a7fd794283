"""Finds the single bit that explains a wrong CRC, from the two checksums alone.

A CRC is linear: stored and computed differ by the CRC of the error. The effect of one wrong bit
depends only on the number of bytes after it, so no data is needed. CRC-32C keeps Hamming distance 4
up to 256 MiB: two wrong bits never look like one. Batches above 64 MiB get no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafkalog_reader.kernel import checksums

MAX_COVERED: Final = 64 << 20
_CRC32C: Final = 0x82F63B78
_CRC32: Final = 0xEDB88320


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedBit:
    """One bit of a batch that was flipped.

    Attributes:
        position: of its byte, from the start of the batch.
        bit: 0 is the least significant.
        in_crc: whether the bit is in the stored checksum itself, so that the records are sound.
    """

    position: int
    bit: int
    in_crc: bool = False


def flipped_bit(stored: int, computed: int, size_in_bytes: int, magic: int) -> FlippedBit | None:
    """Find the bit of a batch or message whose flip makes the CRC valid.

    Args:
        stored: the CRC in the header.
        computed: the CRC of the bytes.
        size_in_bytes: of the whole batch.
        magic: 0 or 1 (CRC-32 from byte 16 on) or 2 (CRC-32C from byte 21 on).

    Returns:
        the bit; None if no single bit explains the difference.
    """
    syndrome = stored ^ computed
    crc_position, covered_from, polynomial = (17, 21, _CRC32C) if magic == 2 else (12, 16, _CRC32)
    covered = size_in_bytes - covered_from
    if syndrome == 0 or not 0 <= covered <= MAX_COVERED:
        return None
    if syndrome & (syndrome - 1) == 0:
        bit = syndrome.bit_length() - 1
        return FlippedBit(position=crc_position + 3 - bit // 8, bit=bit % 8, in_crc=True)
    steps = checksums.bits_back(syndrome, polynomial, covered)
    if steps < 0:
        return None
    byte, bit = divmod(steps, 8)  # bit 0 of a byte enters first, bit 7 last
    return FlippedBit(position=size_in_bytes - 1 - byte, bit=7 - bit)
