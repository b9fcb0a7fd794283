# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Reads the fields of messages of magic 0 and 1, single ones and those inside wrappers.

Every length is checked against the bytes left before it is used. Source: Kafka 4.0,
common.record.LegacyRecord and AbstractLegacyRecordBatch.
"""

from __future__ import annotations

import cython
from cython.cimports.kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    LENGTH_AT,
    LENGTH_END,
    MAGIC_AT,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_TIMESTAMP_AT,
    MIN_LENGTH_0,
    MIN_LENGTH_1,
    MIN_SIZE_0,
    MIN_SIZE_1,
)
from cython.cimports.kafkalog_reader.kernel.codes import (
    BAD_INNER_OFFSET,
    BAD_KEY_LENGTH,
    BAD_MESSAGE_END,
    BAD_MESSAGE_LENGTH,
    BAD_MESSAGE_MAGIC,
    BAD_NESTING,
    BAD_VALUE_LENGTH,
    BAD_WRAPPER_OFFSET,
    BAD_WRAPPER_VALUE,
    SOUND,
)
from cython.cimports.kafkalog_reader.kernel.primitives import int32_at, int64_at, read_bytes


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def parse_fields(
    source: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> tuple[cython.Py_ssize_t, cython.longlong, cython.Py_ssize_t, cython.longlong, cython.int]:
    """Positions and lengths of the key and the value of the message in [start, end); its problem.

    The message must have at least the minimum size of its magic. A length is -1 for null.
    """
    at: cython.Py_ssize_t = start + MESSAGE_TIMESTAMP_AT
    key: cython.Py_ssize_t
    key_length: cython.longlong
    value_length: cython.longlong
    if source[start + MAGIC_AT] == 1:
        at += 8
    key_length = int32_at(source, at)
    key = at + 4
    if key_length < -1 or key_length > end - key - 4:
        return 0, 0, 0, 0, BAD_KEY_LENGTH
    at = key + 4
    if key_length > 0:
        at += key_length
    value_length = int32_at(source, at - 4)
    if value_length < -1 or value_length > end - at:
        return 0, 0, 0, 0, BAD_VALUE_LENGTH
    if at + max(value_length, 0) != end:
        return 0, 0, 0, 0, BAD_MESSAGE_END
    return key, key_length, at, value_length, SOUND


def find_values(
    source: cython.const[cython.uchar][::1],
    position: cython.const[cython.longlong][::1],
    size: cython.const[cython.longlong][::1],
    start: cython.longlong[::1],
    stop: cython.longlong[::1],
    problem: cython.int[::1],
) -> None:
    """Find where the values of whole messages of magic 0 or 1 lie in ``source``.

    Args:
        source: where the messages are.
        position: of each.
        size: of each, at least the minimum of its magic.
        start: filled with where the value begins.
        stop: filled with where it ends; -1 if it is null.
        problem: filled with ``codes.SOUND`` or what is wrong with the message.
    """
    data: cython.p_const_uchar = read_bytes(source)
    count: cython.Py_ssize_t = len(position)
    if min(len(size), len(start), len(stop), len(problem)) < count:
        raise ValueError(f"columns too short for {count} messages")
    row: cython.Py_ssize_t
    at: cython.longlong
    value: cython.Py_ssize_t
    length: cython.longlong
    for row in range(count):
        at = position[row]
        if at < 0 or size[row] < MIN_SIZE_0 or at > len(source) or size[row] > len(source) - at:
            raise ValueError(f"message of {size[row]} bytes at {at} of {len(source)}")
        if data[at + MAGIC_AT] == 1 and size[row] < MIN_SIZE_1:
            raise ValueError(f"message of {size[row]} bytes and magic 1")
        _, _, value, length, problem[row] = parse_fields(data, at, at + size[row])
        start[row] = value
        stop[row] = value + length if length >= 0 else -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def measure_wrapper(
    content: cython.p_const_uchar,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    magic: cython.int,
    offset: cython.longlong,
) -> tuple[cython.longlong, cython.longlong, cython.int, cython.Py_ssize_t]:
    """The lowest offset in a wrapper, what all offsets are relative to, and what is wrong.

    Also where: the position of the faulty inner message. The wrapper is of ``magic`` and
    ``offset``, the chain of inner messages in [start, stop) of ``content``.
    """
    at: cython.Py_ssize_t = start
    length: cython.longlong
    inner: cython.longlong = 0
    lowest: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
    highest: cython.longlong = -1
    base: cython.longlong = 0
    last: cython.Py_ssize_t = start
    if at == stop:
        return 0, 0, BAD_WRAPPER_VALUE, start
    while at < stop:
        last = at
        if stop - at < MIN_SIZE_0:
            return 0, 0, BAD_MESSAGE_LENGTH, at
        length = int32_at(content, at + LENGTH_AT)
        if content[at + MAGIC_AT] > 1:
            return 0, 0, BAD_MESSAGE_MAGIC, at
        if length < MIN_LENGTH_0 or length > stop - at - LENGTH_END:
            return 0, 0, BAD_MESSAGE_LENGTH, at
        if content[at + MAGIC_AT] == 1 and length < MIN_LENGTH_1:
            return 0, 0, BAD_MESSAGE_LENGTH, at
        if (content[at + MESSAGE_ATTRIBUTES_AT] & CODEC_MASK) != 0:
            return 0, 0, BAD_NESTING, at
        inner = int64_at(content, at)
        if inner < 0:
            return 0, 0, BAD_INNER_OFFSET, at
        lowest = min(lowest, inner)
        highest = max(highest, inner)
        at += LENGTH_END + length
    if highest > inner or highest - lowest > 0x7FFF_FFFF:
        return 0, 0, BAD_INNER_OFFSET, last
    if magic == 1 and offset != 0:  # 0: some clients never set it
        if offset < inner:
            return 0, 0, BAD_WRAPPER_OFFSET, last
        base = offset - inner
    return lowest, base, SOUND, last
