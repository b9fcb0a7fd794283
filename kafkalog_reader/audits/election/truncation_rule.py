"""The rules by which a follower truncates, which changed with Kafka's releases.

Source: KIP-101 (0.11), KIP-279 (2.0) and KIP-595 (2.7), server.AbstractFetcherThread
(getOffsetTruncationState) and ReplicaFetcherThread of those releases.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.election.follow import (
    Following,
    FollowingEnd,
    Round,
    ended,
    follow,
    out_of_range,
    target_of,
    truncated,
)
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import EpochEnd, LeaderEpochCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.log.replica import Replica

Rule = Callable[[EpochLog, EpochLog], Following]
"""Simulates how a follower truncates to match a leader."""


class TruncationRule(Enum):
    """The rules, oldest first."""

    HIGH_WATERMARK = "high-watermark"
    """Before 0.11, and for formats without leader epochs: truncate to the high watermark."""
    ONE_ROUND = "one-round"
    """0.11 to 1.1: ask once where the follower's newest epoch ended on the leader."""
    SEVERAL_ROUNDS = "several-rounds"
    """2.0 to 2.6: ask until both have the epoch."""
    CURRENT = "current"
    """2.7 and later: the same, as part of fetching."""

    @property
    def follow(self) -> Rule:
        """The rule as a function."""
        return _RULES[self]


def rule_named(name: str | None) -> TruncationRule | None:
    """The rule that an option names; None without the option."""
    return None if name is None else TruncationRule(name)


def possible_rules(
    replicas: Sequence[Replica], histories: Sequence[History]
) -> tuple[TruncationRule, ...]:
    """The rules that the brokers of these replicas may follow; the likeliest first.

    Epoch checkpoints came with 0.11, topic ids with 2.8, directory ids with 3.7. No file of a
    partition distinguishes releases between these.
    """
    if any(
        replica.topic_id is not None or replica.directory.log_directory.directory_id is not None
        for replica in replicas
    ):
        return (TruncationRule.CURRENT,)
    has_file = any(
        replica.epoch_entries is not None or not replica.has_sound_epochs for replica in replicas
    )
    if not has_file and not any(history.leader_epochs for history in histories):
        return (TruncationRule.HIGH_WATERMARK,)
    return (TruncationRule.CURRENT, TruncationRule.SEVERAL_ROUNDS, TruncationRule.ONE_ROUND)


def follow_to_high_watermark(leader: EpochLog, follower: EpochLog) -> Following:
    """Truncate to the follower's high watermark, then fetch, without asking for epochs."""
    return _to_high_watermark(leader, follower, follower)


def follow_in_one_round(leader: EpochLog, follower: EpochLog) -> Following:
    """Ask once; the answer has an offset, but no epoch."""
    last = follower.cache.latest
    if last is None:
        return follow_to_high_watermark(leader, follower)
    end = _end_offset(leader.cache, leader.log_end_offset, last.leader_epoch)
    if end is None:
        return _to_high_watermark(leader, follower, follower)
    if end >= follower.log_end_offset:
        outcome, after = out_of_range(leader, follower, FollowingEnd.ACCEPTED)
        return ended(outcome, follower, after)
    only = Round(
        asked=last.leader_epoch,
        answer=EpochEnd(last.leader_epoch, end),
        truncated_to=end,
        cache_before=follower.cache,
    )
    outcome, after = out_of_range(leader, truncated(follower, end), FollowingEnd.ACCEPTED)
    return ended(outcome, follower, after, [only])


def follow_in_several_rounds(leader: EpochLog, follower: EpochLog) -> Following:
    """Ask with separate requests until both sides have the epoch of the answer.

    With the fix of KAFKA-10706: before, an entry at the log end stayed, and the follower could
    repeat the same request for ever.
    """
    first, rounds = follower, list[Round]()
    while True:
        last = follower.cache.latest
        if last is None:
            if not rounds:
                return follow_to_high_watermark(leader, follower)
            outcome, follower = out_of_range(leader, follower, FollowingEnd.UNCHECKED)
            return ended(outcome, first, follower, rounds)
        answer = leader.cache.end_for(last.leader_epoch, leader.log_end_offset)
        if answer is None:
            return _to_high_watermark(leader, first, follower, rounds)
        own = follower.cache.end_for(answer.leader_epoch, follower.log_end_offset)
        target = target_of(answer, follower)
        cut = truncated(follower, target)
        if cut != follower:
            rounds.append(
                Round(
                    asked=last.leader_epoch,
                    answer=answer,
                    truncated_to=target,
                    cache_before=follower.cache,
                )
            )
        is_complete = own is None or own.leader_epoch == answer.leader_epoch
        if is_complete or cut == follower:
            outcome, follower = out_of_range(leader, cut, FollowingEnd.ACCEPTED)
            return ended(outcome, first, follower, rounds)
        follower = cut


def _to_high_watermark(
    leader: EpochLog, first: EpochLog, follower: EpochLog, rounds: Sequence[Round] = ()
) -> Following:
    cut = truncated(follower, min(follower.high_watermark, follower.log_end_offset))
    outcome, after = out_of_range(leader, cut, FollowingEnd.HIGH_WATERMARK)
    return ended(outcome, first, after, rounds)


def _end_offset(cache: LeaderEpochCache, log_end_offset: int, leader_epoch: int) -> int | None:
    """Where an epoch ended, as leaders answered before KIP-279: undefined if older than all."""
    latest = cache.latest
    if latest is None or leader_epoch < cache.entries[0].leader_epoch:
        return None
    answer = cache.end_for(leader_epoch, log_end_offset)
    return None if answer is None else answer.next_offset


_RULES: Final[dict[TruncationRule, Rule]] = {
    TruncationRule.HIGH_WATERMARK: follow_to_high_watermark,
    TruncationRule.ONE_ROUND: follow_in_one_round,
    TruncationRule.SEVERAL_ROUNDS: follow_in_several_rounds,
    TruncationRule.CURRENT: follow,
}
