"""The result of comparing the replicas of one partition: where they agree, and where they part."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.tables.foreign_index import has_foreign_index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
    from kafkalog_reader.audits.comparison.difference import Difference
    from kafkalog_reader.audits.log.lineage import EpochInterval
    from kafkalog_reader.audits.log.replica import Replica

_ABSENT: Final = -1


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Why the replicas of one partition were not compared."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of comparing the replicas of one partition.

    Attributes:
        replicas: those that were compared, in the order supplied.
        roots: the first branches; several if a replica shares no offset with the others.
        damaged: for each replica, the batches with a wrong checksum.
        differences_left_out: number of differences that were not kept.
        restamped: offsets at which replicas diverge with equal records under different leader
            epochs.
        misread_epochs: by replica, leader epochs of batches that another replica has under the
            epoch that both epoch checkpoints name, and that epoch.
    """

    replicas: tuple[Replica, ...]
    roots: tuple[Branch, ...]
    differences: tuple[Difference, ...]
    damaged: Mapping[Replica, DamagedBatches]
    differences_left_out: int = 0
    restamped: tuple[int, ...] = ()
    misread_epochs: Mapping[Replica, Mapping[int, int | None]] = field(default_factory=dict)

    def with_differences(self, more: Sequence[Difference]) -> Comparison:
        """A copy with the differences that were found later."""
        together = (*self.differences, *more)
        return replace(
            self, differences=tuple(sorted(together, key=lambda each: each.first_offset))
        )

    def order(self, replicas: Iterable[Replica]) -> tuple[int, ...]:
        """A sort key: the places of some replicas among all."""
        return tuple(map(self.replicas.index, replicas))

    def branches(self) -> Iterator[Branch]:
        """Every branch of every tree."""
        for root in self.roots:
            yield from root.walk()

    def held_ranges(
        self, *, by_content: bool = False
    ) -> Iterator[tuple[Branch, tuple[Replica, ...], int, int]]:
        """Yield every branch, its replicas and its offsets [first, next); equal content only once.

        If several branches hold the same content, the first is yielded with the replicas of all. A
        range that replicas of the branch lack (``MISSING``) is yielded without them.

        Args:
            by_content: yield a range in which replicas of a branch hold different content
                (``CONFLICT``) once for each content.
        """
        kinds = {DifferenceKind.MISSING, *([DifferenceKind.CONFLICT] if by_content else [])}
        parts = _parts([each for each in self.differences if each.kind in kinds])
        for branch, replicas, first, following in self._ranges():
            for unlike, start, stop in _around(parts, first, following):
                sides: dict[int, list[Replica]] = {}
                for each in replicas:
                    sides.setdefault(unlike.get(each, 0), []).append(each)
                for number, holding in sorted(sides.items()):
                    if number != _ABSENT:
                        yield branch, tuple(holding), start, stop

    def _ranges(self) -> Iterator[tuple[Branch, tuple[Replica, ...], int, int]]:
        """The ranges of ``held_ranges`` as if no replica lacked a part of its branch."""
        holders: dict[tuple[EpochInterval, int], list[Branch]] = {}
        for branch in self.branches():
            for content in branch.contents:
                holders.setdefault(content, []).append(branch)
        for branch in self.branches():
            at = branch.first_offset
            for content in branch.contents:
                if len(holders[content]) == 1:
                    continue
                interval, _ = content
                yield branch, branch.replicas, at, interval.first_offset
                if holders[content][0] is branch:
                    together = {replica for each in holders[content] for replica in each.replicas}
                    ordered = tuple(each for each in self.replicas if each in together)
                    yield branch, ordered, interval.first_offset, interval.next_offset
                at = interval.next_offset
            yield branch, branch.replicas, at, branch.next_offset

    @property
    def forks(self) -> tuple[Branch, ...]:
        """The branches after which replicas diverge where both can be read, lowest first."""
        found = (b for b in self.branches() if b.is_fork and self._can_be_read(b))
        return tuple(sorted(found, key=lambda branch: branch.next_offset))

    def _can_be_read(self, fork: Branch) -> bool:
        if fork.children[0].first_offset >= max(each.log_start_offset for each in self.replicas):
            return True
        return any(
            self.content_fork(one, other) is not None
            for left, right in combinations(fork.children, 2)
            for one in left.replicas
            for other in right.replicas
        )

    @property
    def has_content_fork(self) -> bool:
        """Whether two replicas hold different content where both can be read."""
        pairs = combinations(self.replicas, 2)
        return any(self.content_fork(one, other) is not None for one, other in pairs)

    @property
    def has_conflict(self) -> bool:
        """Whether replicas have different records under one offset and leader epoch."""
        return any(each.kind is DifferenceKind.CONFLICT for each in self.differences)

    def outvoted(self, members: Collection[Replica] = ()) -> Mapping[Replica, int]:
        """Replicas whose content others outvote, and the first offset at which they do.

        Of two contents under one offset and leader epoch (``CONFLICT``), one is outvoted if the
        other has at least as many replicas and at least as many of the members, and more of either.
        None is where the index of a copy there is that of another log: its segment may be, too.

        Args:
            members: the replicas that are in the ISR; none if that is unknown.
        """
        found: dict[Replica, int] = {}
        for difference in self.differences:
            if difference.kind is not DifferenceKind.CONFLICT:
                continue
            votes = [
                (len(side), sum(each in members for each in side)) for side in difference.contents
            ]
            for side, (copies, in_sync) in zip(difference.contents, votes, strict=True):
                if any(
                    other >= copies and others_in_sync >= in_sync
                    for other, others_in_sync in votes
                    if (other, others_in_sync) != (copies, in_sync)
                ) and not any(
                    has_foreign_index(replica.directory, difference.first_offset)
                    for holders in difference.contents
                    for replica in holders
                ):
                    for each in side:
                        found.setdefault(each, difference.first_offset)
        return found

    @property
    def has_two_contents(self) -> bool:
        """Whether replicas have different records at some offset, and not only none."""
        return bool(self.forks) or self.has_conflict

    def content_fork(self, one: Replica, other: Replica) -> int | None:
        """The first offset at which two replicas hold different content; None if there is none.

        Below a log start nothing can be read, so nothing differs there. A difference that damage or
        cleaning explains is not a fork: the content was once the same.
        """
        return self._fork(one, other, (DifferenceKind.CONFLICT, DifferenceKind.MISSING))

    def record_fork(self, one: Replica, other: Replica) -> int | None:
        """The same, of offsets at which both hold records: a gap in one of the logs is no fork."""
        return self._fork(one, other, (DifferenceKind.CONFLICT,))

    def _fork(self, one: Replica, other: Replica, kinds: Collection[DifferenceKind]) -> int | None:
        low = max(one.log_start_offset, other.log_start_offset)
        offsets = [
            branch.children[0].first_offset
            for branch in self.branches()
            if branch.is_fork
            and one in branch.replicas
            and other in branch.replicas
            and not any(one in c.replicas and other in c.replicas for c in branch.children)
        ]
        offsets += [
            difference.first_offset
            for difference in self.differences
            if difference.kind in kinds
            and _tells_apart(difference, one, other)
            and difference.next_offset > low
        ]
        fork = min([*offsets, *self._starts_apart(one, other)], default=None)
        if fork is None or fork >= low:
            return fork
        ends = [
            max((b.next_offset for b in self.branches() if each in b.replicas), default=0)
            for each in (one, other)
        ]
        return low if low < min(ends) else None

    def header_fork(self, one: Replica, other: Replica) -> int | None:
        """The first offset of a batch whose header differs outside the CRC; None if none does."""
        found = (
            difference.first_offset
            for difference in self.differences
            if difference.kind is DifferenceKind.UNCOVERED and _tells_apart(difference, one, other)
        )
        return min(found, default=None)

    def wrong_headers(self, replica: Replica) -> int:
        """How many ranges of a replica have a wrong header field outside the CRC."""
        return sum(
            difference.kind is DifferenceKind.UNCOVERED and replica in difference.damaged
            for difference in self.differences
        )

    def _starts_apart(self, one: Replica, other: Replica) -> list[int]:
        """Where the later of two logs begins, if the other log has different content there."""
        spans = []
        for each in (one, other):
            held = [b for b in self.branches() if each in b.replicas and b.batches]
            if not held:
                return []
            spans.append((held[0].first_offset, max(b.next_offset for b in held)))
        if any(one in branch.replicas and other in branch.replicas for branch in self.branches()):
            return []
        start, stop = max(spans[0][0], spans[1][0]), min(spans[0][1], spans[1][1])
        if start >= stop or self._is_held_alike(one, other, start, stop):
            return []
        return [start]

    def _is_held_alike(self, one: Replica, other: Replica, start: int, stop: int) -> bool:
        """Whether two replicas hold the same content in a range after their branches diverged."""
        held = [
            {
                content
                for branch in self.branches()
                if each in branch.replicas
                for content in branch.contents
                if content[0].first_offset < stop and content[0].next_offset > start
            }
            for each in (one, other)
        ]
        if not held[0] or held[0] != held[1]:
            return False
        intervals = sorted(interval[1:] for interval, _ in held[0])
        return intervals[0][0] == start and intervals[-1][1] == stop


