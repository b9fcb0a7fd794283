"""One change between two copies of a log: a range of offsets, and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class ChangeKind(Enum):
    """What happened to a range of offsets, or to a whole partition."""

    UNCHANGED = "unchanged"
    ADDED = "added"
    EXPIRED = "expired"
    COMPACTED = "compacted"
    TRUNCATED = "truncated"
    LOST_COMMITTED = "lostCommitted"
    REWRITTEN = "rewritten"
    MISSING = "missing"
    DAMAGED = "damaged"
    PARTITION_GONE = "partitionGone"
    PARTITION_NEW = "partitionNew"
    NOT_COMPARED = "notCompared"


LOSSES: Final = frozenset({
    ChangeKind.LOST_COMMITTED, ChangeKind.MISSING, ChangeKind.DAMAGED, ChangeKind.PARTITION_GONE,
})  # fmt: skip
"""Changes of committed records that a correct broker does not make by itself."""

_FIRST: Final = (
    ChangeKind.PARTITION_GONE, ChangeKind.PARTITION_NEW, ChangeKind.LOST_COMMITTED,
    ChangeKind.MISSING, ChangeKind.DAMAGED, ChangeKind.REWRITTEN, ChangeKind.TRUNCATED,
    ChangeKind.NOT_COMPARED, ChangeKind.COMPACTED, ChangeKind.EXPIRED, ChangeKind.ADDED,
    ChangeKind.UNCHANGED,
)  # fmt: skip
"""Where several changes concern the same offsets, the first of these is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One range of offsets, half-open, of one partition.

    Attributes:
        records: number of records in the copy that has them; None if unknown.
        detail: what proves or explains it; may be empty.
    """

    topic: str
    partition: int
    kind: ChangeKind
    first_offset: int | None
    next_offset: int | None
    records: int | None
    detail: str


def disjoint(changes: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes by offset; where several cover an offset, the most important.

    A change that is covered in part becomes pieces, whose ``records`` are known if every offset of
    the change is a record. Those without offsets come first, as they are.
    """
    ranges = []
    for number, each in enumerate(changes):
        first, stop = each.first_offset, each.next_offset
        if first is None or stop is None or first == stop:
            yield each
        else:
            ranges.append((first, stop, _FIRST.index(each.kind), number))
    ranges.sort()
    borders = sorted({border for first, stop, *_ in ranges for border in (first, stop)})
    covering: list[tuple[int, int, int]] = []
    pieces: list[tuple[int, int, int]] = []
    begun = 0
    for border, following in pairwise(borders):
        while begun < len(ranges) and ranges[begun][0] == border:
            _, stop, of_kind, number = ranges[begun]
            heappush(covering, (of_kind, number, stop))
            begun += 1
        while covering and covering[0][2] <= border:
            heappop(covering)
        if not covering:
            continue
        number = covering[0][1]
        if pieces and pieces[-1][0] == number and pieces[-1][2] == border:
            pieces[-1] = (number, pieces[-1][1], following)
        else:
            pieces.append((number, border, following))
    for number, first, stop in pieces:
        yield part_of(changes[number], first, stop)


def part_of(change: Change, first: int, stop: int) -> Change:
    """The change of the offsets [first, stop), all of which it has."""
    assert change.first_offset is not None
    assert change.next_offset is not None
    if (first, stop) == (change.first_offset, change.next_offset):
        return change
    is_dense = change.records == change.next_offset - change.first_offset
    return replace(
        change, first_offset=first, next_offset=stop, records=stop - first if is_dense else None
    )
