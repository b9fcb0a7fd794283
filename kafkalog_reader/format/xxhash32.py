"""xxHash, 32 bits, seed 0: the checksum inside LZ4 frames. Source: the xxHash specification 0.1.1.

It is used for short headers, and for block checksums, which Kafka's own writers omit.
"""

from __future__ import annotations

import struct
from typing import Final

_PRIME_1: Final[int] = 0x9E3779B1
_PRIME_2: Final[int] = 0x85EBCA77
_PRIME_3: Final[int] = 0xC2B2AE3D
_PRIME_4: Final[int] = 0x27D4EB2F
_PRIME_5: Final[int] = 0x165667B1
_MASK: Final[int] = 0xFFFF_FFFF
_STRIPE: Final = struct.Struct("<4I")


def compute_xxhash32(content: bytes) -> int:
    """Compute the unsigned 32-bit xxHash of ``content`` with seed 0."""
    stripes_end = len(content) // _STRIPE.size * _STRIPE.size
    if stripes_end:
        lanes = [(_PRIME_1 + _PRIME_2) & _MASK, _PRIME_2, 0, -_PRIME_1 & _MASK]
        for stripe in _STRIPE.iter_unpack(content[:stripes_end]):
            lanes = [_round(lane, word) for lane, word in zip(lanes, stripe, strict=True)]
        value = sum(map(_rotate, lanes, (1, 7, 12, 18)))
    else:
        value = _PRIME_5
    value = value + len(content) & _MASK
    return _avalanche(_finish(value, content[stripes_end:]))


def _round(lane: int, word: int) -> int:
    return _rotate(lane + word * _PRIME_2 & _MASK, 13) * _PRIME_1 & _MASK


def _finish(value: int, tail: bytes) -> int:
    words_end = len(tail) // 4 * 4
    for (word,) in struct.iter_unpack("<I", tail[:words_end]):
        value = _rotate(value + word * _PRIME_3 & _MASK, 17) * _PRIME_4 & _MASK
    for byte in tail[words_end:]:
        value = _rotate(value + byte * _PRIME_5 & _MASK, 11) * _PRIME_1 & _MASK
    return value


def _avalanche(value: int) -> int:
    value = (value ^ value >> 15) * _PRIME_2 & _MASK
    value = (value ^ value >> 13) * _PRIME_3 & _MASK
    return value ^ value >> 16


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK
