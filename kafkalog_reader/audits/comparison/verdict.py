"""The verdict of a partition: how its replicas compare."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.scan.scan_end import ScanEnd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kafkalog_reader.audits.comparison.committed import CommitBounds, History
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion


NEXT_MAGIC: Final = 3


class Verdict(StrEnum):
    """From harmless to worst; a partition gets the last one that applies."""

    CONSISTENT = "consistent"
    LAGGING = "lagging"
    """One copy is a prefix of the other."""
    PENDING_TRUNCATION = "pending-truncation"
    """A newer leader's history lacks the end of a copy, which will be truncated."""
    FORKED = "forked"
    """Copies hold different records from some offset on."""
    DAMAGED_RECOVERABLE = "damaged-recoverable"
    """Bytes are damaged or missing; another copy has each of them intact."""
    DAMAGED_UNRECOVERABLE = "damaged-unrecoverable"
    """Bytes are damaged and no copy has them intact."""
    UNDECIDABLE = "undecidable"
    """The files do not allow a conclusion; a reason is given."""
    COMMITTED_MISSING = "committed-records-missing"
    """Committed records are on no supplied copy."""

    @property
    def badness(self) -> int:
        return list(Verdict).index(self)


def verdict_of(
    histories: Iterable[History],
    bounds: Iterable[CommitBounds],
    comparison: Comparison,
    stops: Mapping[Replica, Sequence[UnreadableRegion]],
) -> Verdict:
    """The verdict of replicas that could be read and have the same topic id."""
    if any(is_unread(stop) for of_replica in stops.values() for stop in of_replica):
        return Verdict.UNDECIDABLE
    kinds = {difference.kind for difference in comparison.differences}
    if DifferenceKind.NOT_COMPARED in kinds:
        return Verdict.UNDECIDABLE
    damage = [
        is_replaced(comparison, replica, stop, stops)
        for replica, of_replica in stops.items()
        for stop in of_replica
        if is_damage(stop)
    ]
    damage += [batches.alone == 0 for batches in comparison.damaged.values() if batches.count]
    if not all(damage):
        return Verdict.DAMAGED_UNRECOVERABLE
    repairable = {DifferenceKind.DAMAGED, DifferenceKind.MISSING, DifferenceKind.UNCOVERED}
    if damage or not kinds.isdisjoint(repairable):
        return Verdict.DAMAGED_RECOVERABLE
    parted = comparison.forks or DifferenceKind.CONFLICT in kinds or shares_nothing(comparison)
    if parted and comparison.has_content_fork:
        return Verdict.FORKED
    if any(bound.superseded is not None for bound in bounds):
        return Verdict.PENDING_TRUNCATION
    if len({history.log_end_offset for history in histories}) > 1:
        return Verdict.LAGGING
    return Verdict.CONSISTENT


def is_unread(stop: UnreadableRegion) -> bool:
    """Whether this version of the program, or the operating system, cannot read existing bytes.

    A future format has the next magic where a batch is expected, and from there on; any other magic
    is a damaged byte, or was left by a power failure.
    """
    if stop.end is ScanEnd.UNKNOWN_MAGIC:
        return stop.begins_batch and stop.ends_log and stop.magic == NEXT_MAGIC
    return stop.end is ScanEnd.REFUSED


def is_damage(stop: UnreadableRegion) -> bool:
    """Whether a stop is damage, and not just the unfinished end of a log."""
    return not (is_unread(stop) or stop.is_unfinished)


def is_replaced(
    comparison: Comparison,
    replica: Replica,
    stop: UnreadableRegion,
    stops: Mapping[Replica, Sequence[UnreadableRegion]],
) -> bool:
    """Whether the records that are missing at a stop, if any, are on a replica of the same history.

    Args:
        comparison: of the replicas.
        replica: that has the stop.
        stop: where reading stopped.
        stops: those of every replica; one that stops at the same place replaces nothing.
    """
    offset, until = stop.where.offset, stop.next_offset
    if offset is None:
        return False
    if until is not None and until <= offset:
        return True  # bytes between batches: no offset is missing
    is_after_the_end = until is None and not stop.begins_batch
    until = offset + 1 if until is None else until
    sound = {
        other
        for other, of_replica in stops.items()
        if other != replica and not any(_hides(each, offset, until) for each in of_replica)
    }
    needed = offset if is_after_the_end else until
    return any(
        replica in parent.replicas
        and not sound.isdisjoint(branch.replicas)
        and branch.next_offset >= needed
        for parent in comparison.branches()
        for branch in (parent, *parent.children)
        if not parent.is_fork or branch is parent
    )


def _hides(stop: UnreadableRegion, first_offset: int, next_offset: int) -> bool:
    begins = stop.where.offset
    if begins is None or begins >= next_offset:
        return begins is None
    return stop.next_offset is None or stop.next_offset > first_offset


def shares_nothing(comparison: Comparison) -> bool:
    """Whether replicas have offsets in common, yet begin with different batches."""
    roots = comparison.roots
    return any(
        one.first_offset < other.tree_next_offset and other.first_offset < one.tree_next_offset
        for number, one in enumerate(roots)
        for other in roots[number + 1 :]
    )
