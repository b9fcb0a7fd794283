"""Finds the records that an election loses, and whether they were committed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.election.branch_records import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
    from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.log.replica import Replica

_NOWHERE: Final = 2**63 - 1
_MAX_SPANS: Final = 1000
"""Stretches of damaged batches that are counted one by one; what is left counts as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRange:
    """Offsets [first, next) of one branch that the leader does not have, and who holds them."""

    replicas: tuple[Replica, ...]
    first_offset: int
    next_offset: int
    records: CommitCount


def lost_ranges(
    leader: Candidate,
    followers: Sequence[FollowerOutcome],
    candidates: Sequence[Candidate],
    comparison: Comparison,
    *,
    by_content: bool = False,
) -> tuple[tuple[LostRange, ...], tuple[LostRange, ...]]:
    """The offsets that the election of ``leader`` loses, and those that stay on followers only.

    Before the election, all readable records count that are at or above both the log start of their
    replica, which may be inside a batch, and that of the leader: what retention or a client deleted
    there is not a loss of the election, and what it deletes there at the start is none if another
    copy has deleted it, too. Where the leader lost its beginning, it is one: followers
    take over its log start, and delete what is below. What is damaged on every copy is counted
    apart. After the election, the records count that the leader holds after its start; those of its
    damaged batches only if a follower keeps them intact.

    Source of the log start: Kafka 4.4, ReplicaFetcherThread#processPartitionData,
    UnifiedLog#deleteLogStartOffsetBreachedSegments.

    Args:
        leader: the candidate that is elected.
        followers: those that keep what they hold.
        candidates: all of them.
        comparison: of the replicas.
        by_content: count each content of an offset for which replicas have different records under
            one leader epoch (KL-505), where a follower keeps its own for ever.
    """
    kept = {each.follower.replica: (each.log_start_offset, each.kept_until) for each in followers}
    count = _LossCount(leader, _by_replica(candidates), kept, comparison)
    first_counted = _first_counted(leader, candidates)
    lost: list[LostRange] = []
    apart: list[LostRange] = []
    for held in comparison.held_ranges(by_content=by_content):
        of_range = count.of_range(*held, first_counted)
        lost += of_range.lost
        apart += of_range.apart
    return count.in_order(lost), count.in_order(apart)


def _first_counted(leader: Candidate, candidates: Sequence[Candidate]) -> int:
    """The offset below which a missing record is no loss of the election."""
    assert leader.log is not None
    if leader.is_start_lost:
        return 0
    others = (each for each in candidates if each is not leader and not each.is_start_lost)
    deleted = max((each.log_start_offset for each in others), default=0)
    return min(max(leader.log_start_offset, deleted), leader.log.log_start_offset)


class _OfRange(NamedTuple):
    """What of one range is lost, and what stays on followers only."""

    lost: Sequence[LostRange] = ()
    apart: Sequence[LostRange] = ()


