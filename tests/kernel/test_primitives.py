"""What C provides for the compiled kernel, interpreted: checked by Python's own libraries."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kafkalog_reader.kernel import primitives

if TYPE_CHECKING:
    from pathlib import Path

LEAST, GREATEST = -(2**63), 2**63 - 1


@pytest.mark.parametrize("left", [0, 1, -1, LEAST, GREATEST, 1 << 40])
@pytest.mark.parametrize("right", [0, 1, -1, LEAST, GREATEST])
def test_sums_wrap_as_those_of_int64(left: int, right: int) -> None:
    one, other = np.array([left], np.int64), np.array([right], np.int64)
    assert primitives.wrapping_add(left, right) == int((one + other)[0])
    assert primitives.wrapping_subtract(left, right) == int((one - other)[0])


def test_checksums_cover_a_part() -> None:
    source = memoryview(b"xx123456789yy")
    assert primitives.crc32c(source, 2, 11) == 0xE3069283, "check value of CRC-32C"
    assert primitives.crc32(source, 2, 11) == zlib.crc32(b"123456789") == 0xCBF43926
    assert primitives.crc32c(source, 2, 2) == primitives.crc32(source, 2, 2) == 0


def test_numbers_are_big_endian() -> None:
    source = memoryview(b"\0\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8")
    assert primitives.int16_at(source, 1) == -2
    assert primitives.int32_at(source, 1) == int.from_bytes(source[1:5], "big", signed=True)
    assert primitives.uint32_at(source, 1) == 0xFFFEFDFC
    assert primitives.int64_at(source, 1) == int.from_bytes(source[1:9], "big", signed=True)


def test_part_is_copied_to_its_place() -> None:
    target = bytearray(b"......")
    primitives.copy(memoryview(target), 1, memoryview(b"abcdef"), 2, 3, 5)
    assert target == b".cde.."


@pytest.mark.parametrize(
    ("position", "size", "read"),
    [(0, 4, b"0123"), (3, 4, b"3456"), (8, 4, b"89"), (10, 4, b""), (0, 0, b"")],
)
def test_file_is_read_at_a_position(tmp_path: Path, position: int, size: int, read: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    target = bytearray(6)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        done = primitives.read_at(descriptor, memoryview(target), size, position)
    finally:
        os.close(descriptor)
    assert done == len(read)
    assert target == read + bytes(6 - len(read))


def test_failed_read_gives_what_was_read_before() -> None:
    reading, writing = os.pipe()  # preadv on a pipe is an error
    try:
        assert primitives.read_at(reading, memoryview(bytearray(4)), 4, 0) == 0
    finally:
        os.close(reading)
        os.close(writing)


def test_nothing_is_decompressed_by_its_address() -> None:
    nothing = memoryview(b"")
    assert primitives.decompress(1, 0, 0, nothing, 0, 0, nothing, 0) == -1
    assert primitives.snappy_function() == 0
