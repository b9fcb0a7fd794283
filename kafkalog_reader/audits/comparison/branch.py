"""The tree of histories of one partition: which replicas hold which offsets with the same bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.comparison.compared_log import replicas_of
from kafkalog_reader.audits.log.lineage import EpochInterval, LineageBuilder
from kafkalog_reader.format.batch_fields import CONTROL_BIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.comparison.compared_log import ComparedLog
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.scan.batch_run import BatchRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """The offsets [first, next) as exactly these replicas hold them.

    A branch ends where a replica ends (one child), where another's log begins (one child), or where
    the replicas diverge (several children).

    Attributes:
        records: number of client records, without transaction markers.
        intervals: the stretches of the branch, each with the leader epoch of its batches.
        contents: after a fork, the intervals with a fingerprint of their batches. Two branches may
            have equal contents: a follower that was truncated inside a batch loses the whole batch,
            and then continues with the batches of the others.
    """

    replicas: tuple[Replica, ...]
    first_offset: int
    next_offset: int
    batches: int
    records: int
    control_records: int
    size_in_bytes: int
    intervals: tuple[EpochInterval, ...]
    contents: tuple[tuple[EpochInterval, int], ...] = ()
    children: tuple[Branch, ...] = ()

    @property
    def is_fork(self) -> bool:
        """Whether two histories begin where this branch ends."""
        return len(self.children) > 1

    @property
    def is_dense(self) -> bool:
        """Whether every offset is a client record: then bounds give the number of records."""
        return self.records == self.next_offset - self.first_offset

    @property
    def tree_next_offset(self) -> int:
        """One past the last offset of this branch and of all that follow it."""
        return max(branch.next_offset for branch in self.walk())

    def walk(self) -> Iterator[Branch]:
        """This branch and all that follow it, nearest first."""
        waiting = [self]
        while waiting:
            branch = waiting.pop()
            yield branch
            waiting.extend(reversed(branch.children))


_MODULUS: Final = 1 << 64
_FACTORS: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
"""Odd and without a pattern, so that sums of products differ where one batch differs."""


class BranchBuilder:
    """A branch while it grows."""

    def __init__(
        self, members: tuple[ComparedLog, ...], first_offset: int, *, is_apart: bool = False
    ) -> None:
        self.members = members
        self.first_offset = first_offset
        self.next_offset = first_offset
        self._batches = 0
        self._records = 0
        self._control_records = 0
        self._size_in_bytes = 0
        self._lineage = LineageBuilder()
        self._is_apart = is_apart
        self._fingerprints: dict[int, int] = {}
        self._children: list[BranchBuilder] = []

    @property
    def is_blank(self) -> bool:
        """Whether it has no batch yet, so that other members may still join."""
        return self._batches == 0

    def add(self, run: BatchRun, index: int, count: int) -> None:
        """Append batches that every member has, or that one has and the others should have."""
        part = slice(index, index + count)
        first, last = int(run.base_offset[index]), int(run.last_offset[index + count - 1])
        self._batches += count
        if run.is_row and not run.summary.attributes & CONTROL_BIT:
            self._records += last - first + 1
        else:
            is_control = run.attributes[part] & CONTROL_BIT != 0
            counts = run.held_records(part)
            self._records += int(counts[~is_control].sum())
            self._control_records += int(counts[is_control].sum())
        is_all = count == run.count
        size = run.summary.size_in_bytes if is_all else run.size_in_bytes[part].sum(dtype=np.int64)
        self._size_in_bytes += int(size)
        end, starts = index + count, run.leader_epoch_starts
        starts = [index, *starts[bisect_right(starts, index) : bisect_left(starts, end)]]
        for start, stop in zip(starts, [*starts[1:], end], strict=True):
            self._lineage.add(
                int(run.leader_epoch[start]),
                int(run.base_offset[start]),
                int(run.last_offset[stop - 1]) + 1,
            )
            if self._is_apart:
                leader_epoch = int(run.leader_epoch[start])
                known = self._fingerprints.get(leader_epoch, 0)
                fingerprint = known + _fingerprint(run, slice(start, stop))
                self._fingerprints[leader_epoch] = fingerprint % _MODULUS
        self.next_offset = max(self.next_offset, last + 1)

    def split(self, groups: Sequence[tuple[ComparedLog, ...]], offset: int) -> list[BranchBuilder]:
        """End this branch and start one for each group of replicas at ``offset``."""
        is_apart = self._is_apart or len(groups) > 1
        self._children = [BranchBuilder(group, offset, is_apart=is_apart) for group in groups]
        return list(self._children)

    def build(self) -> Branch:
        """The finished branch, with all branches that follow it."""
        intervals = self._lineage.build().intervals
        return Branch(
            replicas=replicas_of(self.members),
            first_offset=self.first_offset,
            next_offset=self.next_offset,
            batches=self._batches,
            records=self._records,
            control_records=self._control_records,
            size_in_bytes=self._size_in_bytes,
            intervals=intervals,
            contents=tuple(
                (interval, self._fingerprints[interval.leader_epoch])
                for interval in intervals
                if interval.leader_epoch in self._fingerprints
            ),
            children=tuple(child.build() for child in self._children),
        )


def _fingerprint(run: BatchRun, part: slice) -> int:
    """A fingerprint of the offsets, sizes and checksums of batches; those of ranges add up."""
    offset, crc, size = (np.uint64(factor) for factor in _FACTORS)
    mixed = run.base_offset[part].astype(np.uint64) * offset
    mixed ^= (run.crc[part] ^ run.crc_computed[part] << 1).astype(np.uint64) * crc
    mixed ^= run.size_in_bytes[part].astype(np.uint64) * size
    return int(mixed.sum(dtype=np.uint64))
