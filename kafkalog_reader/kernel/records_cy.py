# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The records of many batches (magic 2, uncompressed) decoded into Arrow's layout in one call.

Every length and count is compared with the bytes left before it is believed, and what is written
is compared with the room left. A batch that contradicts itself leaves no row behind; the others of
the call come out. Source: Kafka 4.0, DefaultRecord and DefaultRecordBatch.
"""

from __future__ import annotations

from typing import Any

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
def to_sequence(base_sequence: cython.longlong, offset_delta: cython.longlong) -> cython.int:
    """The producer's number of a record: it follows the offset, and after 2^31 - 1 comes 0."""
    greatest: cython.longlong = 0x7FFF_FFFF
    sequence: cython.longlong = base_sequence + offset_delta
    if base_sequence < 0:
        return -1
    if sequence > greatest:
        sequence -= greatest + 1
    return cython.cast(cython.int, sequence)


@cython.final
@cython.cclass
class BinaryColumn:
    """Keys, values or parts of headers, appended one by one in Arrow's layout.

    Args:
        offsets: int32, one more than entries can come; the first is 0.
        validity: a bitmap of set bits.
        data: bytes; ``has_room`` is asked before entries are appended.
    """

    entries = cython.declare(cython.Py_ssize_t, visibility="readonly")
    size = cython.declare(cython.Py_ssize_t, visibility="readonly")
    nulls = cython.declare(cython.Py_ssize_t, visibility="readonly")
    _offsets: cython.p_int
    _validity: cython.p_uchar
    _data: cython.p_uchar
    _entries_capacity: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _marked_entries: cython.Py_ssize_t
    _marked_size: cython.Py_ssize_t
    _marked_nulls: cython.Py_ssize_t
    _owners: object

    def __init__(self, offsets: Any, validity: Any, data: Any) -> None:
        self._owners = (offsets, validity, data)  # the pointers below lead into them
        self._offsets = write_int32(offsets)
        self._validity = write_bytes(validity)
        self._data = write_bytes(data)
        self._entries_capacity = max(min(len(offsets) - 1, 8 * len(validity)), 0)
        self._capacity = len(data)
        self.entries = self.size = self.nulls = 0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self, entries: cython.longlong, size: cython.longlong) -> cython.bint:
        return (
            entries <= self._entries_capacity - self.entries and size <= self._capacity - self.size
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def append(
        self,
        source: cython.p_const_uchar,
        position: cython.Py_ssize_t,
        length: cython.longlong,
        available: cython.Py_ssize_t,
    ) -> cython.void:
        """Append ``length`` bytes of ``source``, which has ``available``; null when -1."""
        byte: cython.Py_ssize_t
        if length < 0:
            byte = self.entries >> 3
            self._validity[byte] = self._validity[byte] & ~(1 << (self.entries & 7)) & 0xFF
            self.nulls += 1
        else:
            copy(
                self._data,
                self.size,
                source,
                position,
                length,
                min(self._capacity - self.size, available - position),
            )
            self.size += length
        self.entries += 1
        self._offsets[self.entries] = cython.cast(cython.int, self.size)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def mark(self) -> cython.void:
        self._marked_entries = self.entries
        self._marked_size = self.size
        self._marked_nulls = self.nulls

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget_since_mark(self) -> cython.void:
        entry: cython.Py_ssize_t
        for entry in range(self._marked_entries, self.entries):
            self._validity[entry >> 3] = self._validity[entry >> 3] | (1 << (entry & 7))
        self.entries = self._marked_entries
        self.size = self._marked_size
        self.nulls = self._marked_nulls


@cython.final
@cython.cclass
class RecordColumns:
    """Where decoded records go: columns with room, none for what nobody asked for.

    Args:
        offset, timestamp: int64, as long as records can come.
        sequence, control_type: int32 as long, or empty when not wanted.
        keys, values: or None.
        headers_offsets, header_keys, header_values: the headers of all records behind each
            other, and where each record's begin; empty and None when not wanted.
    """

    rows = cython.declare(cython.Py_ssize_t, visibility="readonly")
    _offset: cython.p_longlong
    _timestamp: cython.p_longlong
    _sequence: cython.p_int
    _control_type: cython.p_int
    _headers_offsets: cython.p_int
    _keys: BinaryColumn
    _values: BinaryColumn
    _header_keys: BinaryColumn
    _header_values: BinaryColumn
    _with_sequence: cython.bint
    _with_control_type: cython.bint
    _with_keys: cython.bint
    _with_values: cython.bint
    _with_headers: cython.bint
    _capacity: cython.Py_ssize_t
    _marked_rows: cython.Py_ssize_t
    _owners: object

    def __init__(
        self,
        offset: Any,
        timestamp: Any,
        sequence: Any,
        control_type: Any,
        keys: BinaryColumn | None,
        values: BinaryColumn | None,
        headers_offsets: Any,
        header_keys: BinaryColumn | None,
        header_values: BinaryColumn | None,
    ) -> None:
        self._owners = (offset, timestamp, sequence, control_type, headers_offsets)
        self._offset = write_int64(offset)
        self._timestamp = write_int64(timestamp)
        self._sequence = write_int32(sequence)
        self._control_type = write_int32(control_type)
        self._headers_offsets = write_int32(headers_offsets)
        self._keys = keys  # type: ignore[assignment]  # None
        self._values = values  # type: ignore[assignment]  # None
        self._header_keys = header_keys  # type: ignore[assignment]  # None
        self._header_values = header_values  # type: ignore[assignment]  # None
        self._with_sequence = len(sequence) > 0
        self._with_control_type = len(control_type) > 0
        self._with_keys = keys is not None
        self._with_values = values is not None
        self._with_headers = header_keys is not None
        self._capacity = min(len(offset), len(timestamp))
        for column, wanted, extra in (
            (sequence, self._with_sequence, 0),
            (control_type, self._with_control_type, 0),
            (headers_offsets, self._with_headers, 1),
        ):
            if wanted and len(column) < self._capacity + extra:
                raise ValueError(f"{len(column)} entries of room for {self._capacity} records")
        if self._with_headers and header_values is None:
            raise ValueError("header keys without header values")
        self.rows = 0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self, records: cython.longlong, size: cython.longlong) -> cython.bint:
        """Whether a batch of so many records in so many bytes fits, headers not counted."""
        return (
            records <= self._capacity - self.rows
            and (not self._with_keys or self._keys.has_room(records, size))
            and (not self._with_values or self._values.has_room(records, size))
            and (not self._with_headers or self._header_keys.has_room(0, size))
            and (not self._with_headers or self._header_values.has_room(0, size))
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def mark(self) -> cython.void:
        self._marked_rows = self.rows
        if self._with_keys:
            self._keys.mark()
        if self._with_values:
            self._values.mark()
        if self._with_headers:
            self._header_keys.mark()
            self._header_values.mark()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget_since_mark(self) -> cython.void:
        self.rows = self._marked_rows
        if self._with_keys:
            self._keys.forget_since_mark()
        if self._with_values:
            self._values.forget_since_mark()
        if self._with_headers:
            self._header_keys.forget_since_mark()
            self._header_values.forget_since_mark()


@cython.final
@cython.cclass
class UncompressedBatches:
    """Record batches whose uncompressed records lie in one buffer.

    Args:
        source: the buffer.
        batches: has numpy arrays of one length: ``payload_position`` and ``payload_size``
            (within ``source``, int64), and of the headers ``base_offset``, ``last_offset_delta``,
            ``base_timestamp``, ``max_timestamp``, ``attributes``, ``base_sequence``,
            ``records_count``. Written are ``row_end`` (rows there are after the batch),
            ``problem`` (``codes``) and ``problem_position`` (of the record at fault, from the
            payload's start).
    """

    _source: cython.p_const_uchar
    _available: cython.Py_ssize_t
    _count: cython.Py_ssize_t
    _payload_position: cython.pointer[cython.const[cython.longlong]]
    _payload_size: cython.pointer[cython.const[cython.longlong]]
    _base_offset: cython.pointer[cython.const[cython.longlong]]
    _last_offset_delta: cython.pointer[cython.const[cython.int]]
    _base_timestamp: cython.pointer[cython.const[cython.longlong]]
    _max_timestamp: cython.pointer[cython.const[cython.longlong]]
    _attributes: cython.pointer[cython.const[cython.short]]
    _base_sequence: cython.pointer[cython.const[cython.int]]
    _records_count: cython.pointer[cython.const[cython.int]]
    _row_end: cython.p_longlong
    _problem: cython.p_int
    _problem_position: cython.p_longlong
    _owners: object

    def __init__(self, source: cython.const[cython.uchar][::1], batches: Any) -> None:
        self._owners = (source, batches)
        self._source = read_bytes(source)
        self._available = len(source)
        self._count = len(batches.payload_position)
        self._payload_position = read_int64(batches.payload_position)
        self._payload_size = read_int64(batches.payload_size)
        self._base_offset = read_int64(batches.base_offset)
        self._last_offset_delta = read_int32(batches.last_offset_delta)
        self._base_timestamp = read_int64(batches.base_timestamp)
        self._max_timestamp = read_int64(batches.max_timestamp)
        self._attributes = read_int16(batches.attributes)
        self._base_sequence = read_int32(batches.base_sequence)
        self._records_count = read_int32(batches.records_count)
        self._row_end = write_int64(batches.row_end)
        self._problem = write_int32(batches.problem)
        self._problem_position = write_int64(batches.problem_position)
        for name in (
            "payload_size", "base_offset", "last_offset_delta", "base_timestamp", "max_timestamp",
            "attributes", "base_sequence", "records_count", "row_end", "problem",
            "problem_position",
        ):  # fmt: skip
            if len(getattr(batches, name)) < self._count:
                raise ValueError(f"{name} has fewer than {self._count} entries")

    def decode(self, first: cython.Py_ssize_t, stop: cython.Py_ssize_t, out: RecordColumns) -> int:
        """Append the records of the batches from number ``first`` up to ``stop`` to ``out``.

        Returns:
            the first batch that was not decoded for want of room; ``stop`` when all were.
        """
        batch: cython.Py_ssize_t = first
        problem: cython.int
        if not 0 <= first <= stop <= self._count or out is None:
            raise ValueError(f"batches {first} to {stop} of {self._count}")
        with cython.nogil:
            while batch < stop:
                out.mark()
                problem = self._decode_batch(batch, out)
                if problem != SOUND:
                    out.forget_since_mark()
                    if problem == NO_ROOM:
                        break
                self._problem[batch] = problem
                self._row_end[batch] = out.rows
                batch += 1
        return batch

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _decode_batch(self, batch: cython.Py_ssize_t, out: RecordColumns) -> cython.int:
        start: cython.longlong = self._payload_position[batch]
        size: cython.longlong = self._payload_size[batch]
        count: cython.longlong = self._records_count[batch]
        last_delta: cython.longlong = self._last_offset_delta[batch]
        base_offset: cython.longlong = self._base_offset[batch]
        greatest: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t
        self._problem_position[batch] = 0
        if count == 0:  # the cleaner keeps the header of a batch it emptied
            return SOUND
        if start < 0 or size < 0 or start > self._available or size > self._available - start:
            return BAD_BATCH_END
        if count < 0 or count > size // 7:  # a record has seven bytes or more
            return BAD_COUNT
        if base_offset < 0 or last_delta < 0 or base_offset > greatest - last_delta:
            return BAD_OFFSETS
        if not out.has_room(count, size):
            return NO_ROOM
        at = start
        end = start + size
        while count > 0:
            self._problem_position[batch] = at - start
            at = self._decode_record(batch, at, end, out)
            if at < 0:
                return cython.cast(cython.int, -at)
            count -= 1
        if at != end:
            self._problem_position[batch] = at - start
            return BAD_BATCH_END
        return SOUND

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _decode_record(
        self,
        batch: cython.Py_ssize_t,
        at: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        out: RecordColumns,
    ) -> cython.Py_ssize_t:
        """Append one record; the position behind it, or minus the problem."""
        source: cython.p_const_uchar = self._source
        row: cython.Py_ssize_t = out.rows
        stop: cython.Py_ssize_t
        length: cython.longlong
        timestamp_delta: cython.longlong
        offset_delta: cython.longlong
        length, at = read_varint(source, at, end, 32)
        if at < 0:
            return -BAD_VARINT
        if length < 1 or length > end - at:
            return -BAD_RECORD_LENGTH
        stop = at + length
        at += 1  # the record's attributes, unused
        timestamp_delta, at = read_varint(source, at, stop, 64)
        if at < 0:
            return -BAD_VARINT
        offset_delta, at = read_varint(source, at, stop, 32)
        if at < 0:
            return -BAD_VARINT
        if offset_delta < 0 or offset_delta > self._last_offset_delta[batch]:
            return -BAD_OFFSET_DELTA
        out._offset[row] = self._base_offset[batch] + offset_delta
        if (self._attributes[batch] & 0x08) != 0:  # LogAppendTime
            out._timestamp[row] = to_microseconds(self._max_timestamp[batch])
        else:
            out._timestamp[row] = to_microseconds(
                wrapping_add(self._base_timestamp[batch], timestamp_delta)
            )
        if out._with_sequence:
            out._sequence[row] = to_sequence(self._base_sequence[batch], offset_delta)

        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            return -BAD_VARINT
        if length < -1 or length > stop - at:
            return -BAD_KEY_LENGTH
        if out._with_control_type:
            out._control_type[row] = -1
            if (self._attributes[batch] & 0x20) != 0 and length >= 4:
                out._control_type[row] = int16_at(source, at + 2) & 0xFFFF
        if out._with_keys:
            out._keys.append(source, at, length, self._available)
        if length > 0:
            at += length

        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            return -BAD_VARINT
        if length < -1 or length > stop - at:
            return -BAD_VALUE_LENGTH
        if out._with_values:
            out._values.append(source, at, length, self._available)
        if length > 0:
            at += length

        length, at = read_varint(source, at, stop, 32)
        if at < 0:
            return -BAD_VARINT
        if length != 0:
            if length < 0 or length > (stop - at) // 2:  # a header has two bytes or more
                return -BAD_HEADERS_COUNT
            at = self._decode_headers(length, at, stop, out)
            if at < 0:
                return at
        if at != stop:
            return -BAD_RECORD_END
        out.rows = row + 1
        if out._with_headers:
            out._headers_offsets[row + 1] = cython.cast(cython.int, out._header_keys.entries)
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _decode_headers(
        self,
        count: cython.longlong,
        at: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        out: RecordColumns,
    ) -> cython.Py_ssize_t:
        source: cython.p_const_uchar = self._source
        length: cython.longlong
        if out._with_headers and not (
            out._header_keys.has_room(count, 0) and out._header_values.has_room(count, 0)
        ):
            return -NO_ROOM
        while count > 0:
            length, at = read_varint(source, at, stop, 32)
            if at < 0:
                return -BAD_VARINT
            if length < 0 or length > stop - at:
                return -BAD_HEADER_KEY_LENGTH
            if out._with_headers:
                out._header_keys.append(source, at, length, self._available)
            at += length
            length, at = read_varint(source, at, stop, 32)
            if at < 0:
                return -BAD_VARINT
            if length < -1 or length > stop - at:
                return -BAD_HEADER_VALUE_LENGTH
            if out._with_headers:
                out._header_values.append(source, at, length, self._available)
            if length > 0:
                at += length
            count -= 1
        return at
