"""Counts the client records of a segment from given positions on, while it is read."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kafkalog_reader.format.batch_fields import CONTROL_BIT, MAGIC
from kafkalog_reader.format.offset_limits import MAX_OFFSET

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion

"""No bound on lost records is higher, whatever damaged offsets say."""
_APART: Final = 1 << 20
"""Minimum bytes between two counted positions."""


class HeldRecords(NamedTuple):
    """Client records of a part of a log.

    Attributes:
        sound: in whole batches with a valid checksum.
        damaged: in damaged places at most: in batches with a wrong checksum, by their headers, and
            between sound batches, where every offset may have been a record.
        torn: in the batch that a log ends in, by its header, if it is not whole.
    """

    sound: int
    damaged: int
    torn: int = 0

    def __sub__(self, other: HeldRecords) -> HeldRecords:
        return HeldRecords(*(one - less for one, less in zip(self, other, strict=True)))


def sum_of(held: Iterable[HeldRecords]) -> HeldRecords:
    """The sum of several parts."""
    sound = damaged = torn = 0
    for each in held:
        sound += each.sound
        damaged += each.damaged
        torn += each.torn
    return HeldRecords(sound, min(damaged, MAX_OFFSET), torn)


def in_region(
    region: UnreadableRegion, first_offset: int, next_base: int | None = None
) -> HeldRecords:
    """The records that bytes without a readable batch may have held.

    Args:
        region: those bytes.
        first_offset: the one expected there.
        next_base: base offset of the next segment; None if there is none.
    """
    following = next_base if region.next_offset is None else region.next_offset
    if following is not None:
        return HeldRecords(0, max(0, following - first_offset))
    return HeldRecords(0, 0, region.begun_records)


class RecordsAfter:
    """Client records in the batches of a segment, from several positions to its end.

    Old wrapper messages end the count: only decompression shows what they hold.
    """

    def __init__(self) -> None:
        self._places: list[int] = []
        self._before: list[HeldRecords] = []
        self._total = HeldRecords(0, 0)
        self._is_known = True

    def add_region(self, region: UnreadableRegion, first_offset: int) -> None:
        """Add bytes without a readable batch."""
        self.begin(region.start)
        self._total = sum_of((self._total, in_region(region, first_offset)))

    def begin(self, position: int) -> None:
        """Begin a count at a position."""
        if not self._places or position >= self._places[-1] + _APART:
            self._places.append(position)
            self._before.append(self._total)

    def add(self, run: BatchRun) -> None:
        """Add the next batches."""
        self.begin(int(run.position[0]))
        if not self._is_known:
            return
        self._is_known = run.summary.least_magic >= MAGIC or not run.is_wrapper.any()
        self._total = sum_of((self._total, count_records(run)))

    def since(self, position: int) -> tuple[int, HeldRecords] | None:
        """The first counted position at or after one, and the records from there to the end.

        None if there is no such position, or the records were not counted.
        """
        at = bisect_left(self._places, position)
        if not self._is_known or at == len(self._places):
            return None
        before = self._before[at]
        return self._places[at], self._total - before


def count_records(run: BatchRun) -> HeldRecords:
    """Client records of a run, by the headers of its batches.

    A wrapper message counts as 0.
    """
    counted = (run.attributes & CONTROL_BIT == 0) & ~run.is_wrapper
    sound = np.maximum(run.records_count, 0)[run.crc_valid & counted].sum(dtype=np.int64)
    if run.all_valid:
        return HeldRecords(int(sound), 0)
    damaged = run.held_records(slice(None))[~run.crc_valid & counted].sum(dtype=np.int64)
    return HeldRecords(int(sound), int(damaged))
