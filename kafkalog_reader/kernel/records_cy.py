# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
"""Decodes the records of many batches (magic 2, uncompressed) into Arrow's layout in one call.

Every length and count is checked against the bytes left before it is used, and every write against
the room left. An inconsistent batch produces no rows; the others of the call do. Source: Kafka
4.0, DefaultRecord and DefaultRecordBatch.
"""

from __future__ import annotations

import cython
from cython.cimports.kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from cython.cimports.kafkalog_reader.kernel.codes import (
    BAD_BATCH_END,
    BAD_COUNT,
    BAD_HEADER_KEY_LENGTH,
    BAD_HEADER_VALUE_LENGTH,
    BAD_HEADERS_COUNT,
    BAD_KEY_LENGTH,
    BAD_OFFSET_DELTA,
    BAD_OFFSETS,
    BAD_RECORD_END,
    BAD_RECORD_LENGTH,
    BAD_VALUE_LENGTH,
    BAD_VARINT,
    NO_ROOM,
    SOUND,
)
from cython.cimports.kafkalog_reader.kernel.primitives import (
    copy,
    read_int64,
    wrapping_add,
    write_int64,
)
from cython.cimports.kafkalog_reader.kernel.record_columns_cy import (
    BinaryColumn,
    RecordColumns,
    append,
    fill_others,
    forget_entries,
)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def read_long_varint(
    source: cython.p_const_uchar,
    position: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    bits: cython.int,
) -> tuple[cython.longlong, cython.Py_ssize_t]:
    """A zigzag varint of any length: at most 5 bytes for 32 bits, 10 for 64."""
    value: cython.ulonglong = 0
    byte: cython.ulonglong
    shift: cython.int = 0
    mask: cython.ulonglong = 0xFFFF_FFFF_FFFF_FFFF
    if bits == 32:
        mask = 0xFFFF_FFFF
    while position < end and shift < bits:
        byte = source[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= mask  # the last byte may hold more bits than Kafka keeps
            half: cython.longlong = cython.cast(cython.longlong, value >> 1)
            sign: cython.longlong = cython.cast(cython.longlong, value & 1)
            return half ^ -sign, position
        shift += 7
    return 0, -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def read_varint(
    source: cython.p_const_uchar,
    position: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    bits: cython.int,
) -> tuple[cython.longlong, cython.Py_ssize_t]:
    """A zigzag varint and the position after it, which is -1 if the varint does not end."""
    low: cython.longlong
    if end - position >= 2:  # nearly all are one byte or two
        low = source[position]
        if low < 0x80:
            return (low >> 1) ^ -(low & 1), position + 1
        if source[position + 1] < 0x80:
            low = (low & 0x7F) | cython.cast(cython.longlong, source[position + 1]) << 7
            return (low >> 1) ^ -(low & 1), position + 2
    return read_long_varint(source, position, end, bits)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def to_microseconds(milliseconds: cython.longlong) -> cython.longlong:
    """A timestamp of Kafka as Spark and Arrow have it; beyond their range the nearest one."""
    greatest: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
    thousandth: cython.longlong = 9_223_372_036_854_775
    if milliseconds > thousandth:
        return greatest
    if milliseconds < -thousandth:
        return -greatest - 1
    return milliseconds * 1000


def microseconds(
    milliseconds: cython.const[cython.longlong][::1], result: cython.longlong[::1]
) -> None:
    """Fill ``result`` with ``milliseconds`` as microseconds, saturated."""
    if len(result) < len(milliseconds):
        raise ValueError(f"{len(milliseconds)} timestamps do not fit into {len(result)}")
    source: cython.pointer[cython.const[cython.longlong]] = read_int64(milliseconds)
    target: cython.p_longlong = write_int64(result)
    row: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(milliseconds)
    with cython.nogil:
        for row in range(count):
            target[row] = to_microseconds(source[row])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def has_room(column: BinaryColumn, entries: cython.longlong, size: cython.longlong) -> cython.bint:
    """Whether this many more entries with this many bytes fit."""
    return (
        entries <= column._entries_capacity - column.entries
        and size <= column._capacity - column.size
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def has_room_for_batch(
    out: RecordColumns, records: cython.longlong, size: cython.longlong
) -> cython.bint:
    """Whether a batch of this many records and bytes fits, headers not counted."""
    return (
        records <= out._capacity - out.rows
        and (not out._with_keys or has_room(out._keys, records, size))
        and (not out._with_values or has_room(out._values, records, size))
        and (not out._with_headers or has_room(out._header_keys, 0, size))
        and (not out._with_headers or has_room(out._header_values, 0, size))
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def mark_null(validity: cython.p_uchar, entry: cython.Py_ssize_t) -> cython.void:
    validity[entry >> 3] = validity[entry >> 3] & ~(1 << (entry & 7)) & 0xFF


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def decode_headers(
    source: cython.p_const_uchar,
    available: cython.Py_ssize_t,
    count: cython.longlong,
    at: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    out: RecordColumns,
) -> cython.Py_ssize_t:
    """Append the headers of one record; return the position after them, or minus the problem."""
    length: cython.longlong
    if count < 0 or count > (stop - at) // 2:  # a header has two bytes or more
        return -BAD_HEADERS_COUNT
    if out._with_headers and not (
        has_room(out._header_keys, count, 0) and has_room(out._header_values, count, 0)
    ):
        return -NO_ROOM
    while count > 0:
        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            return -BAD_VARINT
        if length < 0 or length > stop - at:
            return -BAD_HEADER_KEY_LENGTH
        if out._with_headers:
            append(out._header_keys, source, at, length, available)
        at += length
        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            return -BAD_VARINT
        if length < -1 or length > stop - at:
            return -BAD_HEADER_VALUE_LENGTH
        if out._with_headers:
            append(out._header_values, source, at, length, available)
        if length > 0:
            at += length
        count -= 1
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def decode_records(
    source: cython.p_const_uchar,
    available: cython.Py_ssize_t,
    start: cython.longlong,
    size: cython.longlong,
    base_offset: cython.longlong,
    last_offset_delta: cython.longlong,
    base_timestamp: cython.longlong,
    max_timestamp: cython.longlong,
    attributes: cython.int,
    base_sequence: cython.longlong,
    count: cython.longlong,
    out: RecordColumns,
) -> cython.int:
    """Append the ``count`` records in ``size`` bytes from ``start`` on, all of them or none.

    ``source`` has ``available`` bytes; the other arguments are those of the batch's header.
    Returns SOUND, NO_ROOM or what is wrong (``codes``), at ``out.problem_position``.
    """
    greatest: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
    first: cython.Py_ssize_t = out.rows
    out.problem_position = 0
    if count == 0:  # the cleaner keeps the header of a batch it emptied
        return SOUND
    if start < 0 or size < 0 or start > available or size > available - start:
        return BAD_BATCH_END
    if count < 0 or count > size // 7:  # a record has seven bytes or more
        return BAD_COUNT
    if base_offset < 0 or last_offset_delta < 0 or base_offset > greatest - last_offset_delta:
        return BAD_OFFSETS
    if not has_room_for_batch(out, count, size):
        return NO_ROOM

    # What changes from record to record is in local variables: a write through a pointer to bytes
    # might change any attribute, so C would read all of them again.
    at: cython.Py_ssize_t = start
    end: cython.Py_ssize_t = start + size
    record: cython.Py_ssize_t = start
    stop: cython.Py_ssize_t
    row: cython.Py_ssize_t = first
    last: cython.Py_ssize_t = first + count
    length: cython.longlong
    offset_delta: cython.longlong
    timestamp: cython.longlong
    problem: cython.int = SOUND
    offsets: cython.p_longlong = out._offset
    timestamps: cython.p_longlong = out._timestamp
    with_keys: cython.bint = out._with_keys
    with_values: cython.bint = out._with_values
    with_others: cython.bint = (
        out._with_timestamp_type or out._with_sequence or out._with_control_type
    )
    with_headers: cython.bint = out._with_headers
    is_append_time: cython.bint = (attributes & LOG_APPEND_TIME_BIT) != 0
    key_ends: cython.p_int = out._keys._offsets
    key_validity: cython.p_uchar = out._keys._validity
    key_data: cython.p_uchar = out._keys._data
    key_room: cython.Py_ssize_t = out._keys._capacity
    key_size: cython.Py_ssize_t = out._keys.size
    key_nulls: cython.Py_ssize_t = 0
    value_ends: cython.p_int = out._values._offsets
    value_validity: cython.p_uchar = out._values._validity
    value_data: cython.p_uchar = out._values._data
    value_room: cython.Py_ssize_t = out._values._capacity
    value_size: cython.Py_ssize_t = out._values.size
    value_nulls: cython.Py_ssize_t = 0
    header_entries: cython.Py_ssize_t = 0
    header_key_size: cython.Py_ssize_t = 0
    header_value_size: cython.Py_ssize_t = 0
    header_nulls: cython.Py_ssize_t = 0
    if with_headers:
        header_entries = out._header_keys.entries
        header_key_size = out._header_keys.size
        header_value_size = out._header_values.size
        header_nulls = out._header_values.nulls
    while row < last:
        record = at
        length, at = read_varint(source, at, end, 32)
        if at < 0:
            problem = BAD_VARINT
            break
        if length < 1 or length > end - at:
            problem = BAD_RECORD_LENGTH
            break
        stop = at + length
        timestamp, at = read_varint(source, at + 1, stop, 64)  # behind the unused attributes
        if at < 0:
            problem = BAD_VARINT
            break
        offset_delta, at = read_varint(source, at, stop, 32)
        if at < 0:
            problem = BAD_VARINT
            break
        if offset_delta < 0 or offset_delta > last_offset_delta:
            problem = BAD_OFFSET_DELTA
            break
        offsets[row] = base_offset + offset_delta
        if is_append_time:
            timestamps[row] = to_microseconds(max_timestamp)
        else:
            timestamps[row] = to_microseconds(wrapping_add(base_timestamp, timestamp))

        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            problem = BAD_VARINT
            break
        if length < -1 or length > stop - at:
            problem = BAD_KEY_LENGTH
            break
        if with_others:
            fill_others(out, row, attributes, base_sequence, offset_delta, source, at, length)
        if length < 0:
            if with_keys:
                mark_null(key_validity, row)
                key_nulls += 1
        else:
            if with_keys:
                copy(
                    key_data, key_size, source, at, length,
                    min(key_room - key_size, available - at),
                )  # fmt: skip
                key_size += length
            at += length
        if with_keys:
            key_ends[row + 1] = cython.cast(cython.int, key_size)

        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            problem = BAD_VARINT
            break
        if length < -1 or length > stop - at:
            problem = BAD_VALUE_LENGTH
            break
        if length < 0:
            if with_values:
                mark_null(value_validity, row)
                value_nulls += 1
        else:
            if with_values:
                copy(
                    value_data, value_size, source, at, length,
                    min(value_room - value_size, available - at),
                )  # fmt: skip
                value_size += length
            at += length
        if with_values:
            value_ends[row + 1] = cython.cast(cython.int, value_size)

        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            problem = BAD_VARINT
            break
        if length != 0:
            at = decode_headers(source, available, length, at, stop, out)
            if at < 0:
                problem = cython.cast(cython.int, -at)
                break
        if at != stop:
            problem = BAD_RECORD_END
            break
        row += 1
        if with_headers:
            out._headers_offsets[row] = cython.cast(cython.int, out._header_keys.entries)
    if problem == SOUND and at != end:
        record = at
        problem = BAD_BATCH_END
    if problem != SOUND:
        out.problem_position = record - cython.cast(cython.Py_ssize_t, start)
        if with_keys:
            forget_entries(out._keys, first, row + 1)
        if with_values:
            forget_entries(out._values, first, row + 1)
        if with_headers:
            forget_entries(out._header_values, header_entries, out._header_values.entries)
            out._header_keys.entries = out._header_values.entries = header_entries
            out._header_keys.size = header_key_size
            out._header_values.size = header_value_size
            out._header_values.nulls = header_nulls
        return problem
    out.rows = row
    if with_keys:
        out._keys.entries = row
        out._keys.size = key_size
        out._keys.nulls += key_nulls
    if with_values:
        out._values.entries = row
        out._values.size = value_size
        out._values.nulls += value_nulls
    return SOUND
