"""Simulates the election of each candidate: what followers truncate, which records are lost.

Starts come before elections: candidates and followers are simulated as their own starts leave them.
The sum of all truncated records is not the loss: two followers may truncate the same record, or one
that the leader has and they fetch again. A record is lost if no replica that holds it keeps it; one
that only followers keep is as good as lost, because consumers read from the leader, and a copy that
is made again is made from the leader.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.election.election_loss import LostRange, lost_ranges
from kafkalog_reader.audits.election.follow import elected
from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome, follower_outcome
from kafkalog_reader.audits.election.truncation_rule import TruncationRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.election.candidate import Candidate


class ElectionKind(StrEnum):
    """The kinds of election, by what they lose."""

    CLEAN = "clean"
    """The leader lacks no record that is or may be committed."""
    UNDETERMINED = "undetermined"
    """It lacks records that may have been committed."""
    UNCLEAN = "unclean"
    """It lacks records that were committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """One candidate's election; all counts are of distinct records.

    Attributes:
        lost_ranges: what no replica has afterwards.
        apart_ranges: what stays on followers although the leader lacks it (KL-508, KL-517).
        absent: replicas that do not start, and so do not follow.
        clean_by_membership: whether Kafka itself would call it clean; None without cluster
            metadata.
        leader_epoch: the epoch that the candidate begins.
        rank: 1 for the one to prefer, which every command names.
    """

    candidate: Candidate
    followers: tuple[FollowerOutcome, ...]
    lost_ranges: tuple[LostRange, ...]
    apart_ranges: tuple[LostRange, ...] = ()
    absent: tuple[Candidate, ...] = ()
    clean_by_membership: bool | None = None
    leader_epoch: int = 0
    rank: int = 0

    def __repr__(self) -> str:
        return f"<Election of {self.candidate.name}: {self.kind.value}, rank {self.rank}>"

    @property
    def lost(self) -> CommitCount:
        """Records that are on no replica afterwards."""
        return sum((lost.records for lost in self.lost_ranges), CommitCount())

    @property
    def kept_apart(self) -> CommitCount:
        """Records that only followers have: no consumer gets them while the candidate leads."""
        return sum((kept.records for kept in self.apart_ranges), CommitCount())

    @property
    def lacking_ranges(self) -> tuple[LostRange, ...]:
        """What the leader lacks afterwards, by offset."""
        together = (*self.lost_ranges, *self.apart_ranges)
        return tuple(sorted(together, key=lambda each: each.first_offset))

    @property
    def lacking(self) -> CommitCount:
        """Records that the leader lacks: replica-divergence.md, section 4.8."""
        return self.lost + self.kept_apart

    @property
    def kind(self) -> ElectionKind:
        lacking = self.lacking
        if lacking.known:
            return ElectionKind.UNCLEAN
        return ElectionKind.UNDETERMINED if lacking.possible else ElectionKind.CLEAN

    @property
    def is_silent(self) -> bool:
        """Whether a follower keeps content that differs from the leader's: KL-517."""
        return any(outcome.silent_divergence is not None for outcome in self.followers)

    @property
    def deleted_below(self) -> tuple[Candidate, ...]:
        """Followers that delete what they hold below the start of a leader that lost its own."""
        log = self.candidate.log
        if log is None or not self.candidate.is_start_lost:
            return ()
        start = log.log_start_offset
        return tuple(
            each.follower
            for each in self.followers
            if each.log_start_offset < start and each.follower.records(each.log_start_offset, start)
        )

    @property
    def without_start(self) -> tuple[Candidate, ...]:
        """Followers that lost their beginning, which the leader has: they never fetch it again."""
        log = self.candidate.log
        if log is None:
            return ()
        return tuple(
            each.follower
            for each in self.followers
            if each.follower.is_start_lost
            and each.log_start_offset > log.log_start_offset
            and self.candidate.records(log.log_start_offset, each.log_start_offset)
        )

    @property
    def out_of_sync(self) -> tuple[FollowerOutcome, ...]:
        """Followers that do not get in sync by themselves."""
        return tuple(each for each in self.followers if not each.following.outcome.is_in_sync)

    @property
    def keeping_damage(self) -> tuple[Candidate, ...]:
        """Followers whose copy stays damaged, although the leader's is whole."""
        log = self.candidate.log
        if log is None or self.candidate.unreadable_from is not None:
            return ()
        start = log.log_start_offset
        return tuple(each.follower for each in self.followers if each.keeps_damage(start))

    @property
    def heirs(self) -> tuple[Candidate, ...]:
        """Followers that have the damaged leader's records whole, once they are in sync.

        A follower keeps what it has intact, and fetches from its end on: it never asks for the
        batches that are damaged on the leader. None unless all are whole: a damaged one could be
        the next leader, and a new copy would be made of it.
        """
        log, damaged_until = self.candidate.log, self.candidate.damaged_until
        if log is None or self.candidate.unreadable_from is None:
            return ()
        start = log.log_start_offset
        is_whole = all(
            each.becomes_equal
            and each.log_start_offset <= self.candidate.unreadable_from
            and each.kept_until >= damaged_until
            and not each.keeps_damage(start)
            for each in self.followers
        )
        return tuple(each.follower for each in self.followers) if is_whole else ()

    @property
    def cost(self) -> tuple[int, ...]:
        """What speaks against this leader, the worst first; equal if either may lead."""
        candidate, lacking = self.candidate, self.lacking
        return (
            lacking.known,
            lacking.possible,
            candidate.hides_committed,
            bool(candidate.cut_transactions) or self.is_silent,
            candidate.unreplaceable,
            lacking.total,
            lacking.damaged,
            candidate.damaged,  # equal so far: consumers read an intact copy without errors
            len(self.out_of_sync),
        )


