"""The tree of histories of one partition: who holds which range of offsets with the same bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.log.lineage import EpochPiece, LineageBuilder
from kafkalog_reader.tables.control_type import CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.tables.batch_scan import BatchRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """The offsets [first, next) as exactly these replicas hold them.

    A branch ends where a replica ends (one child), where another's log begins (one child), or where
    the replicas part (several children).

    Attributes:
        members: indexes of the replicas.
        records: written by clients; markers are counted apart.
        pieces: leader epochs of the batches.
    """

    members: tuple[int, ...]
    first_offset: int
    next_offset: int
    batches: int
    records: int
    control_records: int
    size_in_bytes: int
    pieces: tuple[EpochPiece, ...]
    children: tuple[Branch, ...] = ()

    @property
    def is_fork(self) -> bool:
        """Behind this branch two histories begin."""
        return len(self.children) > 1

    @property
    def is_dense(self) -> bool:
        """Every offset is a client's record: what a part holds follows from its bounds."""
        return self.records == self.next_offset - self.first_offset

    @property
    def tree_next_offset(self) -> int:
        """One past the last offset of this branch and of all behind it."""
        return max(branch.next_offset for branch in self.walk())

    def walk(self) -> Iterator[Branch]:
        """This branch and all behind it, nearest first."""
        waiting = [self]
        while waiting:
            branch = waiting.pop()
            yield branch
            waiting.extend(reversed(branch.children))


class BranchBuilder:
    """A branch while it grows."""

    def __init__(self, members: tuple[int, ...], first_offset: int) -> None:
        self.members = members
        self.first_offset = first_offset
        self.next_offset = first_offset
        self._batches = 0
        self._records = 0
        self._control_records = 0
        self._size_in_bytes = 0
        self._lineage = LineageBuilder()
        self._children: list[BranchBuilder] = []

    @property
    def is_blank(self) -> bool:
        """No batch so far: other members may still join."""
        return self._batches == 0

    def add(self, run: BatchRun, index: int, count: int) -> None:
        """Append batches that every member has, or one has and the others should."""
        part = slice(index, index + count)
        first, last = int(run.base_offset[index]), int(run.last_offset[index + count - 1])
        is_control = run.attributes[part] & CONTROL != 0
        self._batches += count
        if run.is_row and not is_control.any():
            self._records += last - first + 1
        else:
            counts = run.held_records(part)
            self._records += int(counts[~is_control].sum())
            self._control_records += int(counts[is_control].sum())
        self._size_in_bytes += int(run.size_in_bytes[part].sum(dtype=np.int64))
        end, starts = index + count, run.leader_epoch_starts
        starts = [index, *starts[bisect_right(starts, index) : bisect_left(starts, end)]]
        for start, stop in zip(starts, [*starts[1:], end], strict=True):
            self._lineage.add(
                int(run.leader_epoch[start]),
                int(run.base_offset[start]),
                int(run.last_offset[stop - 1]) + 1,
            )
        self.next_offset = max(self.next_offset, last + 1)

    def split(self, groups: Sequence[tuple[int, ...]], offset: int) -> list[BranchBuilder]:
        """End this branch; go on with each group of replicas from ``offset`` on."""
        self._children = [BranchBuilder(group, offset) for group in groups]
        return list(self._children)

    def build(self) -> Branch:
        """The finished branch with all behind it."""
        return Branch(
            members=self.members,
            first_offset=self.first_offset,
            next_offset=self.next_offset,
            batches=self._batches,
            records=self._records,
            control_records=self._control_records,
            size_in_bytes=self._size_in_bytes,
            pieces=self._lineage.build().pieces,
            children=tuple(child.build() for child in self._children),
        )