def _parts(differences: Sequence[Difference]) -> list[tuple[Mapping[Replica, int], int, int]]:
    """Disjoint ranges of offsets in log order, in which replicas of one branch are not alike.

    Each has the number of the content by replica, or ``_ABSENT``; those not named hold number 0.
    """
    found: list[tuple[Mapping[Replica, int], int, int]] = []
    unlike = deque(differences)
    waiting: list[Difference] = []
    borders = sorted({at for each in differences for at in (each.first_offset, each.next_offset)})
    for start, stop in pairwise(borders):
        waiting = [each for each in waiting if each.next_offset > start]
        while unlike and unlike[0].first_offset <= start:
            waiting.append(unlike.popleft())
        numbers: dict[Replica, int] = {}
        for each in waiting:
            if each.kind is DifferenceKind.CONFLICT:
                for number, side in enumerate(each.contents):
                    numbers.update({one: number for one in side if one not in each.damaged})
        numbers.update({one: _ABSENT for each in waiting for one in each.absent})
        if numbers:
            found.append((numbers, start, stop))
    return found


def _around(
    parts: Sequence[tuple[Mapping[Replica, int], int, int]], first_offset: int, next_offset: int
) -> Iterator[tuple[Mapping[Replica, int], int, int]]:
    """Divide [first, next) at these parts."""
    at = first_offset
    for unlike, start, stop in parts[bisect_right(parts, first_offset, key=itemgetter(2)) :]:
        if start >= next_offset:
            break
        if at < start:
            yield {}, at, start
        yield unlike, max(at, start), min(stop, next_offset)
        at = min(stop, next_offset)
    if at < next_offset:
        yield {}, at, next_offset


def _tells_apart(difference: Difference, one: Replica, other: Replica) -> bool:
    sides: dict[Replica, int] = {}
    for number, side in enumerate(difference.contents):
        sides.update(dict.fromkeys(side, number))
    sides.update(dict.fromkeys(difference.absent, -1))
    return one in sides and other in sides and sides[one] != sides[other]
