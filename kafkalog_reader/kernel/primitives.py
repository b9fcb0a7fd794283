"""What the kernel needs of the machine: the Python twin of ``primitives.pxd``.

The compiled kernel takes these from C, the interpreted one from here. A view stands for a pointer:
it is only ever indexed, from 0, within its bounds.
"""

from __future__ import annotations

import struct

import crc32c as crc32c_library

_INT64 = struct.Struct(">q")
_UINT32 = struct.Struct(">I")
_INT32 = struct.Struct(">i")
_INT16 = struct.Struct(">h")


def prepare_crc32c() -> None:
    """Nothing: the library prepares itself."""


read_bytes = read_int64 = read_int32 = read_int16 = memoryview
write_bytes = write_int64 = write_int32 = write_int16 = write_int8 = memoryview


def wrapping_add(left: int, right: int) -> int:
    """The sum of two int64 as Java and C compute it: modulo 2^64."""
    return ((left + right + (1 << 63)) & 0xFFFF_FFFF_FFFF_FFFF) - (1 << 63)


def crc32c(source: memoryview, start: int, stop: int) -> int:
    """CRC-32C of ``source[start:stop]``."""
    return crc32c_library.crc32c(source[start:stop])


crc32c_by_tables = crc32c


def copy(
    target: memoryview,
    target_position: int,
    source: memoryview,
    source_position: int,
    size: int,
    room: int,
) -> None:
    """Copy ``size`` bytes; ``room``: how many both sides have left, at least ``size``."""
    target[target_position : target_position + size] = source[
        source_position : source_position + size
    ]


def int64_at(source: memoryview, position: int) -> int:
    value: int = _INT64.unpack_from(source, position)[0]
    return value


def uint32_at(source: memoryview, position: int) -> int:
    value: int = _UINT32.unpack_from(source, position)[0]
    return value


def int32_at(source: memoryview, position: int) -> int:
    value: int = _INT32.unpack_from(source, position)[0]
    return value


def int16_at(source: memoryview, position: int) -> int:
    value: int = _INT16.unpack_from(source, position)[0]
    return value
