"""What the kernel needs of the machine: the Python twin of ``primitives.pxd``.

The compiled kernel takes these from C, the interpreted one from here. A view stands for a pointer:
it is only ever indexed, from 0, within its bounds.
"""

from __future__ import annotations

import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_INT64 = struct.Struct(">q")
_UINT32 = struct.Struct(">I")
_INT32 = struct.Struct(">i")
_INT16 = struct.Struct(">h")


_ALL_ONES: Final = 0xFFFF_FFFF
_BLOCK: Final = 16
_HEADER: Final = 61


def prepare_checksums() -> None:
    """Nothing: the libraries prepare themselves."""


prepare_crc_shift = prepare_checksums


@cache
def _castagnoli() -> Callable[..., int]:
    import crc32c as library  # a tenth of a second of start-up, and the compiled kernel needs none

    return library.crc32c


read_bytes = read_int64 = read_int32 = read_int16 = read_int8 = memoryview
write_bytes = write_int64 = write_int32 = write_uint32 = write_int16 = write_int8 = memoryview


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
    """Nothing: Python has no way to call a function by its address; -1 as for a damaged block."""
    del codec, function, context, source, position, size, target, room
    return -1


def snappy_function() -> int:
    """0: what the compiled kernel has of its own, Python has in a library, not at an address."""
    return 0


def crc32(source: memoryview, start: int, stop: int) -> int:
    """CRC-32 of ``source[start:stop]``."""
    return zlib.crc32(source[start:stop])


def extend_crc(castagnoli: int, state: int, source: memoryview, start: int, stop: int) -> int:
    """The register of a CRC after some more bytes; a checksum is a register inverted."""
    compute = _castagnoli() if castagnoli else zlib.crc32
    return compute(source[start:stop], state ^ _ALL_ONES) ^ _ALL_ONES


def shift_crc(castagnoli: int, state: int, count: int) -> int:
    """The register after ``count`` zero bytes."""
    power = 0
    while count:
        if count & 1:
            state = _apply(_zeros(castagnoli, power), state)
        count >>= 1
        power += 1
    return state


def _apply(columns: tuple[int, ...], state: int) -> int:
    result = 0
    for column in columns:
        if state & 1:
            result ^= column
        state >>= 1
    return result


@cache
def _zeros(castagnoli: int, power: int) -> tuple[int, ...]:
    """What ``2 ** power`` zero bytes make of each bit of a register."""
    if power:
        half = _zeros(castagnoli, power - 1)
        return tuple(_apply(half, column) for column in half)
    return tuple(extend_crc(castagnoli, 1 << bit, memoryview(b"\0"), 0, 1) for bit in range(32))


def mark_candidates(
    marks: memoryview,
    source: memoryview,
    position: int,
    count: int,
    size: int,
    lowest: int,
    highest: int,
    left: int,
) -> None:
    """Mark which of ``count`` positions may begin an entry; all that have no whole header."""
    for at in range(position, position + count):
        marks[at - position] = size - at < _HEADER or (
            source[at + 16] <= 2
            and lowest >> 56 <= source[at] <= highest >> 56
            and 14 <= _UINT32.unpack_from(source, at + 8)[0] <= left
        )


def next_mark(marks: memoryview, position: int, count: int) -> int:
    """The first marked position from ``position`` on, or ``count``."""
    while position < count and not marks[position]:
        position += 1
    return position


def note_registers(
    castagnoli: int, registers: memoryview, state: int, source: memoryview, size: int
) -> None:
    """Note the register of a CRC before every 16 bytes, and behind the last whole ones."""
    for block in range(size // _BLOCK):
        registers[block] = state
        state = extend_crc(castagnoli, state, source, _BLOCK * block, _BLOCK * (block + 1))
    registers[size // _BLOCK] = state


def register_at(
    castagnoli: int, registers: memoryview, source: memoryview, at: int, size: int
) -> int:
    """The register at any position, from those that were noted."""
    block = at // _BLOCK
    return extend_crc(castagnoli, registers[block], source, _BLOCK * block, at)


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
