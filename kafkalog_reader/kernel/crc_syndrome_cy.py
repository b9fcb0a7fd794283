# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""The register of a CRC run backwards, to find the one bit that explains a wrong checksum."""

from __future__ import annotations

import cython


def bits_back(syndrome: cython.uint, polynomial: cython.uint, most: cython.longlong) -> int:
    """How many bits before the end a single wrong bit makes the difference of two checksums.

    Args:
        syndrome: the two checksums, one exclusive-or the other.
        polynomial: reflected, without its highest term.
        most: how far back to look.

    Returns:
        0 for the last bit that went in; -1 where none explains it.
    """
    register: cython.uint = syndrome
    top: cython.uint = 1 << 31
    low_bits: cython.uint = 0x7FFF_FFFF
    step: cython.longlong = 0
    found: cython.longlong = -1
    with cython.nogil:
        while step < most:
            if register == polynomial:  # what one bit alone leaves in an empty register
                found = step
                break
            if (register & top) != 0:
                register = (((register ^ polynomial) & low_bits) << 1) | 1
            else:
                register = register << 1
            step += 1
    return found
