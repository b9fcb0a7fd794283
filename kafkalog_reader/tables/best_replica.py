"""The best of several copies of a partition, and what the others hold besides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError, UnreadableFileError
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.log_tail import LogTail, end_after_damage, scan_tail
from kafkalog_reader.tables.contradictions import contradictions
from kafkalog_reader.tables.epoch_fork import epoch_fork
from kafkalog_reader.tables.lacking import Lacking, warn_of_lacking
from kafkalog_reader.tables.log_unit import log_start_offset
from kafkalog_reader.tables.unexplained_base import unexplained_base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.tables.contradictions import Contradiction


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCopies:
    """The copies of a partition.

    Attributes:
        best: the copy to read.
        lacking: what other copies hold and the best one lacks.
        copies: those that can be read, and their log ends after damage.
    """

    best: PartitionDirectory
    lacking: Sequence[Lacking]
    copies: Sequence[tuple[PartitionDirectory, LogTail]]

    @property
    def end(self) -> int:
        """Where the log of the best copy ends, after damage."""
        return next(tail.next_offset for each, tail in self.copies if each is self.best)


Members = Callable[[Sequence["PartitionDirectory"]], Collection["PartitionDirectory"]]
"""Which of the copies of a partition are in the ISR; none if that is unknown."""


def best_replica(
    supplied: Sequence[PartitionDirectory], damage: Damage, *, with_cluster: bool = False
) -> PartitionDirectory | None:
    """The best copy alone: see ``best_and_lacking``; a warning names the offsets that it lacks."""
    best, lacking = best_and_lacking(supplied, damage)
    if best is not None:
        warn_of_lacking(best, lacking, with_cluster=with_cluster)
    return best


def best_and_lacking(
    supplied: Sequence[PartitionDirectory], damage: Damage
) -> tuple[PartitionDirectory | None, Sequence[Lacking]]:
    """The copy whose last batch has the greatest leader epoch, then the greatest log end.

    Of equal copies, the one whose log begins first.

    Also the offsets of other copies that it lacks: before its first segment, unless its log start
    was moved, and up to their last batch after damage. None if no copy can be read and ``damage``
    skips those that cannot.

    Raises:
        UnreadableFileError: a copy cannot be read, in mode ``FAILFAST``: it may be the best.
    """
    found = compared_copies(supplied, damage)
    return (None, ()) if found is None else (found.best, found.lacking)


def compared_copies(
    supplied: Sequence[PartitionDirectory], damage: Damage, members: Members | None = None
) -> ComparedCopies | None:
    """The best copy, see ``best_and_lacking``, and where the log of each readable copy ends.

    A copy whose records others outvote is not chosen, as far as a look at a few places shows.

    Raises:
        UnreadableFileError: a copy cannot be read, in mode ``FAILFAST``: it may be the best.
    """
    replicas, tails = [], []
    for replica in supplied:
        try:
            tails.append(scan_tail(replica))
            replicas.append(replica)
        except UnreadableFileError as error:
            damage.left_out(error)
    if not replicas:
        return None
    copies = [
        _Copy(replica, tail, end_after_damage(replica, tail))
        for replica, tail in zip(replicas, tails, strict=True)
    ]
    lengths = sorted(copy.end.next_offset for copy in copies)
    found = contradictions(replicas, lengths[-2]) if len(copies) > 1 else ()
    best = _most_complete(_not_outvoted(copies, found, members))
    return ComparedCopies(
        best=best.replica,
        lacking=list(_lacking(copies, best, found)),
        copies=tuple((copy.replica, copy.end) for copy in copies),
    )


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy that can be read, the end of its log, and the end after damage."""

    replica: PartitionDirectory
    tail: LogTail
    end: LogTail

    @property
    def rank(self) -> tuple[int, int]:
        epoch = self.tail.last_leader_epoch
        return (-1 if epoch is None else epoch, self.tail.next_offset)


def _lacking(
    copies: Sequence[_Copy], best: _Copy, found: Sequence[Contradiction]
) -> Iterator[Lacking]:
    """What each copy holds and the best one lacks, before its first segment and at its end."""
    base = 0 if len(copies) == 1 else _base(best.replica)
    contradicting = {
        replica: one.first_offset
        for one in reversed(found)
        for replica in one.against(best.replica)
    }
    for copy in copies:
        start = _log_start(copy.replica) if base and copy is not best else base
        if start < (stop := min(base, copy.end.next_offset)):
            yield Lacking(replica=copy.replica, first_offset=start, next_offset=stop, is_fork=False)
        if contradicting and copy.replica in contradicting:
            yield Lacking(
                replica=copy.replica,
                first_offset=contradicting[copy.replica],
                next_offset=copy.end.next_offset,
                is_fork=True,
                is_contradiction=True,
            )
        elif copy.rank != best.rank:
            yield from _lacking_at_end(copy, best)


def _lacking_at_end(copy: _Copy, best: _Copy) -> Iterator[Lacking]:
    own_end, best_end = copy.end.next_offset, best.end.next_offset
    fork = epoch_fork(copy.replica, best.replica, min(own_end, best_end))
    if own_end > fork:
        yield Lacking(
            replica=copy.replica,
            first_offset=fork,
            next_offset=own_end,
            is_fork=best_end > fork,
        )


def _not_outvoted(
    copies: Sequence[_Copy], found: Sequence[Contradiction], members: Members | None
) -> Sequence[_Copy]:
    """The copies that others do not outvote; all if each one is outvoted."""
    if not found:
        return copies
    in_sync = () if members is None else members([copy.replica for copy in copies])
    outvoted = {each for one in found for each in one.outvoted(in_sync)}
    return [copy for copy in copies if copy.replica not in outvoted] or copies


def _most_complete(copies: Sequence[_Copy]) -> _Copy:
    """The copy with the highest rank; of equal ones, the one whose log begins first.

    A log start that DeleteRecords moved is no reason against a copy.
    """
    highest = max(copy.rank for copy in copies)
    equal = [copy for copy in copies if copy.rank == highest]
    return min(equal, key=lambda copy: _base(copy.replica)) if len(equal) > 1 else equal[0]


def _base(replica: PartitionDirectory) -> int:
    try:
        return unexplained_base(replica)
    except LocatedError:  # `kafkalog verify` reports the checkpoint
        return 0


def _log_start(replica: PartitionDirectory) -> int:
    """The first offset that consumers of this copy get; where its log ends if it has none."""
    try:
        bases = (each.base_offset for each in segments(replica) if each.log_size)
        first = next(bases, None)
        return MAX_OFFSET if first is None else log_start_offset(replica, first)
    except LocatedError:  # `kafkalog verify` reports the checkpoint
        return MAX_OFFSET
