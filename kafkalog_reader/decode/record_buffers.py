"""Buffers for decoded records, which become Arrow arrays without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.decode.arrow_arrays import texts
from kafkalog_reader.decode.arrow_types import HEADERS, TIMESTAMP
from kafkalog_reader.format.java_text import java_text
from kafkalog_reader.kernel import record_columns
from kafkalog_reader.scan.recycled_memory import room_for

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from numpy.typing import DTypeLike, NDArray

MAX_COLUMN: Final = 2**31 - 1
"""Arrow's offsets are int32; Spark does not accept large types."""
_NO_CONTROL_TYPE: Final = -1
CONTROL_TYPES: Final = (
    "ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION",
    "KRAFT_VOTERS",
)  # fmt: skip


class _Room:
    """An Arrow buffer and the numpy array over it."""

    def __init__(self, kind: DTypeLike, count: int) -> None:
        self.buffer, self.array = room_for(kind, count)


class _BinaryRoom:
    """Room for a binary column: a number of entries and of bytes."""

    def __init__(self, entries: int, size: int) -> None:
        self._offsets = _Room(np.int32, entries + 1)
        self._validity = _Room(np.uint8, (entries + 7) // 8)
        self._data = _Room(np.uint8, size)
        self._offsets.array[0] = 0
        self._validity.array.fill(0xFF)
        self.column = record_columns.BinaryColumn(
            self._offsets.array, self._validity.array, self._data.array
        )

    def to_arrow(self) -> pa.BinaryArray:
        column = self.column
        return pa.Array.from_buffers(
            pa.binary(),
            column.entries,
            [
                self._validity.buffer if column.nulls else None,
                self._offsets.buffer.slice(0, 4 * (column.entries + 1)),
                self._data.buffer.slice(0, column.size),
            ],
            null_count=column.nulls,
        )


def _column_of(room: _BinaryRoom | None) -> record_columns.BinaryColumn | None:
    return None if room is None else room.column


class RecordBuffers:
    """Buffers for a number of records and bytes; only requested columns get one.

    Args:
        wanted: names of columns of ``records``; only decoded ones count.
        rows: maximum number of records.
        size: maximum bytes of keys, of values and of headers each.
        headers: maximum number of headers.
    """

    DECODED: Final = frozenset(
        {
            "key", "value", "offset", "timestamp", "timestampType", "headers", "sequence",
            "controlType",
        }
    )  # fmt: skip

    def __init__(self, wanted: AbstractSet[str], rows: int, size: int, headers: int) -> None:
        if size > MAX_COLUMN:
            raise ValueError(f"{size} bytes do not fit into one Arrow column")
        self._offset = _Room(np.int64, rows)
        self._timestamp = _Room(np.int64, rows)
        self._timestamp_type = _Room(np.int32, rows if "timestampType" in wanted else 0)
        self._sequence = _Room(np.int32, rows if "sequence" in wanted else 0)
        self._control_type = _Room(np.int32, rows if "controlType" in wanted else 0)
        self._keys = _BinaryRoom(rows, size) if "key" in wanted else None
        self._values = _BinaryRoom(rows, size) if "value" in wanted else None
        with_headers = "headers" in wanted
        self._headers_offsets = _Room(np.int32, rows + 1 if with_headers else 0)
        self._headers_offsets.array[:1] = 0
        self._header_keys = _BinaryRoom(headers, size) if with_headers else None
        self._header_values = _BinaryRoom(headers, size) if with_headers else None
        self.kernel = record_columns.RecordColumns(
            self._offset.array,
            self._timestamp.array,
            self._timestamp_type.array,
            self._sequence.array,
            self._control_type.array,
            _column_of(self._keys),
            _column_of(self._values),
            self._headers_offsets.array,
            _column_of(self._header_keys),
            _column_of(self._header_values),
        )

    @property
    def rows(self) -> int:
        """The number of records."""
        count: int = self.kernel.rows
        return count

    @property
    def offset(self) -> NDArray[np.int64]:
        """The offsets of the records."""
        return self._offset.array[: self.rows]

    @property
    def timestamp(self) -> NDArray[np.int64]:
        """Their timestamps in microseconds since 1970 UTC."""
        return self._timestamp.array[: self.rows]

    def column(self, name: str) -> pa.Array:
        """One decoded column as an Arrow array over the same memory."""
        match name:
            case "offset":
                return self._fixed(pa.int64(), self._offset)
            case "timestamp":
                return self._fixed(TIMESTAMP, self._timestamp)
            case "timestampType":
                return self._fixed(pa.int32(), self._timestamp_type)
            case "sequence":
                return self._fixed(pa.int32(), self._sequence)
            case "controlType":
                return control_types(self._control_type.array[: self.rows])
            case "key" if self._keys is not None:
                return self._keys.to_arrow()
            case "value" if self._values is not None:
                return self._values.to_arrow()
            case "headers" if self._header_keys is not None and self._header_values is not None:
                return self._headers(self._header_keys, self._header_values)
        raise KeyError(name)

    def _fixed(self, kind: pa.DataType, room: _Room) -> pa.Array:
        return pa.Array.from_buffers(kind, self.rows, [None, room.buffer], null_count=0)

    def _headers(self, keys: _BinaryRoom, values: _BinaryRoom) -> pa.ListArray:
        offsets = self._headers_offsets.array[: self.rows + 1]
        without = offsets[1:] == offsets[:-1]  # null, as Spark's Kafka source has it
        validity = None
        if without.any():
            validity = pa.py_buffer(np.packbits(~without, bitorder="little"))
        pairs = pa.StructArray.from_arrays(
            [as_text(keys.to_arrow()), values.to_arrow()], fields=list(HEADERS.value_type)
        )
        return pa.Array.from_buffers(
            HEADERS, self.rows, [validity, self._headers_offsets.buffer], children=[pairs]
        )


def as_text(binary: pa.BinaryArray) -> pa.StringArray:
    """Bytes as text; invalid UTF-8 becomes U+FFFD, as in Kafka's clients."""
    text = pa.Array.from_buffers(pa.string(), len(binary), binary.buffers(), binary.null_count)
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array(map(java_text, binary.to_pylist()), pa.string())
    return text


def control_types(types: NDArray[np.int32]) -> pa.StringArray:
    """The names of control record types; null if a record is not a control record."""
    if not len(types) or types.max() == _NO_CONTROL_TYPE:
        return pa.nulls(len(types), pa.string())
    numbers, inverse = np.unique(types, return_inverse=True)
    return texts(tuple(control_type_name(int(number)) for number in numbers), inverse)


def control_type_name(number: int) -> str | None:
    """The name of a control record type; None if the record is not a control record."""
    if number == _NO_CONTROL_TYPE:
        return None
    return CONTROL_TYPES[number] if number < len(CONTROL_TYPES) else f"UNKNOWN({number})"
