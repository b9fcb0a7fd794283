"""Hashes of what a record is to a consumer: key, value, headers, and its client's timestamp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.kernel import repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS: Final = ("key", "value", "headers", "timestamp", "timestampType")
"""Columns of the table ``records`` that are hashed."""
BASE_TIMESTAMP: Final = "batchBaseTimestamp"
"""Another one: what is left of the client's times where the broker set them."""
CREATE_TIME: Final = 0
_NULL: Final = 0x2545_F491_4F6C_DD1D
"""In the place of a null; an empty value is something else."""
_MIXER: Final = 0xBF58_476D_1CE4_E5B9
_FACTOR: Final = 0x1E37_79B9_7F4A_7C15
_LOW_BITS: Final = (1 << 63) - 1


def content_hashes(rows: pa.RecordBatch) -> NDArray[np.int64]:
    """Hashes from 0 to 2^63 - 1 of records in ``COLUMNS``; no Python object for each record.

    Times that the broker set are left out, because they differ where a client sent twice.
    """
    return with_times(timeless_hashes(rows), client_times(rows))


def client_times(rows: pa.RecordBatch) -> NDArray[np.int64]:
    """The times of records as stored; where the broker set them, the first of the batch or 0."""
    is_client_time = numbers(rows["timestampType"]) == CREATE_TIME
    if is_client_time.all():
        return numbers(rows["timestamp"])
    others = numbers(rows[BASE_TIMESTAMP]) if BASE_TIMESTAMP in rows.schema.names else 0
    return np.where(is_client_time, numbers(rows["timestamp"]), others)


def with_times(hashes: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hashes of contents and times, from hashes of contents."""
    mixed = hashes.astype(np.uint64) + times.astype(np.uint64) * np.uint64(_FACTOR)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(_MIXER)
    mixed ^= mixed >> np.uint64(32)
    return (mixed & np.uint64(_LOW_BITS)).astype(np.int64)


def timeless_hashes(rows: pa.RecordBatch) -> NDArray[np.int64]:
    """Hashes from 0 to 2^63 - 1 of keys, values and headers."""
    found = np.zeros(rows.num_rows, np.int64)
    _mix(found, rows["key"])
    _mix(found, rows["value"])
    headers = rows["headers"]
    if headers.null_count < len(headers):
        found ^= _of_headers(headers)
    return found


def hashes_of(column: pa.Array) -> NDArray[np.int64]:
    """Hashes of a column of bytes or text alone."""
    found = np.zeros(len(column), np.int64)
    _mix(found, column)
    return found


def numbers(column: pa.Array) -> NDArray[np.int64]:
    """A column of numbers or times, with 0 for null."""
    plain = column.cast(pa.int64()) if column.type != pa.int64() else column
    found: NDArray[np.int64] = pc.fill_null(plain, 0).to_numpy(zero_copy_only=False)
    return found


def _mix(found: NDArray[np.int64], column: pa.Array) -> None:
    """Mix a column of bytes or text into the hashes."""
    if column.null_count:
        found ^= np.where(column.is_null().to_numpy(zero_copy_only=False), _NULL, 0)
    if len(column):
        _, offsets, data = column.buffers()
        places = np.frombuffer(offsets, np.int32, len(column) + 1, 4 * column.offset)
        repeats.hash_ranges(np.frombuffer(data or b"", np.uint8), places, found)


def _of_headers(headers: pa.ListArray) -> NDArray[np.int64]:
    """One hash for the headers of each record; the order of headers counts."""
    flat = pc.list_flatten(headers)
    parents = pc.list_parent_indices(headers).to_numpy(zero_copy_only=False)
    first = np.zeros(len(headers), np.int64)
    starts = np.flatnonzero(np.diff(parents, prepend=-1))
    first[parents[starts]] = starts
    of_each = np.arange(len(flat), dtype=np.int64) - first[parents]
    _mix(of_each, pc.struct_field(flat, "key"))
    _mix(of_each, pc.struct_field(flat, "value"))
    found = np.zeros(len(headers), np.int64)
    if len(starts):
        found[parents[starts]] = np.add.reduceat(of_each, starts) & _LOW_BITS
    return found
