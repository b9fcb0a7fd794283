# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""The register of a CRC run backwards, to find the one bit that explains a wrong checksum.

A step back is a linear map of 32 bits, so what one bit leaves far back is looked for as a discrete
logarithm: giant steps back from the checksums meet small ones forward from the bit (Shanks).
"""

from __future__ import annotations

from array import array

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import write_int32, write_uint32

_FEW = cython.declare(cython.longlong, 1 << 12)
"""So many steps are gone one by one."""


def bits_back(syndrome: cython.uint, polynomial: cython.uint, most: cython.longlong) -> int:
    """How many bits before the end a single wrong bit makes the difference of two checksums.

    Args:
        syndrome: the two checksums, one exclusive-or the other.
        polynomial: reflected, without its highest term.
        most: how far back to look, at most 2^40.

    Returns:
        0 for the last bit that went in; -1 where none explains it.
    """
    register: cython.uint = syndrome
    step: cython.longlong
    if most > 1 << 40:
        raise ValueError(f"{most} bits")
    if most > _FEW and syndrome != 0:
        return _bits_far_back(syndrome, polynomial, most)
    for step in range(most):
        if register == polynomial:  # what one bit alone leaves in an empty register
            return step
        register = _back(register, polynomial)
    return -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _back(register: cython.uint, polynomial: cython.uint) -> cython.uint:
    top: cython.uint = 1 << 31
    low_bits: cython.uint = 0x7FFF_FFFF
    if (register & top) != 0:
        return (((register ^ polynomial) & low_bits) << 1) | 1
    return register << 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _moved(steps: cython.p_uint, register: cython.uint) -> cython.uint:
    """What many steps make of a register, from what they make of each of its bits."""
    bit: cython.int
    one: cython.uint = 1
    moved: cython.uint = 0
    for bit in range(32):
        if (register >> bit) & one:
            moved ^= steps[bit]
    return moved


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(register: cython.uint, bits: cython.int) -> cython.Py_ssize_t:
    """Where to look for a register among so many bits' worth of slots."""
    factor: cython.ulonglong = 0x9E37_79B1
    low_bits: cython.ulonglong = 0xFFFF_FFFF
    return ((register * factor) & low_bits) >> (32 - bits)


@cython.cfunc
def _bits_far_back(
    syndrome: cython.uint, polynomial: cython.uint, most: cython.longlong
) -> cython.longlong:
    bits: cython.int = 1  # of the number of small steps
    number: cython.int
    step: cython.longlong
    slot: cython.Py_ssize_t
    register: cython.uint = polynomial
    one: cython.uint = 1
    while 1 << 2 * bits < most:
        bits += 1
    small_steps: cython.longlong = 1 << bits
    last_slot: cython.Py_ssize_t = 4 * small_steps - 1
    held = array("I", bytes(4 * (last_slot + 1)))
    held_steps = array("i", bytes(4 * (last_slot + 1)))
    columns = array("I", bytes(4 * 32))
    squared = array("I", bytes(4 * 32))
    registers: cython.p_uint = write_uint32(held)  # 0 is none
    steps: cython.p_int = write_int32(held_steps)
    giant: cython.p_uint = write_uint32(columns)
    twice: cython.p_uint = write_uint32(squared)
    for step in range(small_steps):
        slot = _slot(register, bits + 2)
        while registers[slot] != 0:
            slot = (slot + 1) & last_slot
        registers[slot] = register
        steps[slot] = cython.cast(cython.int, step)
        register = (register >> 1) ^ (polynomial if register & one else 0)
    for number in range(32):
        giant[number] = _back(one << number, polynomial)
    for _ in range(bits):
        for number in range(32):
            twice[number] = _moved(giant, giant[number])
        for number in range(32):
            giant[number] = twice[number]
    register = syndrome
    for step in range(0, most, small_steps):
        slot = _slot(register, bits + 2)
        while registers[slot] != 0:
            if registers[slot] == register:
                step += steps[slot]
                return step if step < most else -1
            slot = (slot + 1) & last_slot
        register = _moved(giant, register)
    return -1
