"""What becomes of a quorum: the verdict, and what each controller's election does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.quorum.commitment import (
    Commitment,
    CommittedOffsets,
    committed_offsets,
)
from kafkalog_reader.audits.quorum.lost_records import LostRange, lost_ranges

if TYPE_CHECKING:
    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.audits.quorum.quorum import Quorum

_MOST_SETS: Final = 1_000
"""Majorities that are tried: more than eleven voters have."""


class Verdict(Enum):
    """What the files say about the quorum, the worst last."""

    ELECTABLE = "electable"
    """A majority can start, and whoever is elected keeps what may be committed."""
    MAY_LOSE = "mayLoseCommitted"
    """A controller can be elected without records that are, or may be, committed, or a start cuts
    such records off after damage, or no copy has them any more."""
    YOUNGER_LOG = "youngerLog"
    """A controller can be elected whose log never named topics of which folders hold records."""
    NO_MAJORITY = "noMajority"
    """Fewer voters than a majority can start."""
    CONTRADICTED = "contradicted"
    """Two copies hold different records with the same offset and leader epoch."""
    UNKNOWN_VOTERS = "unknownVoters"
    """No copy names the voters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the election of one controller does.

    Attributes:
        votes: the voters that vote for it while all that can start run; itself included.
        votes_needed: how many elect it.
        cut: the voters whose logs are cut, and to which offset.
        lost: what other copies hold and this one lacks.
    """

    copy: MetadataCopy
    votes: tuple[MetadataCopy, ...]
    votes_needed: int
    cut: tuple[tuple[MetadataCopy, int], ...]
    lost: tuple[LostRange, ...]

    @property
    def can_win(self) -> bool:
        """Whether the voters here can elect it."""
        return len(self.votes) >= self.votes_needed

    @property
    def is_harmless(self) -> bool:
        """Whether nothing is lost that says something and is, or may be, committed."""
        return all(each.commitment is Commitment.NOT or each.is_idle for each in self.lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutTail:
    """Offsets after damage that a start cuts off, and that no copy keeps; half-open."""

    copy: MetadataCopy
    first_offset: int
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumAudit:
    """The answer about one cluster.

    Attributes:
        outcomes: one for each voter that can start, the one whose log reaches furthest first.
        start_first: voters to start alone, if others could elect a leader that loses committed
            records; empty if the order does not matter, or no order helps.
        needed_but_stop: controllers without which nobody is elected, and that stop when others name
            them as leader (``Quorum.naming_as_leader``).
        committed: of the copy that reaches furthest; None if there is no copy.
        further: copies of nodes without a vote that reach further than every voter's.
        cut_tails: what starts cut off, whoever is elected.
    """

    quorum: Quorum
    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    start_first: tuple[MetadataCopy, ...]
    needed_but_stop: tuple[MetadataCopy, ...]
    committed: CommittedOffsets | None
    further: tuple[MetadataCopy, ...]
    cut_tails: tuple[CutTail, ...] = ()

    @property
    def misplaced(self) -> tuple[MetadataCopy, ...]:
        """Those with a wrong base offset, which no checksum covers."""
        return tuple(each for each in self.quorum.startable if each.batches.misplaced)

    @property
    def lacking(self) -> tuple[MetadataCopy, ...]:
        """Those whose nodes start, and load less than their snapshots should have."""
        return tuple(each for each in self.quorum.copies if each.lacks and not each.refusal)

    @property
    def source(self) -> MetadataCopy | None:
        """The copy that voters must get: it reaches further than theirs, or names more topics."""
        if self.verdict is Verdict.YOUNGER_LOG:
            return max(self.quorum.older, key=lambda each: each.end, default=None)
        if self.verdict not in (Verdict.MAY_LOSE, Verdict.NO_MAJORITY):
            return None
        return max(self.further, key=lambda each: each.end, default=None)

    @property
    def agreeing(self) -> tuple[MetadataCopy, ...]:
        """Voters that elect a leader among themselves, where others must not lead; or empty."""
        quorum = self.quorum
        if quorum.leading.contested:
            return ()
        eligible = [each for each in quorum.startable if not quorum.is_younger(each)]
        groups = [
            tuple(
                other
                for other in eligible
                if other is each or not quorum.parting(each, other).is_conflict
            )
            for each in eligible
        ]
        largest = max(groups, key=len, default=())
        pairs = combinations(largest, 2)
        if any(quorum.parting(one, other).is_conflict for one, other in pairs):
            return ()
        return largest if quorum.winners(largest) else ()

    @property
    def is_unsafe(self) -> bool:
        """Whether starting the controllers in any order can lose metadata, or end."""
        unsafe = (Verdict.MAY_LOSE, Verdict.CONTRADICTED, Verdict.YOUNGER_LOG)
        return self.verdict in unsafe or bool(
            self.needed_but_stop or self.misplaced or self.lacking
        )

    @property
    def is_short_of_voters(self) -> bool:
        """Whether too few voters can start with these files; the others may be elsewhere."""
        return self.verdict is Verdict.NO_MAJORITY

    @property
    def is_clean(self) -> bool:
        """Whether the controllers elect a leader by themselves, and lose nothing."""
        waiting = self.quorum.exchanged or any(map(self.quorum.lacking, self.quorum.startable))
        stopped = waiting or self.needed_but_stop or self.misplaced
        damaged = any(each.snapshot_problem for each in self.quorum.copies)
        return self.verdict is Verdict.ELECTABLE and not (stopped or damaged)


def audit_quorum(quorum: Quorum) -> QuorumAudit:
    """Judge a quorum.

    Raises:
        LocatedError: a record that would be lost contradicts the format.
    """
    ranked = sorted(quorum.startable, key=lambda each: each.end, reverse=True)
    outcomes = tuple(_outcome(quorum, each) for each in ranked)
    furthest = max(quorum.older, key=lambda each: each.end, default=None)
    best = ranked[0].end if ranked else None
    kept = max((each.end.offset for each in quorum.copies), default=0)
    cut_tails = tuple(
        CutTail(copy=each, first_offset=kept, next_offset=each.batches.readable_end)
        for each in quorum.copies
        if each.batches.readable_end > kept
    )
    return QuorumAudit(
        quorum=quorum,
        cut_tails=cut_tails,
        verdict=_verdict(quorum, outcomes, cut_tails),
        outcomes=outcomes,
        start_first=_start_first(quorum, outcomes),
        needed_but_stop=_needed_but_stop(quorum),
        committed=None if furthest is None else committed_offsets(quorum, furthest),
        further=tuple(
            each
            for each in quorum.older
            if quorum.voter_of(each) is None and not each.is_empty
            and (best is None or each.end > best)
        ),
    )  # fmt: skip


def _outcome(quorum: Quorum, copy: MetadataCopy) -> Outcome:
    voters = quorum.voters_for(copy) or quorum.voters
    assert voters is not None
    partings = [(each, quorum.parting(copy, each)) for each in quorum.startable if each is not copy]
    return Outcome(
        copy=copy,
        votes=quorum.granting(copy),
        votes_needed=voters.majority,
        cut=tuple(
            (each, parting.offset)
            for each, parting in partings
            if parting.offset < each.end.offset
            and (
                _goes_on_from_snapshot(copy, each)
                if not parting.is_compared
                else not parting.is_conflict
            )
        ),
        lost=lost_ranges(quorum, copy),
    )  # fmt: skip


def _goes_on_from_snapshot(leader: MetadataCopy, follower: MetadataCopy) -> bool:
    """Whether a leader whose log is only its snapshot cuts a longer follower to the end of that.

    A follower whose last leader epoch is below the snapshot's loads the snapshot instead.
    Source: Kafka 4.4, RaftLog#validateOffsetAndEpoch.
    """
    return (
        leader.is_truncated_to_snapshot
        and not follower.is_truncated_to_snapshot
        and follower.end.leader_epoch >= leader.end.leader_epoch
    )


def _verdict(
    quorum: Quorum, outcomes: tuple[Outcome, ...], cut_tails: tuple[CutTail, ...]
) -> Verdict:
    voters = quorum.voters
    if voters is None:
        return Verdict.UNKNOWN_VOTERS
    contradicting = {
        each
        for pair in combinations(quorum.copies, 2)
        for each in pair
        if quorum.parting(*pair).is_conflict
    }
    elected = {each.copy for each in outcomes if each.can_win}
    if any(map(quorum.is_younger, elected)) or any(
        quorum.is_younger(each) and quorum.voter_of(each) for each in contradicting
    ):
        return Verdict.YOUNGER_LOG
    if contradicting or any(each.directory.path in quorum.leading.contested for each in elected):
        return Verdict.CONTRADICTED
    if not any(each.can_win for each in outcomes):
        return Verdict.NO_MAJORITY
    has_end = not (cut_tails or quorum.rolled_back.lost_end)
    if has_end and all(each.is_harmless for each in outcomes if each.can_win):
        return Verdict.ELECTABLE
    return Verdict.MAY_LOSE


def _needed_but_stop(quorum: Quorum) -> tuple[MetadataCopy, ...]:
    stopping = [each for each in quorum.startable if quorum.naming_as_leader(each)]
    if not quorum.winners():
        return ()
    left = [each for each in quorum.startable if each not in stopping]
    return () if quorum.winners(left) else tuple(stopping)


def _start_first(quorum: Quorum, outcomes: tuple[Outcome, ...]) -> tuple[MetadataCopy, ...]:
    """The largest set of voters that can only elect a leader with all that may be committed."""
    harmful = {id(each.copy) for each in outcomes if each.can_win and not each.is_harmless}
    if not harmful or quorum.voters is None:
        return ()
    tried = 0
    for size in range(len(outcomes) - 1, quorum.voters.majority - 1, -1):
        for chosen in combinations([each.copy for each in outcomes], size):
            tried += 1
            if tried > _MOST_SETS:
                return ()
            elected = quorum.winners(chosen)
            if elected and not any(id(each) in harmful for each in elected):
                return chosen
    return ()
