"""What each candidate leader costs: what followers cut, and which records are then nowhere.

The sum of what followers cut is not the loss: two cut the same record, or cut what the leader has
and fetch it again. A record is lost when no replica that holds it keeps it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from kafkalog_reader.audits.committed import CommitCount
from kafkalog_reader.audits.follow import EpochLog, Following, elected, follow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.branch import Branch
    from kafkalog_reader.audits.committed import CommitBounds
    from kafkalog_reader.audits.difference import Comparison

Rule = Callable[[EpochLog, EpochLog], Following]
"""How a follower truncates against a leader; differs between Kafka's versions."""


class ElectionKind(Enum):
    """What the election of a candidate would be."""

    CLEAN = "clean"
    """No record is lost that is or may be committed."""
    UNDETERMINED = "undetermined"
    """Records are lost that may have been committed."""
    UNCLEAN = "unclean"
    """Records are lost that were committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A replica as the log of an election: offsets, epochs, and what only files can count.

    Attributes:
        log: as its broker loads it; the recovery at the start comes before any election.
        last_leader_epoch: of the last batch.
        unreplaceable: damaged batches here that no other replica has intact.
        records: counts clients' records of a range of offsets, where bounds do not tell.
        batch_start: base offset of the batch that a truncation to an offset begins to cut.
    """

    log: EpochLog
    last_leader_epoch: int
    broker_id: int | None
    unreplaceable: int
    records: Callable[[int, int], int]
    batch_start: Callable[[int], int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerOutcome:
    """What one follower does when the candidate leads.

    Attributes:
        follower: index of the replica.
        log_end_offset: before it follows.
        kept_until: one past the last offset it keeps; below ``truncation_offset`` where that
            falls inside a batch, which goes as a whole.
        records_cut: clients' records.
        silent_divergence: first offset that it keeps and the leader has otherwise: KL-517.
        is_needless: it cuts what the leader has too, and fetches it again: KL-518.
    """

    follower: int
    following: Following
    log_end_offset: int
    kept_until: int
    records_cut: int
    silent_divergence: int | None
    is_needless: bool

    @property
    def truncation_offset(self) -> int:
        return self.following.truncation_offset

    @property
    def is_cut(self) -> bool:
        return self.kept_until < self.log_end_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRange:
    """Offsets [first, next) of one branch that are gone after the election."""

    members: tuple[int, ...]
    first_offset: int
    next_offset: int
    records: CommitCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """One candidate's election; ``lost`` counts distinct records.

    Attributes:
        kept_apart: records that stay on followers although the leader lacks them: KL-517.
        rank: 1 loses least.
    """

    candidate: int
    followers: tuple[FollowerOutcome, ...]
    lost_ranges: tuple[LostRange, ...]
    kept_apart: int
    rank: int = 0

    @property
    def lost(self) -> CommitCount:
        return sum((lost.records for lost in self.lost_ranges), CommitCount())

    @property
    def kind(self) -> ElectionKind:
        if self.lost.known:
            return ElectionKind.UNCLEAN
        return ElectionKind.UNDETERMINED if self.lost.possible else ElectionKind.CLEAN


def elections(
    candidates: Sequence[Candidate],
    bounds: Sequence[CommitBounds],
    comparison: Comparison,
    rule: Rule = follow,
) -> tuple[Election, ...]:
    """Elect every replica in thought; best first.

    Args:
        candidates: the replicas, by index.
        bounds: what is committed of each.
        comparison: who holds what.
        rule: how followers truncate.
    """
    greatest = max(
        (entry.leader_epoch for c in candidates for entry in c.log.cache.entries), default=-1
    )
    new_epoch = max([greatest, *(c.last_leader_epoch for c in candidates)]) + 1
    everyone = range(len(candidates))
    forks = {(i, j): comparison.content_fork(i, j) for i in everyone for j in everyone if i < j}
    held = []
    for index in everyone:
        leader = elected(candidates[index].log, new_epoch)
        followers = tuple(
            _outcome(
                candidates,
                leader,
                other,
                forks[min(index, other), max(index, other)],
                rule,
            )
            for other in everyone
            if other != index
        )
        held.append(_election(index, followers, candidates, bounds, comparison))
    return ranked(held, candidates)


def ranked(held: Iterable[Election], candidates: Sequence[Candidate]) -> tuple[Election, ...]:
    """Order elections: committed records decide first, the length of the log nearly last."""

    def cost(election: Election) -> tuple[int | float, ...]:
        candidate = candidates[election.candidate]
        broker_id = candidate.broker_id
        return (
            election.lost.known,
            election.lost.possible,
            any(outcome.silent_divergence is not None for outcome in election.followers),
            candidate.unreplaceable,
            election.lost.total,
            -candidate.last_leader_epoch,
            -candidate.log.log_end_offset,
            float("inf") if broker_id is None else broker_id,
            election.candidate,
        )

    return tuple(
        replace(election, rank=rank) for rank, election in enumerate(sorted(held, key=cost), 1)
    )


def _outcome(
    candidates: Sequence[Candidate],
    leader: EpochLog,
    index: int,
    fork: int | None,
    rule: Rule,
) -> FollowerOutcome:
    follower = candidates[index]
    before = follower.log
    following = rule(leader, before)
    target, end = following.truncation_offset, before.log_end_offset
    kept_until = end
    if target < end:
        start = follower.batch_start(target)
        kept_until = target if start is None else min(target, start)
    first_cut = max(kept_until, before.log_start_offset)
    common_end = min(end, leader.log_end_offset) if fork is None else fork
    is_dropped_whole = kept_until <= before.log_start_offset
    return FollowerOutcome(
        follower=index,
        following=following,
        log_end_offset=end,
        kept_until=kept_until,
        records_cut=follower.records(first_cut, end) if first_cut < end else 0,
        silent_divergence=(
            fork if fork is not None and fork < kept_until and not is_dropped_whole else None
        ),
        is_needless=kept_until < end
        and max(first_cut, leader.log_start_offset) < min(common_end, end),
    )


def _election(
    index: int,
    followers: tuple[FollowerOutcome, ...],
    candidates: Sequence[Candidate],
    bounds: Sequence[CommitBounds],
    comparison: Comparison,
) -> Election:
    kept = {outcome.follower: outcome.kept_until for outcome in followers}
    log_start = candidates[index].log.log_start_offset
    lost, kept_apart = [], 0
    for branch in comparison.branches():
        if index in branch.members or branch.first_offset >= branch.next_offset:
            continue
        stays_until = max(kept[member] for member in branch.members)
        start = max(branch.first_offset, log_start)
        first_lost = max(start, stays_until)
        holder = candidates[branch.members[0]]
        if start < min(stays_until, branch.next_offset):
            kept_apart += _records(branch, holder, start, min(stays_until, branch.next_offset))
        if first_lost < branch.next_offset:
            count = _committed(branch, holder, bounds, first_lost)
            lost.append(
                LostRange(
                    members=branch.members,
                    first_offset=first_lost,
                    next_offset=branch.next_offset,
                    records=count,
                )
            )
    return Election(
        candidate=index,
        followers=followers,
        lost_ranges=tuple(sorted(lost, key=lambda each: (each.first_offset, each.members))),
        kept_apart=kept_apart,
    )


def committed_records(
    branch: Branch, candidates: Sequence[Candidate], bounds: Sequence[CommitBounds]
) -> CommitCount:
    """What is known of the records of one branch."""
    return _committed(branch, candidates[branch.members[0]], bounds, branch.first_offset)


def _committed(
    branch: Branch, holder: Candidate, bounds: Sequence[CommitBounds], first_offset: int
) -> CommitCount:
    """Records from ``first_offset`` on; a record is committed where one of its holders says so."""
    end = branch.next_offset
    known = min(end, max(first_offset, *(bounds[m].known for m in branch.members)))
    possible = min(end, max(known, *(bounds[m].possible for m in branch.members)))
    return CommitCount(
        known=_records(branch, holder, first_offset, known),
        possible=_records(branch, holder, known, possible),
        only_if_unclean=_records(branch, holder, possible, end),
    )


def _records(branch: Branch, holder: Candidate, first_offset: int, next_offset: int) -> int:
    if first_offset >= next_offset:
        return 0
    if branch.is_dense:
        return next_offset - first_offset
    if (first_offset, next_offset) == (branch.first_offset, branch.next_offset):
        return branch.records
    return holder.records(first_offset, next_offset)
