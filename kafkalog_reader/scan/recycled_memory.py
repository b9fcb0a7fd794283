"""Memory that is written once, read, and then reused.

An allocator returns freed memory to the operating system after some milliseconds, and getting
fresh pages costs as much as decoding the data that is written into them. So blocks are kept here
and reused once nothing refers to the buffer made of them, no Arrow array and no slice.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

Block = np.ndarray[tuple[Any, ...], np.dtype[np.uint8]]

MAX_KEPT_BYTES: Final = 16 << 20
MAX_KEPT: Final = 6
"""Blocks kept of one size: for two columns, one being filled and one being read."""

_idle: defaultdict[int, list[Block]] = defaultdict(list)


def allocate(size: int) -> pa.Buffer:
    """A writable buffer whose memory is reused after the buffer is gone."""
    if size > MAX_KEPT_BYTES:
        return pa.py_buffer(np.empty(size, np.uint8))
    rounded = 1 << max(size - 1, 63).bit_length()  # few sizes, so that most blocks fit again
    try:
        block = _idle[rounded].pop()
    except IndexError:
        block = np.empty(rounded, np.uint8)
    # The buffer refers to this view and to nothing else, so the view lives as long as the buffer.
    view = block[:size]
    weakref.finalize(view, _give_back, block).atexit = False
    return pa.py_buffer(view)


def room_for(kind: Any, count: int) -> tuple[pa.Buffer, NDArray[Any]]:  # noqa: ANN401  a dtype
    """A buffer for ``count`` numbers, and the numpy array over it."""
    buffer = allocate(count * np.dtype(kind).itemsize)
    return buffer, np.frombuffer(buffer, kind)


def _give_back(block: Block) -> None:
    blocks = _idle[len(block)]
    if len(blocks) < MAX_KEPT:
        blocks.append(block)
