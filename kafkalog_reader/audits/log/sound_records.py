"""Counts the client records of a segment from given positions on, while it is read."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.batch_fields import CONTROL_BIT, MAGIC

if TYPE_CHECKING:
    from kafkalog_reader.scan.batch_run import BatchRun

_APART: Final = 1 << 20
"""Minimum bytes between two counted positions."""


class SoundRecords:
    """Client records in the sound batches of a segment, from several positions to its end.

    Old wrapper messages end the count: only decompression shows what they hold.
    """

    def __init__(self) -> None:
        self._places: list[int] = []
        self._before: list[int] = []
        self._total = 0
        self._is_known = True

    def begin(self, position: int) -> None:
        """Begin a count at a position."""
        if not self._places or position >= self._places[-1] + _APART:
            self._places.append(position)
            self._before.append(self._total)

    def add(self, run: BatchRun) -> None:
        """Add the next batches."""
        self.begin(int(run.position[0]))
        if not self._is_known or run.summary.valid == 0:
            return
        self._is_known = run.summary.least_magic >= MAGIC or not run.is_wrapper.any()
        self._total += count_records(run)

    def since(self, position: int) -> tuple[int, int] | None:
        """The first counted position at or after one, and the records from there to the end.

        None if there is no such position, or the records were not counted.
        """
        at = bisect_left(self._places, position)
        if not self._is_known or at == len(self._places):
            return None
        return self._places[at], self._total - self._before[at]


def count_records(run: BatchRun) -> int:
    """Client records in the sound batches of a run, by their headers.

    A wrapper message counts as 0.
    """
    sound = run.crc_valid & (run.attributes & CONTROL_BIT == 0) & ~run.is_wrapper
    return int(np.maximum(run.records_count, 0)[sound].sum(dtype=np.int64))
