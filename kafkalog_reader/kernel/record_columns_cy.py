# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""Columns for decoded records in Arrow's layout, with room for a number of rows and bytes.

``records_cy`` fills them. Their attributes are declared for C in the ``.pxd``.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

import cython
from cython.cimports.kafkalog_reader.format.batch_fields import CONTROL_BIT, LOG_APPEND_TIME_BIT
from cython.cimports.kafkalog_reader.kernel.codes import (
    NO_TIMESTAMP_TYPE,
)
from cython.cimports.kafkalog_reader.kernel.primitives import (
    copy,
    int16_at,
    write_bytes,
    write_int32,
    write_int64,
)

_NO_ROOM: Final = (array("i"), bytearray(), bytearray())


@cython.final
@cython.cclass
class BinaryColumn:
    """Keys, values or parts of headers, appended one by one in Arrow's layout.

    Args:
        offsets: int32, one more than the maximum number of entries; the first is 0.
        validity: a bitmap of set bits.
        data: bytes; the caller checks the room left before it appends.

    Attributes:
        entries, size, nulls: how many entries there are, how many bytes they have together, and
            how many are null.
    """

    def __init__(self, offsets: Any, validity: Any, data: Any) -> None:
        self._owners = (offsets, validity, data)  # the pointers below lead into them
        self._offsets = write_int32(offsets)
        self._validity = write_bytes(validity)
        self._data = write_bytes(data)
        self._entries_capacity = max(min(len(offsets) - 1, 8 * len(validity)), 0)
        self._capacity = len(data)
        self.entries = self.size = self.nulls = 0


@cython.final
@cython.cclass
class RecordColumns:
    """Columns with room for records; a column that was not requested has none.

    Args:
        offset, timestamp: int64, as long as the maximum number of records.
        timestamp_type, sequence, control_type: int32, as long, or empty if not requested.
        keys, values: or None.
        headers_offsets, header_keys, header_values: the headers of all records one after
            another, and where each record's begin; empty and None if not requested.

    Attributes:
        rows: how many records there are.
        problem_position: of the faulty record, in the last batch that could not be decoded.
    """

    def __init__(
        self,
        offset: Any,
        timestamp: Any,
        timestamp_type: Any,
        sequence: Any,
        control_type: Any,
        keys: BinaryColumn | None,
        values: BinaryColumn | None,
        headers_offsets: Any,
        header_keys: BinaryColumn | None,
        header_values: BinaryColumn | None,
    ) -> None:
        self._owners = (
            offset, timestamp, timestamp_type, sequence, control_type, headers_offsets,
        )  # fmt: skip
        self._offset = write_int64(offset)
        self._timestamp = write_int64(timestamp)
        self._timestamp_type = write_int32(timestamp_type)
        self._sequence = write_int32(sequence)
        self._control_type = write_int32(control_type)
        self._headers_offsets = write_int32(headers_offsets)
        self._keys = keys or BinaryColumn(*_NO_ROOM)
        self._values = values or BinaryColumn(*_NO_ROOM)
        self._header_keys = header_keys
        self._header_values = header_values
        self._with_timestamp_type = len(timestamp_type) > 0
        self._with_sequence = len(sequence) > 0
        self._with_control_type = len(control_type) > 0
        self._with_keys = keys is not None
        self._with_values = values is not None
        self._with_headers = header_keys is not None
        self._capacity = min(len(offset), len(timestamp))
        for column, wanted, extra in (
            (timestamp_type, self._with_timestamp_type, 0),
            (sequence, self._with_sequence, 0),
            (control_type, self._with_control_type, 0),
            (headers_offsets, self._with_headers, 1),
        ):
            if wanted and len(column) < self._capacity + extra:
                raise ValueError(f"{len(column)} entries of room for {self._capacity} records")
        if self._with_headers and header_values is None:
            raise ValueError("header keys without header values")
        self.rows = self.problem_position = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def append(
    column: BinaryColumn,
    source: cython.p_const_uchar,
    position: cython.Py_ssize_t,
    length: cython.longlong,
    available: cython.Py_ssize_t,
) -> cython.void:
    """Append ``length`` bytes of ``source``, which has ``available``; null if it is -1."""
    if length < 0:
        byte: cython.Py_ssize_t = column.entries >> 3
        column._validity[byte] = column._validity[byte] & ~(1 << (column.entries & 7)) & 0xFF
        column.nulls += 1
    else:
        room: cython.Py_ssize_t = min(column._capacity - column.size, available - position)
        copy(column._data, column.size, source, position, length, room)
        column.size += length
    column.entries += 1
    column._offsets[column.entries] = cython.cast(cython.int, column.size)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def forget_entries(
    column: BinaryColumn, kept: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.void:
    """Reset a column's bitmap to what it was with ``kept`` entries."""
    entry: cython.Py_ssize_t
    for entry in range(kept, min(stop, column._entries_capacity)):
        column._validity[entry >> 3] = column._validity[entry >> 3] | (1 << (entry & 7))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def to_sequence(base_sequence: cython.longlong, offset_delta: cython.longlong) -> cython.int:
    """The sequence number of a record: it rises with the offset, and 0 follows 2^31 - 1."""
    greatest: cython.longlong = 0x7FFF_FFFF
    sequence: cython.longlong = base_sequence + offset_delta
    if base_sequence < 0:
        return -1
    if sequence > greatest:
        sequence -= greatest + 1
    return cython.cast(cython.int, sequence)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill_others(
    out: RecordColumns,
    row: cython.Py_ssize_t,
    attributes: cython.int,
    base_sequence: cython.longlong,
    offset_delta: cython.longlong,
    source: cython.p_const_uchar,
    key: cython.Py_ssize_t,
    key_length: cython.longlong,
) -> cython.void:
    """Fill the columns that are rarely requested. A control record's key gives its type."""
    if out._with_timestamp_type:
        out._timestamp_type[row] = (attributes & LOG_APPEND_TIME_BIT) >> 3
        if (attributes & NO_TIMESTAMP_TYPE) != 0:
            out._timestamp_type[row] = -1
    if out._with_sequence:
        out._sequence[row] = to_sequence(base_sequence, offset_delta)
    if out._with_control_type:
        out._control_type[row] = -1
        if (attributes & CONTROL_BIT) != 0 and key_length >= 4:
            out._control_type[row] = int16_at(source, key + 2) & 0xFFFF
