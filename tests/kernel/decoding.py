"""Batches through the kernel and back into plain values, for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

HEADER_SIZE = 61
COLUMNS = {
    "position": np.int64, "base_offset": np.int64, "last_offset": np.int64, "crc": np.int64,
    "crc_computed": np.int64, "base_timestamp": np.int64, "max_timestamp": np.int64,
    "producer_id": np.int64, "size_in_bytes": np.int32, "leader_epoch": np.int32,
    "last_offset_delta": np.int32, "base_sequence": np.int32, "records_count": np.int32,
    "attributes": np.int16, "producer_epoch": np.int16, "magic": np.int8,
}  # fmt: skip


def scan(kernel: SimpleNamespace, log: bytes, *, capacity: int = 64, check_crc: bool = True) -> Any:
    """The headers of ``log`` as columns, the first byte not consumed, and why the scan stopped."""
    columns = SimpleNamespace(**{name: np.zeros(capacity, kind) for name, kind in COLUMNS.items()})
    count, _, at, reason = kernel.record_batches.scan_batches(
        log, 0, len(log), 0, check_crc, columns, capacity
    )
    found = SimpleNamespace(**{name: getattr(columns, name)[:count] for name in COLUMNS})
    return found, at, reason


@dataclass(frozen=True)
class Decoded:
    """The result: rows as tuples in order; for each batch, the end of its rows and its problem."""

    rows: list[tuple[Any, ...]]
    row_ends: list[int]
    problems: list[int]
    positions: list[int]
    stopped_at: int


def batch_columns(headers: Any, payloads: list[tuple[int, int]]) -> SimpleNamespace:
    """The arguments of ``UncompressedBatches`` for payloads given as (position, size)."""
    count = len(payloads)
    return SimpleNamespace(
        **vars(headers),
        payload_position=np.array([position for position, _ in payloads], np.int64),
        payload_size=np.array([size for _, size in payloads], np.int64),
        row_end=np.zeros(count, np.int64),
        problem=np.zeros(count, np.int32),
        problem_position=np.zeros(count, np.int64),
    )


def decode(
    kernel: SimpleNamespace,
    source: bytes,
    batches: Any,
    *,
    rows: int = 512,
    size: int = 1 << 16,
    headers: int = 256,
    first: int = 0,
) -> Any:
    """Decode every column of every batch."""
    room = Room(kernel, rows, size, headers)
    uncompressed = kernel.uncompressed_batches.UncompressedBatches(source, batches)
    stopped_at = uncompressed.decode(first, len(batches.row_end), room.columns)
    return Decoded(
        room.rows(),
        batches.row_end.tolist(),
        batches.problem.tolist(),
        batches.problem_position.tolist(),
        stopped_at,
    )


def decode_log(kernel: SimpleNamespace, log: bytes, **room: Any) -> Decoded:
    """Decode a log of uncompressed batches."""
    headers, _, _ = scan(kernel, log)
    payloads = [
        (int(position) + HEADER_SIZE, int(size) - HEADER_SIZE)
        for position, size in zip(headers.position, headers.size_in_bytes, strict=True)
    ]
    return decode(kernel, log, batch_columns(headers, payloads), **room)


class Room:
    """Output columns of every kind."""

    def __init__(self, kernel: SimpleNamespace, rows: int, size: int, headers: int) -> None:
        self._offset = np.zeros(rows, np.int64)
        self._timestamp = np.zeros(rows, np.int64)
        self.timestamp_type = np.zeros(rows, np.int32)
        self._sequence = np.zeros(rows, np.int32)
        self._control_type = np.zeros(rows, np.int32)
        self._headers_offsets = np.zeros(rows + 1, np.int32)
        self._key, self._value = Binary(kernel, rows, size), Binary(kernel, rows, size)
        self._header_key = Binary(kernel, headers, size)
        self._header_value = Binary(kernel, headers, size)
        self.columns = kernel.record_columns.RecordColumns(
            self._offset, self._timestamp, self.timestamp_type, self._sequence, self._control_type,
            self._key.column, self._value.column, self._headers_offsets,
            self._header_key.column, self._header_value.column,
        )  # fmt: skip

    def rows(self) -> list[tuple[Any, ...]]:
        """(offset, timestamp in microseconds, sequence, control type, key, value, headers)."""
        keys, values = self._key.values(), self._value.values()
        pairs = list(zip(self._header_key.values(), self._header_value.values(), strict=True))
        count = self.columns.rows
        assert len(keys) == len(values) == count
        borders = self._headers_offsets[: count + 1].tolist()
        return [
            (
                int(self._offset[row]), int(self._timestamp[row]), int(self._sequence[row]),
                int(self._control_type[row]), keys[row], values[row],
                pairs[borders[row] : borders[row + 1]],
            )
            for row in range(count)
        ]  # fmt: skip


class Binary:
    """A binary column with room, read back as bytes and None."""

    def __init__(self, kernel: SimpleNamespace, entries: int, size: int) -> None:
        self._offsets = np.zeros(entries + 1, np.int32)
        self._validity = np.full((entries + 7) // 8, 0xFF, np.uint8)
        self._data = np.zeros(size, np.uint8)
        self.column = kernel.record_columns.BinaryColumn(self._offsets, self._validity, self._data)

    def values(self) -> list[bytes | None]:
        count = self.column.entries
        valid = np.unpackbits(self._validity, bitorder="little")[: max(count, 0)]
        assert int((valid == 0).sum()) == self.column.nulls
        assert int(self._offsets[count]) == self.column.size
        return [
            self._data[self._offsets[row] : self._offsets[row + 1]].tobytes()
            if valid[row]
            else None
            for row in range(count)
        ]