@dataclass(frozen=True, slots=True)
class _LossCount:
    """Counts what the election of ``leader`` loses.

    Attributes:
        by_replica: all candidates.
        kept: the offsets [first, next) that each follower keeps of what it holds.
    """

    leader: Candidate
    by_replica: Mapping[Replica, Candidate]
    kept: Mapping[Replica, tuple[int, int]]
    comparison: Comparison

    def of_range(
        self,
        branch: Branch,
        replicas: tuple[Replica, ...],
        first_offset: int,
        next_offset: int,
        first_counted: int,
    ) -> _OfRange:
        """What is lost of the offsets of a branch that these replicas hold, and of no others."""
        log = self.leader.log
        assert log is not None
        readable_from = min(self.by_replica[each].log_start_offset for each in replicas)
        start = max(first_offset, first_counted, readable_from)
        if start >= next_offset:
            return _OfRange()
        served_from = min(max(start, log.log_start_offset), next_offset)
        is_held = self.leader.replica in replicas
        stays_from, stays_until = (
            (served_from, log.log_end_offset) if is_held else self._kept_of(replicas, served_from)
        )
        stays_from = min(stays_from, next_offset)
        stays_until = min(max(stays_from, stays_until), next_offset)
        unreadable = _unreadable(replicas, self.by_replica, self.comparison)
        lost = [
            self._counted(branch, replicas, span, unreadable)
            for span in ((start, stays_from), (stays_until, next_offset))
            if span[0] < span[1]
        ]
        if stays_from >= stays_until:
            return _OfRange(lost)
        if is_held:
            lost += self._damaged_on_leader(branch, stays_from, stays_until)
            return _OfRange(lost)
        kept_here = self._counted(branch, replicas, (stays_from, stays_until), unreadable)
        return _OfRange(lost, [replace(kept_here, records=kept_here.records.only_sound)])

    def _kept_of(self, replicas: Sequence[Replica], served_from: int) -> tuple[int, int]:
        """What followers keep from an offset on; nothing if none of these replicas is one."""
        staying = [
            (max(served_from, first), following)
            for first, following in (self.kept[each] for each in replicas if each in self.kept)
            if following > max(served_from, first)
        ]
        return (
            min((first for first, _ in staying), default=served_from),
            max((following for _, following in staying), default=served_from),
        )

    def _damaged_on_leader(
        self, branch: Branch, first_offset: int, next_offset: int
    ) -> Iterator[LostRange]:
        """Batches that the leader holds damaged, and only followers that cut them intact."""
        damaged = self.comparison.damaged[self.leader.replica]
        for holders, span in _cut_intact(damaged, self.kept, first_offset, next_offset):
            unreadable = _unreadable(holders, self.by_replica, self.comparison)
            yield self._counted(branch, holders, span, unreadable)

    def _counted(
        self,
        branch: Branch,
        replicas: tuple[Replica, ...],
        span: tuple[int, int],
        damaged: _Unreadable,
    ) -> LostRange:
        holders = [self.by_replica[each] for each in replicas]
        holder = next((each for each in holders if each.replica in branch.replicas), holders[0])
        return LostRange(
            replicas=replicas,
            first_offset=span[0],
            next_offset=span[1],
            records=_committed(branch, holders, holder, *span, damaged),
        )

    def in_order(self, ranges: Sequence[LostRange]) -> tuple[LostRange, ...]:
        """Sort by offset, then by replica."""
        order = self.comparison.order
        return tuple(sorted(ranges, key=lambda each: (each.first_offset, order(each.replicas))))


def _cut_intact(
    damaged: DamagedBatches,
    kept: Mapping[Replica, tuple[int, int]],
    first_offset: int,
    next_offset: int,
) -> Iterator[tuple[tuple[Replica, ...], tuple[int, int]]]:
    """Who has damaged batches of the leader intact, where none of them keeps these, and which.

    Such a follower has lost them in its own start, or truncates them, and fetches no damaged batch.
    """
    rows = damaged.rows()
    inside = (rows.first_offset >= first_offset) & (rows.next_offset <= next_offset)
    for number, holders in enumerate(damaged.holders):
        if not holders:
            continue
        of_holders = inside & (rows.intact_on == number)
        for first, following in (kept[each] for each in holders if each in kept):
            of_holders &= ~((rows.first_offset >= first) & (rows.next_offset <= following))
        firsts, followings = rows.first_offset[of_holders], rows.next_offset[of_holders]
        if not len(firsts):
            continue
        begins = np.append(True, firsts[1:] != followings[:-1])
        ends = np.append(begins[1:], True)
        spans = [*zip(firsts[begins].tolist(), followings[ends].tolist(), strict=True)]
        if len(spans) > _MAX_SPANS:
            spans[_MAX_SPANS:] = [(spans[_MAX_SPANS][0], spans[-1][1])]
        yield from ((holders, span) for span in spans)


def committed_records(
    branch: Branch,
    candidates: Sequence[Candidate],
    comparison: Comparison | NotCompared | None = None,
) -> CommitCount:
    """The commit state of the records of one branch.

    Args:
        branch: the branch.
        candidates: all replicas.
        comparison: to count apart what is damaged on every copy; None: it counts like the rest.
    """
    by_replica = _by_replica(candidates)
    holders = [by_replica[each] for each in branch.replicas]
    damaged = (
        _unreadable(branch.replicas, by_replica, comparison)
        if isinstance(comparison, Comparison)
        else None
    )
    return _committed(branch, holders, holders[0], branch.first_offset, branch.next_offset, damaged)