def elections(
    candidates: Sequence[Candidate],
    comparison: Comparison,
    rules: Sequence[TruncationRule] = (TruncationRule.CURRENT,),
    *,
    known_epoch: int,
) -> tuple[Election, ...]:
    """Simulate the election of every replica that starts; best first.

    Args:
        candidates: the replicas.
        comparison: of the replicas.
        rules: how followers may truncate; the first is used, and the others are compared with it.
        known_epoch: the greatest leader epoch that the partition really had; the new one follows
            it. A log may have a greater one where a bit of a batch flipped.
    """
    new_epoch = known_epoch + 1
    by_content = any(each.outvoted_from is not None for each in candidates)
    held = []
    for candidate in candidates:
        if candidate.log is None or not candidate.is_assigned:
            continue
        leader = elected(candidate.log, new_epoch)
        followers = tuple(
            follower_outcome(other, candidate, leader, comparison, rules)
            for other in candidates
            if other is not candidate and other.log is not None
        )
        lost, apart = lost_ranges(
            candidate, followers, candidates, comparison, by_content=by_content
        )
        held.append(
            Election(
                candidate=candidate,
                followers=followers,
                lost_ranges=lost,
                apart_ranges=apart,
                absent=tuple(other for other in candidates if other.log is None),
                clean_by_membership=candidate.is_member,
                leader_epoch=new_epoch,
            )
        )
    return ranked(held)


def ranked(held: Iterable[Election]) -> tuple[Election, ...]:
    """Order elections: by committed records first, by the length of the log almost last.

    No record that was certainly not committed justifies an unclean election: of leaders that lack
    the same committed records, and let consumers read them, those come first that Kafka elects by
    itself. Damage stays on a leader for ever, and no follower gets past it.
    """

    def cost(election: Election) -> tuple[int | float, ...]:
        candidate = election.candidate
        assert candidate.log is not None
        broker_id = candidate.broker_id
        known, possible, is_hiding, *others = election.cost
        return (
            known,
            possible,
            is_hiding,
            candidate.is_member is False,
            *others,
            -candidate.last_leader_epoch,
            -candidate.log.log_end_offset,
            float("inf") if broker_id is None else broker_id,
        )

    return tuple(
        replace(election, rank=rank) for rank, election in enumerate(sorted(held, key=cost), 1)
    )
