"""Compares the next batches of two copies byte by byte, in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.batch_stream import BatchStream

FEW: Final = 16
"""Number of batches compared first, and the factor by which each further step grows."""
_BLOCK: Final = 256 << 10
"""Bytes compared at once, so that both sides fit into a second-level cache."""


def equal_batches(one: BatchStream, other: BatchStream, count: int) -> int:
    """How many of the next ``count`` batches are equal byte by byte.

    It starts with a few: batches compared beyond the first difference are compared again later,
    which is costly where copies differ in every second batch.
    """
    equal, size = 0, FEW
    while equal < count:
        size = min(size, count - equal)
        found = _equal_among(one, other, equal, size)
        equal += found
        if found < size:
            break
        size *= FEW
    return equal


def _equal_among(one: BatchStream, other: BatchStream, ahead: int, count: int) -> int:
    """How many batches are equal, beginning ``ahead`` batches after the current one."""
    left, right = one.run, other.run
    i, j = one.index + ahead, other.index + ahead
    same = (left.base_offset[i : i + count] == right.base_offset[j : j + count]) & (
        left.size_in_bytes[i : i + count] == right.size_in_bytes[j : j + count]
    )
    if not same.all():
        count = int(np.argmin(same))
    if count == 0:
        return 0
    at = _first_difference(one.bytes_of(count, ahead), other.bytes_of(count, ahead))
    if at is None:
        return count
    starts = left.position[i : i + count] - left.position[i]
    return int(np.searchsorted(starts, at, side="right")) - 1


def _first_difference(left: memoryview, right: memoryview) -> int | None:
    size = min(len(left), len(right))
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        whole = stop - (stop - start) % 8
        words = [np.frombuffer(side[start:whole], np.uint64) for side in (left, right)]
        if (words[0] == words[1]).all() and left[whole:stop] == right[whole:stop]:
            continue
        one, other = (np.frombuffer(side[start:stop], np.uint8) for side in (left, right))
        return start + int(np.argmax(one != other))
    return None if len(left) == len(right) else size
