# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Recognises the usual compressed payloads: one block whose size is known before it is read.

Those take one call of a codec library. The caller decodes all others step by step.
Sources: LZ4 frame format 1.6, snappy-java SnappyOutputStream, RFC 8878 section 3.1.1.
"""

from __future__ import annotations

import cython
from cython.cimports.kafkalog_reader.kernel.codes import (
    SHAPE_GZIP,
    SHAPE_LZ4_BLOCK,
    SHAPE_OTHER,
    SHAPE_SNAPPY_BLOCK,
    SHAPE_STORED,
    SHAPE_ZSTD_FRAME,
)
from cython.cimports.kafkalog_reader.kernel.primitives import (
    int64_at,
    read_bytes,
    read_int16,
    uint32_at,
    write_int32,
    write_int64,
)


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
def zstd_header_size(descriptor: cython.int) -> cython.int:
    """Bytes of magic, descriptor, window, dictionary id and content size together."""
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def zstd_content_size(
    source: cython.p_const_uchar, header_end: cython.Py_ssize_t, descriptor: cython.int
) -> cython.longlong:
    """The content size at the end of a frame's header; -1 if it is absent or absurd."""
    flag: cython.int = descriptor >> 6
    if flag == 0 and not descriptor & 0x20:
        return -1
    size: cython.int = 1 << flag
    content_size: cython.longlong = little_endian(source, header_end - size, size)
    if flag == 1:
        content_size += 256
    if content_size < 0:
        content_size = 0x7FFF_FFFF
        content_size <<= 31
    return content_size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def zstd_frame(
    source: cython.p_const_uchar, at: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> tuple[cython.Py_ssize_t, cython.longlong]:
    """Where the frame at ``at`` ends, -1 if it is not whole, and its maximum decompressed size.

    A content size in the header counts only up to what the blocks can hold.
    """
    descriptor: cython.int
    kind: cython.int
    header: cython.longlong
    size: cython.longlong
    declared: cython.longlong
    bound: cython.longlong = 0
    last: cython.bint = False
    largest_block: cython.longlong = 128 << 10
    zstd_magic: cython.longlong = 0xFD2F_B528
    skippable_magic: cython.longlong = 0x184D_2A5
    if end - at < 8:
        return -1, 0
    header = little_endian(source, at, 4)
    if header >> 4 == skippable_magic:
        size = little_endian(source, at + 4, 4)
        if size > end - at - 8:
            return -1, 0
        return at + 8 + size, 0
    descriptor = source[at + 4]
    if header != zstd_magic or zstd_header_size(descriptor) > end - at:
        return -1, 0
    at += zstd_header_size(descriptor)
    declared = zstd_content_size(source, at, descriptor)
    while not last:
        if end - at < 3:
            return -1, 0
        header = little_endian(source, at, 3)
        at += 3
        last = (header & 1) != 0
        kind = header >> 1 & 3
        size = header >> 3
        bound += largest_block if kind == 2 else size
        if kind == 1:  # one byte, repeated
            size = 1
        if kind == 3 or size > end - at:
            return -1, 0
        at += size
    if declared > bound:
        return -1, 0
    if declared >= 0:
        bound = declared
    if descriptor & 4:  # a checksum of the content
        if end - at < 4:
            return -1, 0
        at += 4
    return at, bound


def measure_zstd(payload: cython.const[cython.uchar][::1]) -> tuple[int, int]:
    """Count the frames that fill ``payload``, and bound what they decompress to.

    Returns:
        the number of frames, 0 if ``payload`` holds anything but whole frames; and the maximum
        number of bytes in their blocks.
    """
    source: cython.p_const_uchar = read_bytes(payload)
    at: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = len(payload)
    frames: cython.longlong = 0
    total: cython.longlong = 0
    bound: cython.longlong
    with cython.nogil:
        while 0 <= at < end:
            at, bound = zstd_frame(source, at, end)
            total += bound
            frames += 1
    return (frames if at == end else 0), total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def lz4_block_size(
    source: cython.p_const_uchar, position: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The size of the only block of a frame as Kafka writes it; 0 for any other frame.

    Such a block begins 11 bytes after ``position`` and decompresses to at most 64 KiB.
    """
    frame_start: cython.longlong = 0x4060_184D_2204  # magic, flags 60, block size 40
    size: cython.longlong
    if end - position < 15:
        return 0
    size = little_endian(source, position + 7, 4)
    # 82 is the right checksum of these flags; the end mark follows the only block
    if (
        little_endian(source, position, 6) == frame_start
        and source[position + 6] == 0x82
        and 0 < size <= 0x1_0000
        and size <= end - position - 15
        and little_endian(source, position + 11 + size, 4) == 0
    ):
        return size
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def single_block(
    codec: cython.int,
    source: cython.p_const_uchar,
    position: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    room: cython.longlong,
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t, cython.longlong]:
    """The only block of a payload that one call of its codec's function decompresses.

    That is a gzip member with the shortest header, anything in snappy, an LZ4 frame of one
    block, or one zstd frame without a dictionary and with a window of at most 128 MiB: a call
    for the whole frame would not check the window.

    Returns:
        where the block starts, its size, 0 for any other payload, and the maximum number of bytes
        that it decompresses to: ``room``, which the function respects, if the block does not say.
    """
    size: cython.longlong = 0
    stop: cython.Py_ssize_t
    descriptor: cython.int
    gzip_start: cython.longlong = 0x0008_8B1F  # magic, deflate, no flags
    if codec == 1 and end - position >= 20 and little_endian(source, position, 4) == gzip_start:
        return position + 10, end - position - 10, little_endian(source, end - 4, 4)
    if codec == 2:
        return position, end - position, room
    if codec == 3:
        size = lz4_block_size(source, position, end)
        return position + 11, size, 0x1_0000
    if codec == 4 and end - position >= 8:
        stop, size = zstd_frame(source, position, end)
        descriptor = source[position + 4]
        if (
            stop == end
            and size > 0  # a skippable frame has no content
            and not descriptor & 0x0B  # of a dictionary's number, or reserved
            and (descriptor & 0x20 or source[position + 5] <= 17 << 3)
        ):
            return position, end - position, size
    return position, 0, 0


def find_shapes(
    buffer: cython.const[cython.uchar][::1],
    codec: cython.const[cython.short][::1],
    start: cython.longlong[::1],
    stop: cython.longlong[::1],
    shape: cython.int[::1],
    bound: cython.longlong[::1],
) -> None:
    """Look at the payloads of many batches.

    Args:
        buffer: holds the payloads.
        codec: bits 0 to 2 of each batch's attributes.
        start: of each payload; becomes that of its only block.
        stop: of each payload; becomes that of its only block.
        shape: receives ``codes.SHAPE_…``.
        bound: receives the maximum decompressed size, if the shape gives it.
    """
    source: cython.p_const_uchar = read_bytes(buffer)
    available: cython.longlong = len(buffer)
    count: cython.Py_ssize_t = len(codec)
    if min(len(start), len(stop), len(shape), len(bound)) < count:
        raise ValueError(f"columns shorter than {count}")
    codecs: cython.pointer[cython.const[cython.short]] = read_int16(codec)
    starts: cython.p_longlong = write_int64(start)
    stops: cython.p_longlong = write_int64(stop)
    shapes: cython.p_int = write_int32(shape)
    bounds: cython.p_longlong = write_int64(bound)
    batch: cython.Py_ssize_t
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    size: cython.longlong
    magic: cython.longlong
    byte: cython.longlong
    shift: cython.int
    snappy_magic: cython.longlong = -0x7DAC_B1BE_AFAF_A700
    with cython.nogil:
        for batch in range(count):
            shapes[batch] = SHAPE_OTHER
            bounds[batch] = 0
            at = starts[batch]
            end = stops[batch]
            if at < 0 or end < at or end > available:
                continue
            if codecs[batch] == 0:
                shapes[batch] = SHAPE_STORED
                bounds[batch] = end - at
            elif codecs[batch] == 1:  # says its size nowhere; most are one member
                shapes[batch] = SHAPE_GZIP
            elif codecs[batch] == 3:
                size = lz4_block_size(source, at, end)
                if size > 0:
                    shapes[batch] = SHAPE_LZ4_BLOCK
                    starts[batch] = at + 11
                    stops[batch] = at + 11 + size
                    bounds[batch] = 0x1_0000
            elif codecs[batch] == 2 and end - at >= 21:
                size = uint32_at(source, at + 16)
                if int64_at(source, at) == snappy_magic and size > 0 and size == end - at - 20:
                    at += 20
                    magic = 0  # the announced size: a varint without a sign
                    shift = 0
                    while at < end and shift < 35:
                        byte = source[at]
                        at += 1
                        magic |= (byte & 0x7F) << shift
                        shift += 7
                        if byte < 0x80:
                            shapes[batch] = SHAPE_SNAPPY_BLOCK
                            starts[batch] = end - size
                            bounds[batch] = magic
                            break
            elif codecs[batch] == 4:
                at, size = zstd_frame(source, at, end)
                if at == end:
                    shapes[batch] = SHAPE_ZSTD_FRAME
                    bounds[batch] = size
