# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""The records of many batches (magic 2, uncompressed) decoded into Arrow's layout in one call.

Every length and count is compared with the bytes left before it is believed, and what is written
is compared with the room left. A batch that contradicts itself leaves no row behind; the others of
the call come out. Source: Kafka 4.0, DefaultRecord and DefaultRecordBatch.
"""

from __future__ import annotations

import cython
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
    int16_at,
    read_bytes,
    read_int16,
    read_int32,
    read_int64,
    wrapping_add,
    write_bytes,
    write_int32,
    write_int64,
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
    """A zigzag varint and the position behind it, which is -1 when the varint does not end."""
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
    """Kafka's timestamp as Spark's and Arrow's; beyond their range the nearest they have."""
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
def clear_bit(bitmap: cython.p_uchar, row: cython.Py_ssize_t) -> cython.void:
    bitmap[row >> 3] = bitmap[row >> 3] & ~(1 << (row & 7)) & 0xFF


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def set_bits(
    bitmap: cython.p_uchar, start: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.void:
    row: cython.Py_ssize_t
    for row in range(start, stop):
        bitmap[row >> 3] = bitmap[row >> 3] | (1 << (row & 7))


def decode_records(
    source: cython.const[cython.uchar][::1], batches: object, first: cython.Py_ssize_t, out: object
) -> int:
    """Append the records of ``batches`` from number ``first`` on to the columns of ``out``.

    Args:
        source: bytes that hold every batch's uncompressed records.
        batches: numpy arrays of one length: ``payload_position`` and ``payload_size`` (within
            ``source``, int64), ``base_offset``, ``last_offset_delta``, ``base_timestamp``,
            ``max_timestamp``, ``attributes``, ``base_sequence``, ``records_count`` as in the
            header; written are ``row_end`` (rows in ``out`` after the batch), ``problem``
            (``codes``) and ``problem_position`` (of the record at fault, within the payload).
        first: where to go on after a call that ran out of room.
        out: columns with room, see ``tables.record_columns``; not wanted are those of length 0.

    Returns:
        the first batch not decoded for want of room; the number of batches when all are.
    """
    data: cython.p_const_uchar = read_bytes(source)
    available: cython.Py_ssize_t = len(source)
    batches_count: cython.Py_ssize_t = len(batches.payload_position)
    if first < 0:
        raise ValueError(f"batch {first}")
    payload_position: cython.pointer[cython.const[cython.longlong]] = read_int64(
        batches.payload_position
    )
    payload_size: cython.pointer[cython.const[cython.longlong]] = read_int64(batches.payload_size)
    base_offset: cython.pointer[cython.const[cython.longlong]] = read_int64(batches.base_offset)
    last_offset_delta: cython.pointer[cython.const[cython.int]] = read_int32(
        batches.last_offset_delta
    )
    base_timestamp: cython.pointer[cython.const[cython.longlong]] = read_int64(
        batches.base_timestamp
    )
    max_timestamp: cython.pointer[cython.const[cython.longlong]] = read_int64(batches.max_timestamp)
    attributes: cython.pointer[cython.const[cython.short]] = read_int16(batches.attributes)
    base_sequence: cython.pointer[cython.const[cython.int]] = read_int32(batches.base_sequence)
    records_count: cython.pointer[cython.const[cython.int]] = read_int32(batches.records_count)
    row_end: cython.p_longlong = write_int64(batches.row_end)
    problems: cython.p_int = write_int32(batches.problem)
    problem_position: cython.p_longlong = write_int64(batches.problem_position)

    offset: cython.p_longlong = write_int64(out.offset)
    timestamp: cython.p_longlong = write_int64(out.timestamp)
    sequence: cython.p_int = write_int32(out.sequence)
    control_type: cython.p_int = write_int32(out.control_type)
    key_offsets: cython.p_int = write_int32(out.key_offsets)
    key_valid: cython.p_uchar = write_bytes(out.key_valid)
    key_data: cython.p_uchar = write_bytes(out.key_data)
    value_offsets: cython.p_int = write_int32(out.value_offsets)
    value_valid: cython.p_uchar = write_bytes(out.value_valid)
    value_data: cython.p_uchar = write_bytes(out.value_data)
    headers_offsets: cython.p_int = write_int32(out.headers_offsets)
    headers_valid: cython.p_uchar = write_bytes(out.headers_valid)
    header_key_offsets: cython.p_int = write_int32(out.header_key_offsets)
    header_key_data: cython.p_uchar = write_bytes(out.header_key_data)
    header_value_offsets: cython.p_int = write_int32(out.header_value_offsets)
    header_value_valid: cython.p_uchar = write_bytes(out.header_value_valid)
    header_value_data: cython.p_uchar = write_bytes(out.header_value_data)
    with_sequence: cython.bint = len(out.sequence) > 0
    with_control_type: cython.bint = len(out.control_type) > 0
    with_key: cython.bint = len(out.key_offsets) > 0
    with_value: cython.bint = len(out.value_offsets) > 0
    with_headers: cython.bint = len(out.headers_offsets) > 0
    rows_capacity: cython.Py_ssize_t = len(out.offset)
    key_capacity: cython.Py_ssize_t = len(out.key_data)
    value_capacity: cython.Py_ssize_t = len(out.value_data)
    headers_capacity: cython.Py_ssize_t = max(len(out.header_key_offsets) - 1, 0)
    header_key_capacity: cython.Py_ssize_t = len(out.header_key_data)
    header_value_capacity: cython.Py_ssize_t = len(out.header_value_data)
    row: cython.Py_ssize_t = out.rows
    key_bytes: cython.Py_ssize_t = out.key_bytes
    value_bytes: cython.Py_ssize_t = out.value_bytes
    headers: cython.Py_ssize_t = out.headers
    header_key_bytes: cython.Py_ssize_t = out.header_key_bytes
    header_value_bytes: cython.Py_ssize_t = out.header_value_bytes
    null_keys: cython.Py_ssize_t = out.null_keys
    null_values: cython.Py_ssize_t = out.null_values
    null_headers: cython.Py_ssize_t = out.null_headers
    null_header_values: cython.Py_ssize_t = out.null_header_values

    batch: cython.Py_ssize_t = first
    at: cython.Py_ssize_t
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    record: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    first_row: cython.Py_ssize_t
    first_key_bytes: cython.Py_ssize_t
    first_value_bytes: cython.Py_ssize_t
    first_header: cython.Py_ssize_t
    first_header_key_bytes: cython.Py_ssize_t
    first_header_value_bytes: cython.Py_ssize_t
    first_null_keys: cython.Py_ssize_t
    first_null_values: cython.Py_ssize_t
    first_null_headers: cython.Py_ssize_t
    first_null_header_values: cython.Py_ssize_t
    size: cython.longlong
    count: cython.longlong
    number: cython.longlong
    header: cython.longlong
    length: cython.longlong
    key_length: cython.longlong
    timestamp_delta: cython.longlong
    offset_delta: cython.longlong
    last_delta: cython.longlong
    base: cython.longlong
    sequence_number: cython.longlong
    log_append_time: cython.bint
    control: cython.bint
    problem: cython.int
    greatest: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
    sequences: cython.longlong = 0x8000_0000  # after 2^31 - 1 comes 0
    with cython.nogil:
        while batch < batches_count:
            problem = SOUND
            first_row = row
            first_key_bytes = key_bytes
            first_value_bytes = value_bytes
            first_header = headers
            first_header_key_bytes = header_key_bytes
            first_header_value_bytes = header_value_bytes
            first_null_keys = null_keys
            first_null_values = null_values
            first_null_headers = null_headers
            first_null_header_values = null_header_values
            start = payload_position[batch]
            size = payload_size[batch]
            count = records_count[batch]
            if count == 0:  # the cleaner keeps the header of a batch it emptied
                row_end[batch] = row
                problems[batch] = SOUND
                batch += 1
                continue
            base = base_offset[batch]
            last_delta = last_offset_delta[batch]
            record = start
            if start < 0 or size < 0 or start > available or size > available - start:
                problem = BAD_BATCH_END
                count = 0
            elif count < 0 or count > size // 7:  # a record has seven bytes or more
                problem = BAD_COUNT
                count = 0
            elif base < 0 or last_delta < 0 or base > greatest - last_delta:
                problem = BAD_OFFSETS
                count = 0
            elif (
                count > rows_capacity - row
                or (with_key and size > key_capacity - key_bytes)
                or (with_value and size > value_capacity - value_bytes)
                or (with_headers and size > header_key_capacity - header_key_bytes)
                or (with_headers and size > header_value_capacity - header_value_bytes)
            ):
                break
            at = start
            end = start + size
            log_append_time = (attributes[batch] & 0x08) != 0
            control = (attributes[batch] & 0x20) != 0
            for number in range(count):
                record = at
                length, at = read_varint(data, at, end, 32)
                if at < 0:
                    problem = BAD_VARINT
                    break
                if length < 1 or length > end - at:
                    problem = BAD_RECORD_LENGTH
                    break
                stop = at + length
                at += 1  # attributes, unused
                timestamp_delta, at = read_varint(data, at, stop, 64)
                if at < 0:
                    problem = BAD_VARINT
                    break
                offset_delta, at = read_varint(data, at, stop, 32)
                if at < 0:
                    problem = BAD_VARINT
                    break
                if offset_delta < 0 or offset_delta > last_delta:
                    problem = BAD_OFFSET_DELTA
                    break
                offset[row] = base + offset_delta
                if log_append_time:
                    timestamp[row] = to_microseconds(max_timestamp[batch])
                else:
                    timestamp[row] = to_microseconds(
                        wrapping_add(base_timestamp[batch], timestamp_delta)
                    )
                if with_sequence:
                    sequence_number = -1
                    if base_sequence[batch] >= 0:
                        sequence_number = base_sequence[batch] + offset_delta
                        if sequence_number > 0x7FFF_FFFF:
                            sequence_number -= sequences
                    sequence[row] = cython.cast(cython.int, sequence_number)

                key_length, at = read_varint(data, at, stop, 32)
                if at < 0:
                    problem = BAD_VARINT
                    break
                if key_length < -1 or key_length > stop - at:
                    problem = BAD_KEY_LENGTH
                    break
                if with_control_type:
                    control_type[row] = -1
                    if control and key_length >= 4:
                        control_type[row] = int16_at(data, at + 2) & 0xFFFF
                if with_key:
                    if key_length < 0:
                        clear_bit(key_valid, row)
                        null_keys += 1
                    else:
                        copy(
                            key_data, key_bytes, data, at, key_length,
                            min(key_capacity - key_bytes, available - at),
                        )  # fmt: skip
                        key_bytes += key_length
                    key_offsets[row + 1] = cython.cast(cython.int, key_bytes)
                if key_length > 0:
                    at += key_length

                length, at = read_varint(data, at, stop, 32)
                if at < 0:
                    problem = BAD_VARINT
                    break
                if length < -1 or length > stop - at:
                    problem = BAD_VALUE_LENGTH
                    break
                if with_value:
                    if length < 0:
                        clear_bit(value_valid, row)
                        null_values += 1
                    else:
                        copy(
                            value_data, value_bytes, data, at, length,
                            min(value_capacity - value_bytes, available - at),
                        )  # fmt: skip
                        value_bytes += length
                    value_offsets[row + 1] = cython.cast(cython.int, value_bytes)
                if length > 0:
                    at += length

                length, at = read_varint(data, at, stop, 32)
                if at < 0:
                    problem = BAD_VARINT
                    break
                if length < 0 or length > (stop - at) // 2:  # a header has two bytes or more
                    problem = BAD_HEADERS_COUNT
                    break
                if with_headers:
                    if length > headers_capacity - headers:
                        problem = NO_ROOM
                        break
                    if length == 0:  # null, as Spark's Kafka source has it
                        clear_bit(headers_valid, row)
                        null_headers += 1
                    headers_offsets[row + 1] = cython.cast(cython.int, headers + length)
                for header in range(length):
                    key_length, at = read_varint(data, at, stop, 32)
                    if at < 0:
                        problem = BAD_VARINT
                        break
                    if key_length < 0 or key_length > stop - at:
                        problem = BAD_HEADER_KEY_LENGTH
                        break
                    if with_headers:
                        copy(
                            header_key_data, header_key_bytes, data, at, key_length,
                            min(header_key_capacity - header_key_bytes, available - at),
                        )  # fmt: skip
                        header_key_bytes += key_length
                        header_key_offsets[headers + 1] = cython.cast(cython.int, header_key_bytes)
                    at += key_length
                    key_length, at = read_varint(data, at, stop, 32)
                    if at < 0:
                        problem = BAD_VARINT
                        break
                    if key_length < -1 or key_length > stop - at:
                        problem = BAD_HEADER_VALUE_LENGTH
                        break
                    if with_headers:
                        if key_length < 0:
                            clear_bit(header_value_valid, headers)
                            null_header_values += 1
                        else:
                            copy(
                                header_value_data, header_value_bytes, data, at, key_length,
                                min(header_value_capacity - header_value_bytes, available - at),
                            )  # fmt: skip
                            header_value_bytes += key_length
                        header_value_offsets[headers + 1] = cython.cast(
                            cython.int, header_value_bytes
                        )
                        headers += 1
                    if key_length > 0:
                        at += key_length
                if problem != SOUND:
                    break
                if at != stop:
                    problem = BAD_RECORD_END
                    break
                row += 1
            if problem == SOUND and at != end:
                problem = BAD_BATCH_END
                record = at
            if problem != SOUND:  # nothing of this batch stays
                if with_key:
                    set_bits(key_valid, first_row, min(row + 1, rows_capacity))
                if with_value:
                    set_bits(value_valid, first_row, min(row + 1, rows_capacity))
                if with_headers:
                    set_bits(headers_valid, first_row, min(row + 1, rows_capacity))
                    set_bits(
                        header_value_valid, first_header, min(headers + 1, headers_capacity)
                    )
                row = first_row
                key_bytes = first_key_bytes
                value_bytes = first_value_bytes
                headers = first_header
                header_key_bytes = first_header_key_bytes
                header_value_bytes = first_header_value_bytes
                null_keys = first_null_keys
                null_values = first_null_values
                null_headers = first_null_headers
                null_header_values = first_null_header_values
                if problem == NO_ROOM:
                    break
            problems[batch] = problem
            problem_position[batch] = record - start
            row_end[batch] = row
            batch += 1
    out.rows = row
    out.key_bytes = key_bytes
    out.value_bytes = value_bytes
    out.headers = headers
    out.header_key_bytes = header_key_bytes
    out.header_value_bytes = header_value_bytes
    out.null_keys = null_keys
    out.null_values = null_values
    out.null_headers = null_headers
    out.null_header_values = null_header_values
    return batch
