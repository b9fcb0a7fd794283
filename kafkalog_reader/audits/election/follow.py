"""Simulates how a follower truncates its log when it follows a given leader.

The rule is copied including its gaps, because a simplified one predicts wrongly. Source: Kafka 4.0,
server.AbstractFetcherThread (truncateOnFetchResponse, getOffsetTruncationState,
fetchOffsetAndTruncate) and storage.internals.epoch.LeaderEpochFileCache; KIP-595.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.log.epoch_log import EpochLog
    from kafkalog_reader.audits.log.leader_epoch_cache import EpochEnd, LeaderEpochCache


class FollowingEnd(Enum):
    """How the truncation of a follower ended."""

    ACCEPTED = "accepted"
    """The leader confirmed the follower's newest epoch at its log end."""
    UNCHECKED = "unchecked"
    """No leader epoch remains to compare: the follower fetches without a check."""
    ENDED_AT_LEADER = "ended at the leader's log end"
    """The answer was undefined and the leader's log is shorter: truncated there, not compared."""
    RESTARTED = "restarted at the leader's log start"
    """The follower's log ends before the leader's begins: it is deleted completely."""
    LOOPS = "asks again for ever"
    """The answer was undefined and the log was kept: KL-521."""
    STUCK = "cannot append the leader's batch"
    """The leader's batch at the follower's log end begins below it: refused until a restart.

    Source: Kafka 4.0, UnifiedLog#append (UnexpectedAppendOffsetException), Partition
    #appendRecordsToFollowerOrFutureReplica, which accepts it for an empty log only.
    """
    REFETCHES = "cuts and fetches the same records again, for ever"
    """The leader epoch of the leader's own batches is missing in its cache, or ends below them.

    The follower learns that epoch from the batches, and the leader's next answer makes it truncate
    them again, until a fetch also returns batches of a later epoch. Source: Kafka 4.0,
    Partition#readRecords.
    """
    HIGH_WATERMARK = "cut to the high watermark"
    """By an older rule: the leader had no answer, or was not asked."""

    @property
    def is_in_sync(self) -> bool:
        """Whether the follower gets in sync by itself."""
        return self not in (FollowingEnd.STUCK, FollowingEnd.LOOPS, FollowingEnd.REFETCHES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One request of the follower, and the truncation after the answer.

    Attributes:
        cache_before: the follower's epochs when it asked.
    """

    asked: int
    answer: EpochEnd | None
    truncated_to: int | None
    cache_before: LeaderEpochCache


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """The result of a follower's truncation.

    Attributes:
        truncation_offset: the lowest offset that the broker truncates to; its log end if it does
            not.
        rounds: requests whose answer made the follower truncate its log or its cache.
        follower: its log afterwards.
    """

    outcome: FollowingEnd
    truncation_offset: int
    rounds: tuple[Round, ...]
    follower: EpochLog


def elected(leader: EpochLog, leader_epoch: int) -> EpochLog:
    """A candidate's log after its election, which begins its epoch at the log end.

    For a leader that *stays* leader, followers follow the log without such an entry.
    """
    return replace(leader, cache=leader.cache.assign(leader_epoch, leader.log_end_offset))


def follow(leader: EpochLog, follower: EpochLog) -> Following:
    """Truncate a follower against a leader, by the rule of Kafka 2.7 and later."""
    rounds: list[Round] = []
    first = follower
    if not follower.cache.entries and not follower.is_empty:
        follower = truncated(follower, min(follower.high_watermark, follower.log_end_offset))
    while True:
        last = follower.cache.latest
        if last is None:
            outcome, follower = out_of_range(leader, follower, FollowingEnd.UNCHECKED)
            break
        answer = leader.cache.end_for(last.leader_epoch, leader.log_end_offset)
        if answer is None or follower.log_end_offset < leader.log_start_offset:
            outcome, follower = out_of_range(leader, follower, FollowingEnd.LOOPS)
            break
        if (
            answer.leader_epoch == last.leader_epoch
            and answer.next_offset >= follower.log_end_offset
        ):
            outcome = FollowingEnd.ACCEPTED
            break
        target = target_of(answer, follower)
        rounds.append(
            Round(
                asked=last.leader_epoch,
                answer=answer,
                truncated_to=target,
                cache_before=follower.cache,
            )
        )
        cut = truncated(follower, target)
        if cut == follower:  # similar to KL-521; impossible with rising entries, but do not loop
            outcome = FollowingEnd.LOOPS
            break
        follower = cut
    return ended(outcome, first, follower, rounds)


def ended(
    outcome: FollowingEnd, before: EpochLog, after: EpochLog, rounds: Sequence[Round] = ()
) -> Following:
    """Build the result from the follower's log before and after."""
    is_restarted = outcome is FollowingEnd.RESTARTED
    return Following(
        outcome=outcome,
        truncation_offset=(
            before.log_start_offset
            if is_restarted
            else min(after.log_end_offset, before.log_end_offset)
        ),
        rounds=tuple(rounds),
        follower=after,
    )


def target_of(answer: EpochEnd, follower: EpochLog) -> int:
    """The offset to truncate to after a diverging answer. Source: getOffsetTruncationState."""
    own = follower.cache.end_for(answer.leader_epoch, follower.log_end_offset)
    if own is None:
        return min(answer.next_offset, follower.log_end_offset)
    if own.leader_epoch != answer.leader_epoch:
        return min(own.next_offset, follower.log_end_offset)
    return min(own.next_offset, answer.next_offset, follower.log_end_offset)


def out_of_range(
    leader: EpochLog, follower: EpochLog, kept: FollowingEnd
) -> tuple[FollowingEnd, EpochLog]:
    """Handle a request outside the leader's log, or one without an answer.

    Leader epochs are not compared here, so differences below stay.
    """
    if leader.log_end_offset < follower.log_end_offset:
        return FollowingEnd.ENDED_AT_LEADER, truncated(follower, leader.log_end_offset)
    if leader.log_start_offset > follower.log_end_offset:
        emptied = truncated(follower, follower.log_start_offset)
        start = leader.log_start_offset
        return FollowingEnd.RESTARTED, replace(
            emptied, log_start_offset=start, log_end_offset=start, high_watermark=start
        )
    return kept, follower


def truncated(follower: EpochLog, target: int) -> EpochLog:
    """Truncate the log to the target, and drop cache entries at or above it in any case.

    The first part is UnifiedLog.truncateTo; the second was missing before KAFKA-10706.
    """
    return replace(
        follower,
        cache=follower.cache.truncate_from_end(target),
        log_start_offset=min(follower.log_start_offset, target),
        log_end_offset=min(follower.log_end_offset, target),
        high_watermark=min(follower.high_watermark, target),
    )
