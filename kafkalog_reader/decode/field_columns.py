"""Reads the same fields of many binary values at once, as columns.

It is for messages that occur by the million, such as offset commits: no Python object for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD: Final = 8
"""Bytes that are loaded for a number of any size."""


class FieldColumns:
    """A position in each value; every method reads one field and moves on.

    Args:
        values: a null reads as an empty value.

    Attributes:
        fits: which values had all fields so far; what was read of the others is meaningless.
    """

    def __init__(self, values: pa.BinaryArray) -> None:
        _, offsets, data = values.buffers()
        first, count = values.offset, len(values)
        borders = np.frombuffer(offsets, np.int32, first + count + 1)[first:].astype(np.int64)
        size = 0 if data is None else data.size
        self._data = np.zeros(size + _WORD, np.uint8)
        if data is not None:
            self._data[:size] = np.frombuffer(data, np.uint8)
        self._words = np.ndarray((size + 1,), ">i8", self._data, strides=(1,))
        self._position = borders[:-1].copy()
        self._end = borders[1:]
        self.fits = np.ones(count, np.bool_)

    def number(self, size: int) -> NDArray[np.int64]:
        """A signed big-endian number of 1 to 8 bytes."""
        words: NDArray[np.int64] = self._words[self._advance(size)].astype(np.int64)
        words >>= np.int64(64 - 8 * size)
        return words

    def text(self, length: NDArray[np.int64] | None = None) -> pa.BinaryArray:
        """A text in bytes; without a length, two bytes before it give one. Null if it is -1."""
        if length is None:
            length = self.number(2)
        null = length == -1
        self.fits &= length >= -1
        length = np.where(self.fits & ~null, length, 0)
        start = self._advance(length)
        length[~self.fits] = 0
        if not null.any() and not length.any():  # such as the metadata of most commits
            return pa.repeat(pa.scalar(b"", pa.binary()), len(length))
        ends = np.cumsum(length)
        if len(ends) and ends[-1] > np.iinfo(np.int32).max:
            raise ValueError("more than 2 GiB of text in one column")
        first = ends - length
        index = np.arange(ends[-1] if len(ends) else 0) + np.repeat(start - first, length)
        offsets = np.concatenate(([0], ends)).astype(np.int32)
        validity = np.packbits(~null, bitorder="little") if null.any() else None
        return pa.Array.from_buffers(
            pa.binary(),
            len(length),
            [
                None if validity is None else pa.py_buffer(validity),
                pa.py_buffer(offsets),
                pa.py_buffer(self._data[index]),
            ],
        )

    def ends(self) -> NDArray[np.bool_]:
        """Which values have all fields and nothing after them."""
        ended: NDArray[np.bool_] = self.fits & (self._position == self._end)
        return ended

    def skip(self, size: int) -> None:
        """Pass over bytes."""
        self._advance(size)

    def _advance(self, size: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the field begins; 0 in values that are too short for it."""
        following = self._position + size
        self.fits &= following <= self._end
        if self.fits.all():
            start, self._position = self._position, following
            return start
        start = np.where(self.fits, self._position, 0)
        self._position = np.where(self.fits, following, self._position)
        return start
