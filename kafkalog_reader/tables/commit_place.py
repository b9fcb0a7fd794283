"""Where a committed offset lies in a log, and where its group can go on without losing records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Place(Enum):
    """Where a committed offset lies in the log of its partition."""

    OK = "ok"
    BELOW_LOG_START = "below-log-start"
    ABOVE_LOG_END = "above-log-end"
    ON_LOST_BRANCH = "on-lost-branch"
    """Its group read records of a leader epoch that ended before: an election cut them off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedLog:
    """What of a log decides about commits.

    Attributes:
        log_start, log_end: its first offset, and the offset that the next record gets.
        epochs: each leader epoch and its first offset, rising; empty if unknown.
    """

    log_start: int
    log_end: int
    epochs: Sequence[tuple[int, int]] = ()

    def place_of(self, offset: int, leader_epoch: int | None) -> Place:
        """Where a committed offset lies; ``leader_epoch`` is that of the last record read.

        Source: Kafka 4.4, SubscriptionState#maybeCompleteValidation: a position is truncated if its
        leader epoch ended before it.
        """
        if offset < self.log_start:
            return Place.BELOW_LOG_START
        if self._end_of(leader_epoch) < min(offset, self.log_end):
            return Place.ON_LOST_BRANCH
        return Place.OK if offset <= self.log_end else Place.ABOVE_LOG_END

    def safe_offset(self, offset: int, leader_epoch: int | None) -> int:
        """Where the group can go on without skipping what it has not read, as far as is known."""
        return max(self.log_start, min(offset, self.log_end, self._end_of(leader_epoch)))

    def _end_of(self, leader_epoch: int | None) -> int:
        """Where a leader epoch ends, or the one before it if it is not in this log.

        The log end for the last epoch and without an epoch. One that is older than all ends where
        the first one begins, as LeaderEpochFileCache#endOffsetFor answers.
        """
        if leader_epoch is None or leader_epoch < 0:
            return self.log_end
        held = [(epoch, start) for epoch, start in self.epochs if start < self.log_end]
        return min((start for epoch, start in held if epoch > leader_epoch), default=self.log_end)
