"""What the kernel needs of the machine: the Python twin of ``primitives.pxd``.

The compiled kernel takes these from C, the interpreted one from here. A view stands for a pointer:
it is only ever indexed, from 0, within its bounds.
"""

from __future__ import annotations

import contextlib
import os
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
_MESSAGE_STRIDE: Final = 4


def prepare_checksums() -> None:
    """Nothing: the libraries prepare themselves."""


prepare_crc_shift = prepare_checksums


@cache
def _castagnoli() -> Callable[..., int]:
    import crc32c as library  # a tenth of a second of start-up, and the compiled kernel needs none

    return library.crc32c


read_bytes = read_int64 = read_int32 = read_int16 = read_int8 = memoryview
write_bytes = write_int64 = write_int32 = write_uint32 = write_int16 = write_int8 = memoryview


def read_at(descriptor: int, target: memoryview, size: int, position: int) -> int:
    """Read up to ``size`` bytes of a file; fewer where it ends or where reading fails."""
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


def list_candidates(
    positions: memoryview,
    marks: memoryview,
    source: memoryview,
    position: int,
    count: int,
    size: int,
    lowest: int,
    highest: int,
    left: int,
) -> int:
    """List which of ``count`` positions may begin an entry, also those without a whole header."""
    del marks
    listed = 0
    for at in range(position, position + count):
        if size - at < _HEADER or (
            source[at + 16] <= 2
            and lowest >> 56 <= source[at] <= highest >> 56
            and 14 <= _UINT32.unpack_from(source, at + 8)[0] <= left
        ):
            positions[listed] = at
            listed += 1
    return listed


def keep_plausible_eights(
    positions: memoryview,
    count: int,
    source: memoryview,
    size: int,
    left: int,
    lowest: int,
    highest: int,
) -> int:
    """Of a multiple of eight positions how many may begin an entry, moved to the front.

    -1: there are no instructions for it.
    """
    del positions, count, source, size, left, lowest, highest
    return -1


def note_registers(
    registers: memoryview,
    state: int,
    message_registers: memoryview,
    message_state: int,
    source: memoryview,
    size: int,
) -> None:
    """Note the registers of both CRCs before every 16 bytes, and behind the last whole ones."""
    for block in range(size // _BLOCK + 1):
        registers[block] = state
        message_registers[_MESSAGE_STRIDE * block] = message_state
        start, stop = _BLOCK * block, min(_BLOCK * (block + 1), size)
        state = extend_crc(True, state, source, start, stop)
        message_state = extend_crc(False, message_state, source, start, stop)


def register_at(
    castagnoli: int,
    at: int,
    source: memoryview,
    size: int,
    registers: memoryview,
    message_registers: memoryview,
) -> int:
    """The register at any position, from those that were noted."""
    block = at // _BLOCK
    state = registers[block] if castagnoli else message_registers[_MESSAGE_STRIDE * block]
    return extend_crc(castagnoli, state, source, _BLOCK * block, at)


def find_differences(
    differences: memoryview,
    positions: memoryview,
    count: int,
    source: memoryview,
    size: int,
    registers: memoryview,
    message_registers: memoryview,
) -> None:
    """What the registers at the ends of entries differ by from what their CRCs demand.

    Of entries that end behind the ``size`` bytes: the register that is demanded there.
    """
    for row in range(count):
        at = positions[row]
        is_batch = source[at + 16] == 2
        start, field = (at + 21, at + 17) if is_batch else (at + 16, at + 12)
        end = at + 12 + _UINT32.unpack_from(source, at + 8)[0]
        state = register_at(is_batch, start, source, size, registers, message_registers)
        stored: int = _UINT32.unpack_from(source, field)[0]
        state = shift_crc(is_batch, state ^ _ALL_ONES, end - start)
        difference = state ^ stored ^ _ALL_ONES
        if end <= size:
            difference ^= register_at(is_batch, end, source, size, registers, message_registers)
        differences[row] = difference


def find_registers(
    found: memoryview,
    ends: memoryview,
    count: int,
    source: memoryview,
    size: int,
    registers: memoryview,
    message_registers: memoryview,
) -> None:
    """The registers at positions; those of messages at their complements."""
    for row in range(count):
        is_batch = ends[row] >= 0
        at = ends[row] if is_batch else ~ends[row]
        found[row] = register_at(is_batch, at, source, size, registers, message_registers)


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
