"""Finds which leader epoch wrote which offsets of a replica, and where two replicas diverge.

A lineage is a step function with few steps. It is exact where batches exist; the
``leader-epoch-checkpoint`` fills the ranges that compaction emptied.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache


class EpochInterval(NamedTuple):
    """The offsets [first, next) were written under one leader epoch."""

    leader_epoch: int
    first_offset: int
    next_offset: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """Intervals by rising offset, without overlap; the epoch of uncovered offsets is unknown."""

    intervals: tuple[EpochInterval, ...] = ()

    def epoch_at(self, offset: int) -> int | None:
        """The leader epoch at an offset; None if unknown."""
        index = bisect_right(self.intervals, offset, key=lambda interval: interval.first_offset) - 1
        if index < 0 or offset >= self.intervals[index].next_offset:
            return None
        return self.intervals[index].leader_epoch

    @property
    def greatest_leader_epoch(self) -> int | None:
        """The greatest leader epoch; None without intervals."""
        return max((interval.leader_epoch for interval in self.intervals), default=None)

    @property
    def rising(self) -> Lineage:
        """The lineage without intervals that a lower epoch follows: their field is damaged."""
        kept: list[EpochInterval] = []
        for interval in reversed(self.intervals):
            if not kept or interval.leader_epoch <= kept[-1].leader_epoch:
                kept.append(interval)
        return Lineage(tuple(reversed(kept)))

    @property
    def epoch_starts(self) -> tuple[tuple[int, int], ...]:
        """The rows of a ``leader-epoch-checkpoint``: each leader epoch and its first offset."""
        starts: dict[int, int] = {}
        for interval in self.rising.intervals:
            starts.setdefault(interval.leader_epoch, interval.first_offset)
        return tuple(starts.items())

    def clipped(self, first_offset: int, next_offset: int) -> Lineage:
        """The part of the lineage inside [first, next)."""
        return Lineage(
            tuple(
                EpochInterval(
                    interval.leader_epoch,
                    max(interval.first_offset, first_offset),
                    min(interval.next_offset, next_offset),
                )
                for interval in self.intervals
                if interval.first_offset < next_offset and interval.next_offset > first_offset
            )
        )


class LineageBuilder:
    """Builds the lineage of a replica from its batches, in log order."""

    def __init__(self) -> None:
        self._intervals: list[EpochInterval] = []

    def add(self, leader_epoch: int, first_offset: int, next_offset: int) -> None:
        """Append batches of one epoch; the first offset of an epoch begins its interval.

        An offset that compaction emptied between two batches of one epoch belongs to the epoch.
        """
        if self._intervals and self._intervals[-1].leader_epoch == leader_epoch:
            first_offset = self._intervals.pop().first_offset
        self._intervals.append(EpochInterval(leader_epoch, first_offset, next_offset))

    def build(self) -> Lineage:
        """The lineage so far, without batches of formats that have no leader epochs (−1)."""
        return Lineage(
            tuple(interval for interval in self._intervals if interval.leader_epoch >= 0)
        )


def declared_lineage(
    cache: LeaderEpochCache, log_start_offset: int, log_end_offset: int
) -> Lineage:
    """The lineage of [log start, log end) by the epoch checkpoint: entries last to the next one."""
    ends = [*(entry.start_offset for entry in cache.entries), log_end_offset][1:]
    return Lineage(
        tuple(
            EpochInterval(entry.leader_epoch, entry.start_offset, next_offset)
            for entry, next_offset in zip(cache.entries, ends, strict=True)
            if entry.start_offset < next_offset
        )
    ).clipped(log_start_offset, log_end_offset)


def combined_lineage(data: Lineage, declared: Lineage) -> Lineage:
    """``data`` where records exist, and ``declared`` in ranges without records."""
    builder = LineageBuilder()
    for first_offset, next_offset in _cuts((data, declared)):
        leader_epoch = data.epoch_at(first_offset)
        if leader_epoch is None:
            leader_epoch = declared.epoch_at(first_offset)
        if leader_epoch is not None:
            builder.add(leader_epoch, first_offset, next_offset)
    return builder.build()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageFork:
    """Where two lineages diverge in their common range.

    Attributes:
        offset: the first offset after the last interval on which both agree; the end of the range
            if they agree everywhere.
        first_offset, next_offset: the common range; empty if one ends before the other begins.
        met_again: whether they agree again after the fork, which is impossible in sound logs
            (KL-515).
    """

    offset: int
    first_offset: int
    next_offset: int
    met_again: bool = False


def lineage_fork(
    left: Lineage,
    right: Lineage,
    first_offset: int,
    next_offset: int,
    *,
    data: tuple[Lineage, Lineage] | None = None,
) -> LineageFork:
    """Compare two lineages over [first, next); offsets unknown in one of them are skipped.

    ``data`` has the intervals of the batches, left and right. By its checkpoint alone, an epoch
    reaches up to the next entry, and that is the first batch that a follower got: what the leader's
    cleaner removed before is in neither epoch there. So where the side with the lower epoch has no
    batches, the epochs differ only if they do not agree again (T38).
    """
    parted_at: int | None = None
    possibly_at: int | None = None
    met_again = False
    common = tuple(each.clipped(first_offset, next_offset) for each in (left, right))
    batches = tuple(each.clipped(first_offset, next_offset) for each in data or common)
    for start, _ in _cuts((*common, *batches)):
        left_epoch, right_epoch = (each.epoch_at(start) for each in common)
        if left_epoch is None or right_epoch is None:
            continue
        if left_epoch == right_epoch:
            possibly_at = None
            met_again |= parted_at is not None
            continue
        possibly_at = start if possibly_at is None else possibly_at
        lower = batches[0] if left_epoch < right_epoch else batches[1]
        if parted_at is None and lower.epoch_at(start) is not None:
            parted_at = possibly_at
    end = max(first_offset, next_offset)
    return LineageFork(
        offset=next((each for each in (parted_at, possibly_at) if each is not None), end),
        first_offset=first_offset,
        next_offset=end,
        met_again=met_again,
    )


def _cuts(lineages: Iterable[Lineage]) -> list[tuple[int, int]]:
    """The half-open ranges between adjacent borders of all intervals: nothing changes inside."""
    borders = sorted(
        {
            border
            for lineage in lineages
            for interval in lineage.intervals
            for border in (interval.first_offset, interval.next_offset)
        }
    )
    return list(pairwise(borders))
