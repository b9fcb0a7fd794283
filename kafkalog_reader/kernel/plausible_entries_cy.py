# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Whether the fields of what may begin a batch or a message contradict each other.

No condition here may fail for what a broker or client of any release wrote: what is dropped is
never looked at again.
"""

from __future__ import annotations

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import (
    int16_at,
    int32_at,
    int64_at,
    keep_plausible_eights,
)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def looks_like_batch(
    source: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    left: cython.longlong,
    lowest: cython.longlong,
    highest: cython.longlong,
) -> cython.bint:
    """Whether 61 bytes are a header of magic 2 that contradicts nothing."""
    length: cython.longlong = int32_at(source, at + 8)
    base_offset: cython.longlong = int64_at(source, at)
    delta: cython.longlong = int32_at(source, at + 23)
    count: cython.longlong = int32_at(source, at + 57)
    codec: cython.int = source[at + 22] & 0x07
    if length < 49 or length > left - 12 or source[at + 21] != 0 or codec > 4:
        return False
    if base_offset < lowest or base_offset > highest:
        return False
    if delta < 0 or count < 0 or count > delta + 1 or delta > highest - base_offset:
        return False
    if codec == 0 and 7 * count > length - 49:
        return False
    return (
        int32_at(source, at + 12) >= -1
        and int64_at(source, at + 43) >= -1
        and int16_at(source, at + 51) >= -1
        and int32_at(source, at + 53) >= -1
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def looks_like_message(
    source: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    available: cython.Py_ssize_t,
    left: cython.longlong,
    lowest: cython.longlong,
    highest: cython.longlong,
) -> cython.bint:
    """Whether an entry of magic 0 or 1 whose key and value fill it begins here.

    Its first 26 bytes are ``available``, and whether it fits into ``left`` bytes is looked at.
    """
    length: cython.longlong = int32_at(source, at + 8)
    magic: cython.Py_ssize_t = source[at + 16]
    attributes: cython.int = source[at + 17]
    key: cython.Py_ssize_t = at + 18 + 8 * magic
    rest: cython.longlong = length - 14 - 8 * magic
    offset: cython.longlong = int64_at(source, at)
    key_length: cython.longlong
    value_length: cython.longlong
    if rest < 0 or length > left - 12 or (attributes & 0xF4) != 0:
        return False
    if (attributes & 0x08) != 0 and magic == 0:
        return False
    if offset < lowest or offset > highest or available - key < 4:
        return False
    key_length = int32_at(source, key)
    if key_length < -1 or key_length > rest:
        return False
    key_length = max(key_length, 0)
    if key_length > available - key - 8:
        return True  # the value's length is in a later window; the CRC will tell
    value_length = int32_at(source, key + 4 + key_length)
    return value_length >= -1 and key_length + max(value_length, 0) == rest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def keep_plausible(
    positions: cython.p_int,
    count: cython.Py_ssize_t,
    source: cython.p_const_uchar,
    size: cython.Py_ssize_t,
    left: cython.longlong,
    lowest: cython.longlong,
    highest: cython.longlong,
) -> cython.Py_ssize_t:
    """Keep those of ``count`` positions where an entry may begin; how many there are.

    Args:
        positions: in order, each with 26 bytes behind it, or more.
        count: how many.
        source: the bytes.
        size: how many can be read.
        left: no entry reaches beyond so many bytes from the start of ``source``.
        lowest: smallest base offset of a batch, or offset of a message.
        highest: greatest offset.
    """
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    eights: cython.Py_ssize_t = count // 8 * 8
    kept: cython.Py_ssize_t
    fits: cython.bint
    while eights > 0 and positions[eights - 1] > size - 61:
        eights -= 8
    kept = keep_plausible_eights(positions, eights, source, size, left, lowest, highest)
    if kept < 0:
        kept = eights = 0
    for row in range(eights, count):
        at = positions[row]
        if source[at + 16] == 2:
            fits = size - at >= 61 and looks_like_batch(source, at, left - at, lowest, highest)
        else:
            fits = source[at + 16] < 2 and looks_like_message(
                source, at, size, left - at, lowest, highest
            )
        positions[kept] = cython.cast(cython.int, at)
        kept += fits
    return kept
