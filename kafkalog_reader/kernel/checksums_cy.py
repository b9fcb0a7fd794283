# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Checksums of buffers, and the one bit that explains a wrong checksum."""

from __future__ import annotations

from array import array

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import (
    crc32,
    crc32c,
    crc32c_by_tables,
    prepare_checksums,
    read_bytes,
    write_uint32,
)

prepare_checksums()


def checksum_of_messages(source: cython.const[cython.uchar][::1]) -> int:
    """CRC-32 of a buffer, as in messages of magic 0 and 1."""
    return crc32(read_bytes(source), 0, len(source))


def checksum(source: cython.const[cython.uchar][::1], *, by_tables: cython.bint = False) -> int:
    """CRC-32C of a buffer, by the processor's instruction if it has one, otherwise by tables."""
    data: cython.p_const_uchar = read_bytes(source)
    if by_tables:
        return crc32c_by_tables(data, 0, len(source))
    return crc32c(data, 0, len(source))


def checksums(
    source: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    stops: cython.const[cython.longlong][::1],
    found: cython.longlong[::1],
) -> None:
    """CRC-32C of each ``source[start:stop]``, into ``found``."""
    data: cython.p_const_uchar = read_bytes(source)
    size: cython.longlong = len(source)
    number: cython.Py_ssize_t
    if not len(starts) == len(stops) == len(found):
        raise ValueError("starts, stops and found differ in length")
    for number in range(len(starts)):
        if not 0 <= starts[number] <= stops[number] <= size:
            raise ValueError(f"{starts[number]} to {stops[number]} of a buffer of {size} bytes")
    with cython.nogil:
        for number in range(len(found)):
            found[number] = crc32c(data, starts[number], stops[number])


def bits_back(syndrome: cython.uint, polynomial: cython.uint, covered: cython.longlong) -> int:
    """How many bits before the end one wrong bit is that explains two different checksums.

    A CRC is linear: what one wrong bit leaves in an empty register is the polynomial, and zero
    bytes move it on from there until it is the difference of the checksums, or the batch ends.

    Args:
        syndrome: the two checksums, one exclusive-or the other.
        polynomial: reflected, without its highest term.
        covered: how many bytes to look back. 64 MiB take a fifth of a second.

    Returns:
        0 for the last bit; -1 if no single bit explains the difference.
    """
    table = array("I", bytes(4 * 256))
    targets = array("I", bytes(4 * 8))
    for value in range(256):
        register: cython.uint = value
        for _ in range(8):
            register = (register >> 1) ^ (polynomial if register & 1 else 0)
        table[value] = register
    register = syndrome
    for bit in range(8):
        targets[bit] = register
        register = _bit_before(register, polynomial)
    return _steps_between(write_uint32(table), write_uint32(targets), polynomial, covered)


@cython.cfunc
def _bit_before(register: cython.uint, polynomial: cython.uint) -> cython.uint:
    """The register before the last zero bit was processed."""
    low_bits: cython.uint = 0x7FFF_FFFF
    if register >> 31:
        return (((register ^ polynomial) & low_bits) << 1) | 1
    return register << 1


@cython.cfunc
def _steps_between(
    table: cython.p_uint,
    targets: cython.p_uint,
    register: cython.uint,
    covered: cython.longlong,
) -> cython.longlong:
    """How many zero bits lead from a register to the first target; -1 if no whole bytes do.

    Args:
        table: what a zero byte makes of the lowest byte of a register.
        targets: 8 registers, each one zero bit before the previous one.
        register: where to begin.
        covered: after how many bytes to give up.
    """
    step: cython.longlong
    bit: cython.int
    hits: cython.int
    for step in range(covered):
        hits = 0
        for bit in range(8):
            hits += register == targets[bit]
        if hits:
            for bit in range(8):
                if register == targets[bit]:
                    return 8 * step + bit
        register = (register >> 8) ^ table[register & 0xFF]
    return -1
