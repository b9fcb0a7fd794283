"""What a stored checksum says of a batch without its timestamps, without reading its bytes again.

A CRC is linear: the CRCs of two batches of one size differ by that of their difference alone. So
what the timestamps contribute can be taken away, and what is left is equal for equal contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

CRC32: Final = 0xEDB8_8320
"""Of messages, formats 0 and 1."""
CRC32C: Final = 0x82F6_3B78
"""Of record batches."""
_TOP: Final = np.uint32(1 << 31)
_BYTES: Final = 8


def without_fields(
    crc: NDArray[np.int64],
    fields: Iterable[NDArray[np.int64]],
    bytes_behind: NDArray[np.int64],
    polynomial: int,
) -> NDArray[np.int64]:
    """The checksums as if all ``fields`` were 0.

    Args:
        crc: as stored, one for each batch.
        fields: of 8 bytes, one after another in the batch.
        bytes_behind: how many bytes of each batch the checksum covers after the fields.
        polynomial: reflected, ``CRC32`` or ``CRC32C``.
    """
    table = _table(polynomial)
    register = np.zeros(len(crc), np.uint32)
    for field in fields:
        for shift in range(56, -1, -8):
            byte = (field >> shift & 0xFF).astype(np.uint32)
            register = table[(register ^ byte) & np.uint32(0xFF)] ^ register >> np.uint32(8)
    sizes, which = np.unique(bytes_behind, return_inverse=True)
    shifts = _power(sizes, polynomial)[which]
    return crc ^ _product(register, shifts, polynomial).astype(np.int64)


def _table(polynomial: int) -> NDArray[np.uint32]:
    entries = np.arange(256, dtype=np.uint32)
    for _ in range(_BYTES):
        entries = _times_x(entries, polynomial)
    return entries


def _times_x(value: NDArray[np.uint32], polynomial: int) -> NDArray[np.uint32]:
    """Each polynomial times x, reflected: the top bit is the coefficient of 1."""
    carry = np.where(value & np.uint32(1), np.uint32(polynomial), np.uint32(0))
    return value >> np.uint32(1) ^ carry


def _product(
    one: NDArray[np.uint32], other: NDArray[np.uint32], polynomial: int
) -> NDArray[np.uint32]:
    found = np.zeros(len(one), np.uint32)
    for bit in range(32):
        is_set = one & (_TOP >> np.uint32(bit)) != 0
        found ^= np.where(is_set, other, np.uint32(0))
        other = _times_x(other, polynomial)
    return found


def _power(sizes: NDArray[np.int64], polynomial: int) -> NDArray[np.uint32]:
    """X to the power of 8 times each size, which is not negative."""
    found = np.full(len(sizes), _TOP, np.uint32)
    factor = np.full(1, _TOP >> np.uint32(8), np.uint32)
    left = sizes.copy()
    while left.any():
        odd = np.flatnonzero(left & 1)
        found[odd] = _product(found[odd], np.broadcast_to(factor, len(odd)), polynomial)
        factor = _product(factor, factor, polynomial)
        left >>= 1
    return found
