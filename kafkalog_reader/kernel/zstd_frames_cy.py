# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""How much Zstandard frames can become, read from their block headers before anything is allocated.

The library cannot say it: Kafka writes frames without a content size, and a block of four bytes
can stand for 128 KiB. Source: RFC 8878, sections 3.1.1 and 3.1.2.
"""

from __future__ import annotations

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import read_bytes


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def little_endian(
    source: cython.p_const_uchar, position: cython.Py_ssize_t, size: cython.int
) -> cython.longlong:
    value: cython.longlong = 0
    byte: cython.int
    for byte in range(size):
        value |= cython.cast(cython.longlong, source[position + byte]) << (8 * byte)
    return value


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def frame_header_size(descriptor: cython.int) -> cython.int:
    """Of magic, descriptor, window, dictionary id and content size."""
    single_segment: cython.int = descriptor >> 5 & 1
    dictionary_id: cython.int = descriptor & 3
    content_size: cython.int = descriptor >> 6
    size: cython.int = 5 + 1 - single_segment
    if dictionary_id == 3:
        size += 4
    else:
        size += dictionary_id
    if content_size > 0:
        size += 1 << content_size
    else:
        size += single_segment
    return size


def measure_frames(payload: cython.const[cython.uchar][::1]) -> tuple[int, int]:
    """Count the whole frames that fill ``payload``, and bound what they decompress to.

    Returns:
        the number of frames, 0 when ``payload`` is not made of whole frames alone; and the most
        bytes that their blocks can stand for.
    """
    source: cython.p_const_uchar = read_bytes(payload)
    end: cython.Py_ssize_t = len(payload)
    at: cython.Py_ssize_t = 0
    frames: cython.int = 0
    bound: cython.longlong = 0
    magic: cython.longlong
    size: cython.longlong
    header: cython.longlong
    descriptor: cython.int
    kind: cython.int
    last: cython.bint
    largest_block: cython.longlong = 128 << 10
    zstd_magic: cython.longlong = 0xFD2F_B528
    whole: cython.bint = True
    with cython.nogil:
        while at < end and whole:
            whole = False
            if end - at < 8:
                break
            magic = little_endian(source, at, 4)
            if magic >> 4 == 0x184D2A5:  # a skippable frame
                size = little_endian(source, at + 4, 4)
                if size <= end - at - 8:
                    at += 8 + size
                    whole = True
                continue
            descriptor = source[at + 4]
            if magic != zstd_magic or frame_header_size(descriptor) > end - at:
                break
            at += frame_header_size(descriptor)
            last = False
            while not last and end - at >= 3:
                header = little_endian(source, at, 3)
                at += 3
                last = (header & 1) != 0
                kind = header >> 1 & 3
                size = header >> 3
                bound += largest_block if kind == 2 else size
                if kind == 1:  # one byte, repeated
                    size = 1
                if kind == 3 or size > end - at:
                    last = False
                    break
                at += size
            if not last:
                break
            if descriptor & 4:  # a checksum of the content
                if end - at < 4:
                    break
                at += 4
            frames += 1
            whole = True
    return (frames if whole else 0), bound
