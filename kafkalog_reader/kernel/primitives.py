"""What C provides for the compiled kernel, in Python for the interpreted one.

The twin of ``primitives.pxd``. A view replaces a pointer: it is only indexed, from 0, within its
bounds.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_INT64 = struct.Struct(">q")
_UINT32 = struct.Struct(">I")
_INT32 = struct.Struct(">i")
_INT16 = struct.Struct(">h")


def prepare_checksums() -> None:
    """Do nothing: the libraries need no preparation."""


@cache
def _castagnoli() -> Callable[..., int]:
    import crc32c as library  # a tenth of a second of start-up, and the compiled kernel needs none

    return library.crc32c


read_bytes = read_int64 = read_int32 = read_int16 = read_int8 = memoryview
write_bytes = write_int64 = write_int32 = write_uint32 = write_int16 = write_int8 = memoryview


def read_at(descriptor: int, target: memoryview, size: int, position: int) -> int:
    """Read up to ``size`` bytes of a file; fewer if it ends or reading fails."""
    done = 0
    with contextlib.suppress(OSError):
        while done < size and (
            count := os.preadv(descriptor, [target[done:size]], position + done)
        ):
            done += count
    return done


def wrapping_add(left: int, right: int) -> int:
    """The sum of two int64 as Java and C compute it: modulo 2^64."""
    return ((left + right + (1 << 63)) & 0xFFFF_FFFF_FFFF_FFFF) - (1 << 63)


def wrapping_subtract(left: int, right: int) -> int:
    """The difference of two int64 as Java and C compute it: modulo 2^64."""
    return wrapping_add(left, -right)


def crc32c(source: memoryview, start: int, stop: int) -> int:
    """CRC-32C of ``source[start:stop]``."""
    return _castagnoli()(source[start:stop])


crc32c_by_tables = crc32c


def decompress(
    codec: int,
    function: int,
    context: int,
    source: memoryview,
    position: int,
    size: int,
    target: memoryview,
    room: int,
) -> int:
    """Do nothing: Python cannot call a function by its address. -1, as for a damaged block."""
    del codec, function, context, source, position, size, target, room
    return -1


def snappy_function() -> int:
    """0: interpreted, snappy comes from a Python library, which has no address to call."""
    return 0


def crc32(source: memoryview, start: int, stop: int) -> int:
    """CRC-32 of ``source[start:stop]``."""
    return zlib.crc32(source[start:stop])


def copy(
    target: memoryview,
    target_position: int,
    source: memoryview,
    source_position: int,
    size: int,
    room: int,
) -> None:
    """Copy ``size`` bytes. ``room``: bytes left on both sides, at least ``size``."""
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
