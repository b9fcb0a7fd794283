"""The leader epochs that a broker has for one replica, and the requests that leaders answer.

Source: Kafka 4.0, storage.internals.epoch.LeaderEpochFileCache. Values are frozen: every operation
returns a new cache, so that a simulation can keep each step.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kafkalog_reader.format.checkpoint import LeaderEpochEntry

if TYPE_CHECKING:
    from collections.abc import Iterable


class EpochEnd(NamedTuple):
    """An answer to "where did this leader epoch end?": an epoch, and one past its last offset."""

    leader_epoch: int
    next_offset: int


@dataclass(frozen=True, slots=True)
class LeaderEpochCache:
    """Entries with strictly rising leader epochs and start offsets."""

    entries: tuple[LeaderEpochEntry, ...] = ()

    @classmethod
    def loaded(cls, entries: Iterable[LeaderEpochEntry]) -> LeaderEpochCache:
        """The cache after a start: Kafka assigns the rows of the file one after another."""
        return cls().assign_all((entry.leader_epoch, entry.start_offset) for entry in entries)

    @property
    def latest(self) -> LeaderEpochEntry | None:
        """The newest entry; None when the cache is empty."""
        return self.entries[-1] if self.entries else None

    def assign(self, leader_epoch: int, start_offset: int) -> LeaderEpochCache:
        """Begin an epoch; remove entries that contradict it or have the same start offset."""
        return self.assign_all([(leader_epoch, start_offset)])

    def assign_all(self, begun: Iterable[tuple[int, int]]) -> LeaderEpochCache:
        """Begin epochs at start offsets, one after another, in linear time."""
        entries = [*self.entries]
        for leader_epoch, start_offset in begun:
            latest = entries[-1] if entries else None
            if (
                latest is not None
                and latest.leader_epoch == leader_epoch
                and latest.start_offset <= start_offset
            ):
                continue
            while entries and (
                entries[-1].leader_epoch >= leader_epoch or entries[-1].start_offset >= start_offset
            ):
                entries.pop()
            entries.append(LeaderEpochEntry(leader_epoch=leader_epoch, start_offset=start_offset))
        return LeaderEpochCache(tuple(entries))

    def truncate_from_end(self, next_offset: int) -> LeaderEpochCache:
        """Drop the entries that start at or above the new log end."""
        return LeaderEpochCache(
            tuple(entry for entry in self.entries if entry.start_offset < next_offset)
        )

    def truncate_from_start(self, log_start_offset: int) -> LeaderEpochCache:
        """Drop the entries below the new log start; the epoch that applies there begins at it."""
        below = [entry for entry in self.entries if entry.start_offset <= log_start_offset]
        above = self.entries[len(below) :]
        if not below:
            return self
        clipped = LeaderEpochEntry(
            leader_epoch=below[-1].leader_epoch, start_offset=log_start_offset
        )
        return LeaderEpochCache((clipped, *above))

    def end_for(self, leader_epoch: int | None, log_end_offset: int) -> EpochEnd | None:
        """Where the newest known epoch at or below ``leader_epoch`` ended.

        Returns:
            None for Kafka's undefined answer: no epoch requested, an empty cache, or an epoch newer
            than all known ones. The answer for an epoch older than all is that epoch itself, ending
            where the first known one begins.

        Source: Kafka 4.0, LeaderEpochFileCache.endOffsetFor.
        """
        latest = self.latest
        if leader_epoch is None or latest is None:
            return None
        if leader_epoch == latest.leader_epoch:
            return EpochEnd(leader_epoch, log_end_offset)
        following = bisect_right(self.entries, leader_epoch, key=lambda entry: entry.leader_epoch)
        if following == len(self.entries):
            return None
        next_offset = self.entries[following].start_offset
        if following == 0:
            return EpochEnd(leader_epoch, next_offset)
        return EpochEnd(self.entries[following - 1].leader_epoch, next_offset)
