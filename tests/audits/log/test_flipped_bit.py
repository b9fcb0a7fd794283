"""One wrong bit is found from two checksums; two wrong bits are never mistaken for one."""

from __future__ import annotations

import zlib
from random import Random

import crc32c
import pytest

from fixtures.builder.stored_messages import build_message
from kafkalog_reader.audits.log.flipped_bit import FlippedBit, flipped_bit
from tests.format.vectors import PLAIN

MESSAGE = build_message(b"k", b"value", magic=1)


def located(content: bytes, magic: int) -> FlippedBit | None:
    if magic == 2:
        stored, computed = content[17:21], crc32c.crc32c(content[21:])
    else:
        stored, computed = content[12:16], zlib.crc32(content[16:])
    return flipped_bit(int.from_bytes(stored, "big"), computed, len(content), magic)


def flipped(content: bytes, *bits: int) -> bytes:
    changed = bytearray(content)
    for bit in bits:
        changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


@pytest.mark.parametrize(("content", "magic", "crc"), [(PLAIN, 2, 17), (MESSAGE, 1, 12)])
def test_every_single_bit_is_located(content: bytes, magic: int, crc: int) -> None:
    covered = 21 if magic == 2 else 16
    for bit in [*range(8 * crc, 8 * crc + 32), *range(8 * covered, 8 * len(content))]:
        position = bit // 8
        assert located(flipped(content, bit), magic) == FlippedBit(
            position=position, bit=bit % 8, in_crc=position < crc + 4
        )


def test_two_bits_are_never_one() -> None:
    random = Random(7)
    for _ in range(300):
        bits = random.sample(range(8 * 21, 8 * len(PLAIN)), 2)
        assert located(flipped(PLAIN, *bits), 2) is None


def test_a_right_checksum_and_an_impossible_size_have_no_answer() -> None:
    assert located(PLAIN, 2) is None
    assert flipped_bit(1, 6, 20, 2) is None
    assert flipped_bit(1, 6, 1 << 31, 2) is None
