"""One word for a partition: how its replicas stand to each other."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from kafkalog_reader.audits.difference import DifferenceKind
from kafkalog_reader.tables.batch_scan import ScanEnd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.batch_stream import ScanStop
    from kafkalog_reader.audits.committed import CommitBounds, History
    from kafkalog_reader.audits.difference import Comparison


class Verdict(Enum):
    """From harmless to hopeless; a partition gets the last that applies."""

    CONSISTENT = "consistent"
    LAGGING = "lagging"
    """One copy is a prefix of the other."""
    PENDING_TRUNCATION = "pending-truncation"
    """A newer leader exists whose history lacks the end of a copy: it will be cut."""
    FORKED = "forked"
    """From some offset on, copies hold different records."""
    DAMAGED_RECOVERABLE = "damaged-recoverable"
    """Bytes are damaged or missing; another copy has each of them intact."""
    DAMAGED_UNRECOVERABLE = "damaged-unrecoverable"
    """Bytes are damaged and no copy has them intact."""
    UNDECIDABLE = "undecidable"
    """These files do not say, and the reason is given."""

    @property
    def badness(self) -> int:
        return list(Verdict).index(self)


def verdict_of(
    histories: Sequence[History],
    bounds: Sequence[CommitBounds],
    comparison: Comparison,
    stops: Sequence[Sequence[ScanStop]],
) -> Verdict:
    """The verdict of replicas that could be read and belong to one topic id."""
    if any(is_unread(stop) for of_replica in stops for stop in of_replica):
        return Verdict.UNDECIDABLE
    kinds = {difference.kind for difference in comparison.differences}
    if DifferenceKind.NOT_COMPARED in kinds:
        return Verdict.UNDECIDABLE
    damage = [
        is_replaced(comparison, index, stop)
        for index, of_replica in enumerate(stops)
        for stop in of_replica
        if is_damage(stop)
    ]
    damage += [bool(place.intact_on) for places in comparison.damaged for place in places]
    if not all(damage):
        return Verdict.DAMAGED_UNRECOVERABLE
    repairable = {DifferenceKind.DAMAGED, DifferenceKind.MISSING, DifferenceKind.UNCOVERED}
    if damage or not kinds.isdisjoint(repairable):
        return Verdict.DAMAGED_RECOVERABLE
    if comparison.forks or DifferenceKind.CONFLICT in kinds or shares_nothing(comparison):
        return Verdict.FORKED
    if any(bound.superseded is not None for bound in bounds):
        return Verdict.PENDING_TRUNCATION
    if len({history.log_end_offset for history in histories}) > 1:
        return Verdict.LAGGING
    return Verdict.CONSISTENT


def is_unread(stop: ScanStop) -> bool:
    """Whether the bytes are there and this version, or the operating system, does not read them.

    No format will have a negative magic: that is a byte of what a power failure left.
    """
    is_negative = stop.problem.startswith("unknown magic -")
    return stop.end is None or (stop.end is ScanEnd.UNKNOWN_MAGIC and not is_negative)


def is_damage(stop: ScanStop) -> bool:
    """Whether a stop is more than the unfinished end of a log."""
    if is_unread(stop):
        return False
    return not (stop.in_last_segment and stop.end in (ScanEnd.TORN, ScanEnd.ZEROS))


def is_replaced(comparison: Comparison, index: int, stop: ScanStop) -> bool:
    """Whether another replica of the same history has the offsets behind a stop."""
    offset = stop.where.offset
    if offset is None:
        return False
    until = offset + 1 if stop.hidden_until is None else max(offset + 1, stop.hidden_until)
    return any(
        index in parent.members
        and any(member != index for member in branch.members)
        and branch.next_offset >= until
        for parent in comparison.branches()
        for branch in (parent, *parent.children)
        if not parent.is_fork or branch is parent
    )


def shares_nothing(comparison: Comparison) -> bool:
    """Whether replicas overlap and yet begin with different batches."""
    roots = comparison.roots
    return any(
        one.first_offset < other.tree_next_offset and other.first_offset < one.tree_next_offset
        for number, one in enumerate(roots)
        for other in roots[number + 1 :]
    )
