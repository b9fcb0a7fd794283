"""Simulates what one follower does when a candidate leads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.branch_records import records_between
from kafkalog_reader.audits.election.follow import FollowingEnd
from kafkalog_reader.audits.election.truncation_rule import TruncationRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.follow import Following
    from kafkalog_reader.audits.log.epoch_log import EpochLog


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerOutcome:
    """The result of a follower's truncation, and what it means for its records.

    Attributes:
        rule: the rule by which it truncates.
        log_start_offset, log_end_offset: after its own start, before it follows.
        kept_until: one past the last offset it keeps; below ``truncation_offset`` if that is inside
            a batch, which is removed as a whole.
        records_cut: client records that it truncates.
        silent_divergence: the first offset below its end whose content differs from the leader's:
            KL-517.
        is_needless: whether it truncates records that the leader has, too, and fetches them again:
            KL-518.
        otherwise: other rules that may apply and truncate to another offset, and that offset.
        spoiling: those of them by which the copy would stay different, or never get in sync.
    """

    follower: Candidate
    rule: TruncationRule
    following: Following
    log_start_offset: int
    log_end_offset: int
    kept_until: int
    records_cut: int
    silent_divergence: int | None
    is_needless: bool
    otherwise: tuple[tuple[TruncationRule, int], ...] = ()
    spoiling: tuple[TruncationRule, ...] = ()

    @property
    def truncation_offset(self) -> int:
        return self.following.truncation_offset

    @property
    def becomes_equal(self) -> bool:
        """Whether it gets in sync, and then has what the leader has."""
        return self.following.outcome.is_in_sync and self.silent_divergence is None

    @property
    def is_cut(self) -> bool:
        return self.kept_until < self.log_end_offset

    def keeps_damage(self, leader_start: int) -> bool:
        """Whether damage stays in what the follower keeps: it fetches none of that again."""
        first, kept_from = self.follower.unreadable_from, max(self.log_start_offset, leader_start)
        return (
            first is not None
            and first < self.kept_until
            and self.follower.damaged_until > kept_from
        )


def follower_outcome(
    follower: Candidate,
    leading: Candidate,
    leader: EpochLog,
    comparison: Comparison,
    rules: Sequence[TruncationRule],
) -> FollowerOutcome:
    """Simulate that one replica follows a leader.

    Args:
        follower: a replica that has started.
        leading: the replica that leads.
        leader: its log after the election.
        comparison: of the replicas.
        rules: the first is used, and the others are compared with it.
    """
    before = follower.log
    assert before is not None
    following = rules[0].follow(leader, before)
    if _is_stuck(following.follower, leader, leading, comparison):
        following = replace(following, outcome=FollowingEnd.STUCK)
    elif (
        rules[0] is TruncationRule.CURRENT
        and following.outcome is not FollowingEnd.LOOPS
        and _refetches(following.follower, leader, leading, comparison)
    ):
        following = replace(following, outcome=FollowingEnd.REFETCHES)
    target, end = following.truncation_offset, before.log_end_offset
    fork = comparison.content_fork(leading.replica, follower.replica)
    kept_until = _kept_until(follower, target, end, comparison)
    first_cut = max(kept_until, before.log_start_offset)
    header_fork = comparison.header_fork(leading.replica, follower.replica)
    if not following.outcome.is_in_sync:  # that is not silent
        header_fork = None
    forks = [each for each in (fork, header_fork) if each is not None]
    otherwise_from = max(min(forks), leader.log_start_offset) if forks else None
    common_end = min(end, leader.log_end_offset, *([] if fork is None else [fork]))
    others = ((rule, rule.follow(leader, before).truncation_offset) for rule in rules[1:])
    otherwise = tuple((rule, offset) for rule, offset in others if offset != target)
    return FollowerOutcome(
        follower=follower,
        rule=rules[0],
        following=following,
        log_start_offset=before.log_start_offset,
        log_end_offset=end,
        kept_until=kept_until,
        records_cut=records_between(follower, first_cut, end, comparison),
        silent_divergence=(
            otherwise_from
            if otherwise_from is not None
            and max(otherwise_from, before.log_start_offset) < kept_until
            else _gap(first_cut, target, leader, leading)
        ),
        is_needless=(
            kept_until < end and max(first_cut, target, leader.log_start_offset) < common_end
        ),  # below the target nothing is fetched again
        otherwise=otherwise,
        spoiling=tuple(
            rule
            for rule, _ in otherwise
            if not follower_outcome(follower, leading, leader, comparison, (rule,)).becomes_equal
        ),
    )


def _is_stuck(
    after: EpochLog, leader: EpochLog, leading: Candidate, comparison: Comparison
) -> bool:
    """Whether a follower will fetch from the middle of one of the leader's batches."""
    fetched_from = after.log_end_offset
    if after.is_empty or not leader.log_start_offset <= fetched_from < leader.log_end_offset:
        return False
    if _begins_at(fetched_from, leading, comparison):
        return False
    start = leading.batch_start(fetched_from)
    return start is not None and start < fetched_from


def _refetches(
    after: EpochLog, leader: EpochLog, leading: Candidate, comparison: Comparison
) -> bool:
    """Whether the leader's epochs contradict the last batches that a follower fetches.

    Each fetched batch sets the follower's newest epoch, also to an older one. The next fetch, at
    the leader's log end, sends this epoch: if the leader does not have it, or has it end below, the
    follower truncates and fetches again. Source: Kafka 4.3, Partition#readRecords.
    """
    fetched = [
        interval
        for branch in comparison.branches()
        if leading.replica in branch.replicas
        for interval in branch.intervals
        if interval.next_offset > after.log_end_offset
        and interval.first_offset < leader.log_end_offset
    ]
    if not fetched or after.log_end_offset < leader.log_start_offset:
        return False
    last = max(fetched, key=lambda interval: interval.first_offset).leader_epoch
    answer = leader.cache.end_for(last, leader.log_end_offset)
    return answer is not None and (
        answer.leader_epoch < last or answer.next_offset < leader.log_end_offset
    )


def _begins_at(offset: int, candidate: Candidate, comparison: Comparison) -> bool:
    """Whether a batch of a replica begins there, because histories diverge or end there."""
    return any(
        branch.first_offset == offset and candidate.replica in branch.replicas and branch.batches
        for branch in comparison.branches()
    )


def _gap(first_cut: int, target: int, leader: EpochLog, leading: Candidate) -> int | None:
    """Where a follower will lack the leader's records for ever; None if nowhere.

    It fetches from the truncation offset on; records below it, in the batch that was cut there, are
    never fetched again. Source: Kafka 4.0, LocalLog#truncateTo, which cuts whole batches and sets
    the log end to the target.
    """
    first, following = max(first_cut, leader.log_start_offset), min(target, leader.log_end_offset)
    return first if first < following and leading.records(first, following) else None


def _kept_until(follower: Candidate, target: int, end: int, comparison: Comparison) -> int:
    """Where the file ends after a truncation; a batch across the target is removed completely."""
    if target >= end or target <= follower.log_start_offset:
        return min(target, end)
    if _begins_at(target, follower, comparison):
        return target
    start = follower.batch_start(target)
    return target if start is None else min(target, start)