def _by_replica(candidates: Sequence[Candidate]) -> dict[Replica, Candidate]:
    return {candidate.replica: candidate for candidate in candidates}


def _committed(
    branch: Branch,
    holders: Sequence[Candidate],
    holder: Candidate,
    first_offset: int,
    next_offset: int,
    damaged: _Unreadable | None = None,
) -> CommitCount:
    """The records of [first, next); one is committed if one of its holders shows it."""

    def sound(first: int, following: int) -> int:
        gone = 0 if damaged is None else damaged.inside(first, following)
        return max(0, records_of(branch, holder, first, following) - gone)

    known = min(next_offset, max(first_offset, *(each.bounds.known for each in holders)))
    possible = min(next_offset, max(known, *(each.bounds.possible for each in holders)))
    high = min(next_offset, max(possible, *(each.bounds.high for each in holders)))

    def unreadable(first: int, following: int) -> int:
        if damaged is None:
            return 0
        held = damaged.inside(first, following) + damaged.between(first, following)
        return min(held, following - first)

    return CommitCount(
        known=sound(first_offset, known),
        possible=sound(known, possible),
        only_if_unclean=sound(possible, high),
        uncommitted=sound(high, next_offset),
        damaged=unreadable(first_offset, next_offset),
        damaged_known=unreadable(first_offset, known),
        damaged_possible=unreadable(known, possible),
    )


class _Unreadable(NamedTuple):
    """Damaged batches of a range as columns, and the offsets between sound batches.

    Attributes:
        readable_from: the offset from which an intact copy of the batch can be read, because copies
            may begin inside it; the end of the batch if there is none.
        gaps: offsets [first, next) that damage hides on every copy.
    """

    first_offset: NDArray[np.int64]
    next_offset: NDArray[np.int64]
    records: NDArray[np.int64]
    readable_from: NDArray[np.int64]
    gaps: tuple[tuple[int, int], ...] = ()

    def between(self, first_offset: int, next_offset: int) -> int:
        """The number of offsets of a range that damage hides."""
        spans = ((max(low, first_offset), min(high, next_offset)) for low, high in self.gaps)
        return sum(max(0, high - low) for low, high in spans)

    def inside(self, first_offset: int, next_offset: int) -> int:
        """The maximum number of client records in a range; compaction may have removed some."""
        stop = np.minimum(np.minimum(self.next_offset, self.readable_from), next_offset)
        held = np.minimum(self.records, stop - np.maximum(self.first_offset, first_offset))
        return int(np.maximum(held, 0).sum())


def _unreadable(
    replicas: Sequence[Replica], candidates: Mapping[Replica, Candidate], comparison: Comparison
) -> _Unreadable:
    """The damaged batches of some replicas, each once."""
    parts = []
    for replica in replicas:
        damaged = comparison.damaged[replica]
        rows = damaged.rows()
        starts = [
            min((candidates[each].log_start_offset for each in holders), default=_NOWHERE)
            for holders in damaged.holders
        ]
        readable_from = np.array([*starts, _NOWHERE], np.int64)[rows.intact_on]
        parts.append((rows.first_offset, rows.next_offset, rows.records, readable_from))
    first, following, records, readable_from = map(np.concatenate, zip(*parts, strict=True))
    _, once = np.unique(first, return_index=True)
    gaps = candidates[replicas[0]].hidden
    for replica in replicas[1:]:
        gaps = _in_both(gaps, candidates[replica].hidden)
    return _Unreadable(first[once], following[once], records[once], readable_from[once], gaps)


def _in_both(
    one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """The offsets that are in a range of each list; both are in order."""
    found, here, there = [], 0, 0
    while here < len(one) and there < len(other):
        first, following = max(one[here][0], other[there][0]), min(one[here][1], other[there][1])
        if first < following:
            found.append((first, following))
        if one[here][1] < other[there][1]:
            here += 1
        else:
            there += 1
    return tuple(found)
