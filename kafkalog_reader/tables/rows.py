"""Builds rows of a table from arrays, and from values that are the same in every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

_MAX: Final = np.iinfo(np.int64).max
_MIN: Final = np.iinfo(np.int64).min


def build_rows(schema: pa.Schema, count: int, values: Mapping[str, Any]) -> pa.RecordBatch:
    """A record batch of ``count`` rows with the columns of ``schema`` taken from ``values``.

    Args:
        schema: the requested columns; values of others are ignored.
        count: rows.
        values: by column: an array or list of that length, or one value for every row.
    """
    columns = [_column(values[field.name], field.type, count) for field in schema]
    if not columns:  # a count of rows is requested, and nothing else
        return pa.RecordBatch.from_struct_array(pa.array([{}] * count, pa.struct([])))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def build_from_dicts(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """A record batch of rows that are mappings by column name; other names are ignored.

    One conversion for all columns: small results by the hundred thousand cost as much as audits.
    """
    found = pa.array(rows, pa.struct(list(schema)))
    if not schema.names:  # a count of rows is requested, and nothing else
        return pa.RecordBatch.from_struct_array(found)
    return pa.RecordBatch.from_arrays(found.flatten(), schema=schema)


def microseconds(milliseconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Kafka's timestamps as Arrow's; one that does not fit becomes the nearest that does."""
    scaled = milliseconds * np.int64(1000)
    scaled[milliseconds > _MAX // 1000] = _MAX
    scaled[milliseconds < -(_MAX // 1000)] = _MIN
    return scaled


def microseconds_of(milliseconds: int) -> int:
    """The same of one timestamp."""
    return int(microseconds(np.array([milliseconds], dtype=np.int64))[0])


def _column(value: object, kind: pa.DataType, count: int) -> pa.Array:
    if isinstance(value, pa.Array):
        return value
    if isinstance(value, np.ndarray):
        if pa.types.is_timestamp(kind):
            return pa.array(value.astype(np.int64, copy=False)).view(kind)
        return pa.array(value, kind)
    if isinstance(value, list):
        return pa.array(value, kind)
    return pa.repeat(pa.scalar(value, kind), count)
