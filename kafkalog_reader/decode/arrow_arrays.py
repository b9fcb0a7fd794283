"""Numpy columns as Arrow arrays, without a copy where the layouts agree.

Not ``pyarrow.array``: it imports pandas to check whether its input is pandas, a quarter of a
second too much for ``kafkalog ls``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.kernel import records

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_KEPT: Final = 1 << 16
"""Rows of the constant column that is kept; others are slices of it."""


def fixed_width(
    values: NDArray[Any], kind: pa.DataType, null: NDArray[np.bool_] | None = None
) -> pa.Array:
    """Numbers or timestamps of the same width in numpy and Arrow; ``null`` marks missing ones."""
    validity = None if null is None or not null.any() else _bits(~null)
    contiguous = np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(contiguous)])


def microseconds(milliseconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Kafka's milliseconds as microseconds, saturated on overflow."""
    result = np.empty(len(milliseconds), np.int64)
    records.microseconds(np.ascontiguousarray(milliseconds), result)
    return result


def flags(values: NDArray[np.bool_]) -> pa.BooleanArray:
    """Booleans: Arrow packs eight into a byte."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, _bits(values)], null_count=0)


def texts(choices: tuple[str | None, ...], numbers: NDArray[Any]) -> pa.StringArray:
    """The text that each number stands for."""
    if len(numbers) and (numbers == numbers[0]).all():
        return _repeated(choices[int(numbers[0])], len(numbers))
    ones = [pa.repeat(pa.scalar(choice, pa.string()), 1) for choice in choices]
    return pa.concat_arrays(ones).take(fixed_width(numbers.astype(np.int64), pa.int64()))


def _repeated(choice: str | None, count: int) -> pa.StringArray:
    if count > _MAX_KEPT:
        return pa.repeat(pa.scalar(choice, pa.string()), count)
    return _kept(choice, 1 << (count - 1).bit_length())[:count]


@lru_cache(maxsize=16)
def _kept(choice: str | None, count: int) -> pa.StringArray:
    return pa.repeat(pa.scalar(choice, pa.string()), count)


def _bits(values: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))
