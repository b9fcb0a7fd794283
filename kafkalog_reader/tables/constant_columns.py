"""Columns with one value for all rows of a slice: made once, then cut to length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping


class ConstantColumns:
    """Columns with one value each, for any number of rows.

    Args:
        schema: of the table, with the requested columns and their types.
        values: by column name.
    """

    def __init__(self, schema: pa.Schema, values: Mapping[str, object]) -> None:
        self._values = {
            name: pa.scalar(value, schema.field(name).type)
            for name, value in values.items()
            if name in schema.names
        }
        self._arrays: dict[str, pa.Array] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def column(self, name: str, count: int) -> pa.Array:
        """``count`` rows of a column."""
        array = self._arrays.get(name)
        if array is None or len(array) < count:
            array = self._arrays[name] = pa.repeat(self._values[name], count)
        return array[:count] if len(array) > count else array
