"""Compares batches of several copies that overlap without having the same bounds, record by record.

A broker copies whole batches, so copies of one log have the same bounds. Others appear where two
leaders wrote under one leader epoch, or where a tool wrote the records anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import combinations
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.comparison.absence import reasons_of_absence
from kafkalog_reader.audits.comparison.compared_log import replicas_of
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.comparison.same_batch import known_end
from kafkalog_reader.tables.hashed_records import hashed_records, joined_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.comparison.branch import BranchBuilder
    from kafkalog_reader.audits.comparison.compared_log import ComparedLog
    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.tables.hashed_records import HashedRecords

_CURRENT: Final = np.zeros(1, np.intp)
_FIRST: Final = np.zeros(1, np.int32)
_MAX_BYTES: Final[int] = 64 << 20
"""Bytes of batches that are decoded; beyond this, records are counted by the headers."""


def take_overlapping(branch: BranchBuilder) -> Iterator[Difference]:
    """Move the members past batches that overlap, to the next offset at which none is inside one.

    Yields one difference between those that hold batches there, and what the others lack.
    """
    first = min(log.base_offset for log in branch.members)
    cleaned = any(log.may_be_cleaned(first) for log in branch.members)
    found = _OverlappingBatches(first, may_be_cleaned=cleaned)
    epoch = min(branch.members, key=lambda log: log.base_offset).stream.leader_epoch
    holders: set[ComparedLog] = set()
    added = first
    while reached := [
        log
        for log in branch.members
        if not log.stream.ended
        and log.base_offset < max(first + 1, found.next_offset)
        and log.stream.leader_epoch == epoch
    ]:
        log = min(reached, key=_turn)
        stream = log.stream
        holders.add(log)
        found.add(log)
        if not stream.is_intact:
            log.damaged.add(stream, _CURRENT, [replicas_of(found.intact_beside(log))], _FIRST)
        if log.base_offset >= added:
            branch.add(stream.run, stream.index, 1)
            added = max(added, branch.next_offset)
        stream.advance(1)
    found.is_fork = any(
        not log.stream.ended and log.base_offset < found.next_offset for log in branch.members
    )
    kind, records = found.conflicting()
    difference = Difference(
        kind=kind,
        first_offset=first,
        next_offset=found.next_offset,
        batches=found.batches,
        records=records,
        contents=tuple(map(replicas_of, found.contents())),
        damaged=replicas_of(found.damaged()),
    )
    yield difference
    lacking = [log for log in branch.members if log not in holders and not log.stream.ended]
    for reason, logs in reasons_of_absence(lacking, first).items():
        yield replace(
            difference,
            kind=reason,
            records=found.held_records,
            contents=(replicas_of(sorted(holders)),),
            absent=replicas_of(logs),
        )


def _turn(log: ComparedLog) -> tuple[int, bool, int]:
    """The order in which batches are taken; of damaged ones the end may be wrong."""
    return log.base_offset, not log.stream.is_intact, -log.stream.last_offset


@dataclass(slots=True)
class _Side:
    """What one copy holds in the range.

    Attributes:
        intact_up_to: one past the last offset of its newest batch; 0 if that is damaged.
        is_damaged: whether one of its batches is.
    """

    next_offset: int = 0
    intact_up_to: int = 0
    is_damaged: bool = False
    batches: int = 0
    records: int = 0
    content: blake2b = field(default_factory=blake2b)
    parts: list[HashedRecords] = field(default_factory=list)

    def decode(self, stream: BatchStream) -> bool:
        """Add the records of the current batch; return False if an intact one hides them."""
        if not stream.is_intact:
            return True
        run = stream.run.taken(slice(stream.index, stream.index + 1))
        part = hashed_records(run, stream.segment_slice)
        self.parts += [] if part is None else [part]
        return part is not None


class _OverlappingBatches:
    """The batches of several logs up to the next offset that is inside none of them.

    Attributes:
        first_offset, next_offset: the range of offsets, half-open.
        is_fork: whether a batch of another leader epoch begins in it.
    """

    def __init__(self, first_offset: int, *, may_be_cleaned: bool) -> None:
        self.first_offset = first_offset
        self.next_offset = first_offset
        self.is_fork = False
        self._may_be_cleaned = may_be_cleaned
        self._sides: dict[ComparedLog, _Side] = {}
        self._size = 0
        self._is_decoded = True

    @property
    def batches(self) -> int:
        """Number of batches of the log that has most."""
        return max(side.batches for side in self._sides.values())

    @property
    def held_records(self) -> int:
        """Number of records of the log that has most."""
        return max(side.records for side in self._sides.values())

    def add(self, log: ComparedLog) -> None:
        """Add the current batch of a log, which the caller then moves past it."""
        stream, side = log.stream, self._sides.setdefault(log, _Side())
        side.batches += 1
        side.records += stream.records
        end = known_end(stream) or stream.base_offset + 1
        side.next_offset = max(side.next_offset, end)
        side.is_damaged |= not stream.is_intact
        side.intact_up_to = end if stream.is_intact else 0
        side.content.update(stream.batch)
        self.next_offset = max(self.next_offset, side.next_offset)
        self._size += len(stream.batch)
        self._is_decoded = self._is_decoded and self._size <= _MAX_BYTES and side.decode(stream)

    def damaged(self) -> list[ComparedLog]:
        """The logs that have damaged batches here."""
        return sorted(log for log, side in self._sides.items() if side.is_damaged)

    def intact_beside(self, damaged: ComparedLog) -> list[ComparedLog]:
        """The logs that hold the offsets of the batch just added in one intact batch."""
        end = self._sides[damaged].next_offset
        return sorted(log for log, side in self._sides.items() if side.intact_up_to >= end)

    def contents(self) -> list[list[ComparedLog]]:
        """The logs, grouped by equal bytes."""
        found: dict[bytes, list[ComparedLog]] = {}
        for log, side in sorted(self._sides.items(), key=itemgetter(0)):
            found.setdefault(side.content.digest(), []).append(log)
        return list(found.values())

    def conflicting(self) -> tuple[DifferenceKind, int]:
        """The kind of the difference, and how many offsets hold different records.

        An offset without a record counts, too, below the end of what the log holds here and
        where compaction cannot have removed the record. Records that cannot be decoded are counted
        by the headers.
        """
        if not self._is_decoded:
            return DifferenceKind.CONFLICT, self.held_records
        if self.is_fork:
            return DifferenceKind.CONFLICT, max(1, self._differing())
        count = self._differing()
        if count:
            return DifferenceKind.CONFLICT, count
        if self.damaged():
            return DifferenceKind.DAMAGED, self.held_records
        return DifferenceKind.CLEANED, 0

    def _differing(self) -> int:
        """How many offsets hold different records."""
        differing: list[NDArray[np.int64]] = []
        for one, other in combinations(self._sides.values(), 2):
            ours, theirs = joined_records(one.parts), joined_records(other.parts)
            shared, left, right = np.intersect1d(ours.offset, theirs.offset, return_indices=True)
            is_other = ours.content[left] != theirs.content[right]
            is_other |= ours.leader_epoch[left] != theirs.leader_epoch[right]
            differing.append(shared[is_other])
            if not (self._may_be_cleaned or one.is_damaged or other.is_damaged):
                apart = np.setxor1d(ours.offset, theirs.offset)
                end = min(one.next_offset, other.next_offset)
                differing.append(apart if self.is_fork else apart[apart < end])
        return len(np.unique(np.concatenate(differing))) if differing else 0
