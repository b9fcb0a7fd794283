"""Compares the batches of all replicas of a partition as streams, by content.

All replicas are read side by side, one window of each. While they agree, whole windows are compared
as blocks of bytes; only where they differ are batches compared one by one. The result is a tree:
each branch is a range of offsets that the same replicas hold with the same bytes.

A batch belongs to the history of its leader epoch. Replicas diverge where batches of different
leader epochs have the same offset; a difference under one leader epoch is damage, a conflict or
cleaning, and does not start a new branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.comparison.branch import BranchBuilder
from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
from kafkalog_reader.audits.comparison.damaged_stretch import damaged_stretch
from kafkalog_reader.audits.comparison.difference import (
    Comparison,
    Difference,
    DifferenceKind,
    Differences,
)
from kafkalog_reader.audits.comparison.equal_batches import equal_batches
from kafkalog_reader.audits.comparison.same_batch import differing_kind
from kafkalog_reader.audits.log.window_loader import WindowLoader
from kafkalog_reader.format.batch_fields import CRC_COVERS_FROM, MAGIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.audits.log.lineage import Lineage

_CURRENT: Final = np.zeros(1, np.intp)
_FIRST: Final = np.zeros(1, np.int32)


def compare(
    streams: Sequence[BatchStream],
    declared: Sequence[Lineage],
    cleaned_below: Sequence[int],
    log_starts: Sequence[int] | None = None,
) -> Comparison:
    """Read every stream to its end.

    Args:
        streams: one for each replica.
        declared: the lineage of each replica's epoch checkpoint; it distinguishes a flipped leader
            epoch in one batch header from another history.
        cleaned_below: the cleaner offset of each replica, 0 if it has none.
        log_starts: the log start offset of each; a record that is absent above it is a difference.
            By default each log starts with its first batch.
    """
    if log_starts is None:
        log_starts = [0 if stream.ended else stream.base_offset for stream in streams]
    with WindowLoader() as loader:
        return _Comparer(streams, declared, cleaned_below, log_starts, loader).run()


class _Comparer:
    def __init__(
        self,
        streams: Sequence[BatchStream],
        declared: Sequence[Lineage],
        cleaned_below: Sequence[int],
        log_starts: Sequence[int],
        loader: WindowLoader,
    ) -> None:
        self._streams = streams
        self._loader = loader
        self._log_starts = log_starts
        self._declared = declared
        self._cleaned_below = cleaned_below
        self._waiting = {index for index, stream in enumerate(streams) if not stream.ended}
        self._differences = Differences()
        self._damaged = tuple(DamagedBatches() for _ in streams)
        self._restamped: list[int] = []

    def run(self) -> Comparison:
        roots: list[BranchBuilder] = []
        self._restore_offsets(sorted(self._waiting))
        while self._waiting:
            first = min(self._waiting, key=lambda index: (self._base(index), index))
            self._waiting.discard(first)
            roots.append(BranchBuilder((first,), self._base(first)))
            open_branches = [roots[-1]]
            while open_branches:
                open_branches.extend(reversed(self._grow(open_branches.pop())))
        return Comparison(
            roots=tuple(root.build() for root in roots),
            differences=self._differences.found,
            differences_left_out=self._differences.left_out,
            damaged=self._damaged,
            restamped=tuple(self._restamped),
            log_starts=tuple(self._log_starts),
        )

    def _base(self, index: int) -> int:
        return self._streams[index].base_offset

    def _grow(self, branch: BranchBuilder) -> list[BranchBuilder]:
        """Follow a branch to where its set of replicas changes; return the branches that follow."""
        members = branch.members
        while True:
            going_on = tuple(index for index in members if not self._streams[index].ended)
            if going_on != members:
                return branch.split([going_on] if going_on else [], branch.next_offset)
            low = min(map(self._base, members))
            joining = tuple(i for i in sorted(self._waiting) if self._joins(i, members, low))
            if joining:
                self._waiting.difference_update(joining)
                together = tuple(sorted((*members, *joining)))
                if branch.is_blank:
                    branch.members = members = together
                    continue
                return branch.split([together], low)
            if self._restore_offsets(members):
                continue
            present = tuple(index for index in members if self._base(index) == low)
            apart = self._apart(members, present)
            if len(apart) > 1:
                self._note_holes(apart, present, low)
                self._note_restamped(apart, low)
                return branch.split(apart, low)
            self._take(branch, present)

    def _restore_offsets(self, members: Sequence[int]) -> bool:
        """Whether batches were found whose base offset is wrong, and only that.

        No checksum covers a base offset. A batch that breaks the sequence belongs at the expected
        offset if another replica has the same covered bytes there (replica-divergence.md, section
        4.1).
        """
        if len({self._base(index) for index in members}) == 1:
            return False
        broken = [
            index
            for index in members
            if self._base(index) != self._streams[index].expected_offset
            and any(_is_same_elsewhere(self._streams[index], self._streams[j]) for j in members)
        ]
        for index in broken:
            self._streams[index].restore(self._streams[index].expected_offset)
        return bool(broken)

    def _joins(self, waiting: int, members: Sequence[int], low: int) -> bool:
        """Whether a replica whose log starts here continues this branch."""
        stream = self._streams[waiting]
        if stream.base_offset > low:
            return self._log_starts[waiting] <= low
        beside = [index for index in members if self._base(index) == stream.base_offset]
        if beside:
            return len(self._apart((beside[0], waiting), (beside[0], waiting))) == 1
        return any(self._streams[index].leader_epoch == stream.leader_epoch for index in members)

    def _apart(self, members: Sequence[int], present: Sequence[int]) -> list[tuple[int, ...]]:
        """The members grouped by the leader epoch of the lowest batch; one group: no divergence."""
        last = max(self._streams[index].last_offset for index in present)
        epochs = {
            index: self._streams[index].leader_epoch
            for index in members
            if index in present or self._base(index) <= last
        }
        if len(set(epochs.values())) == 1:
            return self._apart_without_epochs(members, present)
        declared = {self._declared[index].epoch_at(self._base(index)) for index in epochs}
        if len(declared) == 1 and None not in declared and self._is_one_batch(present):
            return [tuple(members)]  # a header field that no checksum covers, not a history
        groups: dict[int, list[int]] = {}
        for index, leader_epoch in epochs.items():
            groups.setdefault(leader_epoch, []).append(index)
        for index in members:
            if index not in epochs:
                leader_epoch = self._streams[index].leader_epoch
                groups.get(leader_epoch, next(iter(groups.values()))).append(index)
        return sorted(tuple(sorted(group)) for group in groups.values())

    def _is_one_batch(self, present: Sequence[int]) -> bool:
        """Whether the lowest batch was once the same; the epoch checkpoints may be wrong."""
        return self._differing_kind(present, is_reframed=False) is not DifferenceKind.CONFLICT

    def _differing_kind(self, present: Sequence[int], *, is_reframed: bool) -> DifferenceKind:
        cleaned = any(self._may_be_cleaned(index, self._base(index)) for index in present)
        streams = [self._streams[index] for index in present]
        return differing_kind(streams, is_reframed=is_reframed, may_be_cleaned=cleaned)

    def _note_holes(
        self, apart: Sequence[tuple[int, ...]], present: Sequence[int], low: int
    ) -> None:
        """Note offsets that one replica lacks where they diverge, before its next batch."""
        first = self._streams[present[0]]
        for group in apart:
            base = min(map(self._base, group))
            if base <= low:
                continue
            next_offset = min(base, first.last_offset + 1)
            records = min(next_offset - low, int(first.run.records_count[first.index]))
            for kind, lacking in self._reasons(group, low).items():
                self._differences.add(
                    Difference(
                        kind=kind,
                        first_offset=low,
                        next_offset=next_offset,
                        batches=1,
                        records=max(0, records),
                        contents=(tuple(present),),
                        absent=tuple(lacking),
                    )
                )

    def _note_restamped(self, apart: Sequence[tuple[int, ...]], low: int) -> None:
        """Note a fork whose batches are equal except for the leader epoch."""
        contents = [
            bytes(self._streams[group[0]].batch[CRC_COVERS_FROM:])
            for group in apart
            if self._base(group[0]) == low
        ]
        if len(set(contents)) < len(contents):
            self._restamped.append(low)

    def _apart_without_epochs(
        self, members: Sequence[int], present: Sequence[int]
    ) -> list[tuple[int, ...]]:
        """Group by content, because old formats have no leader epochs."""
        streams = [self._streams[index] for index in present]
        if streams[0].leader_epoch >= 0 or not all(stream.is_intact for stream in streams):
            return [tuple(members)]
        contents: dict[bytes, list[int]] = {}
        for index, stream in zip(present, streams, strict=True):
            contents.setdefault(bytes(stream.batch), []).append(index)
        if len(contents) == 1:
            return [tuple(members)]
        if self._is_one_batch(present):
            return [tuple(members)]
        next(iter(contents.values())).extend(index for index in members if index not in present)
        return sorted(tuple(sorted(group)) for group in contents.values())

    def _take(self, branch: BranchBuilder, present: Sequence[int]) -> None:
        """Move the present members past equal batches, or past one that differs."""
        streams = [self._streams[index] for index in present]
        absent = [index for index in branch.members if index not in present]
        count = self._limit(streams[0], [*absent, *self._waiting])
        for stream in streams[1:]:
            count = min(count, stream.left_in_window)
        for stream in streams[1:]:
            count = equal_batches(streams[0], stream, count)
        if count == 0 and not absent and self._take_damaged(branch, present):
            return
        if count == 0:
            count = 1
            self._note_differing(present, absent)
        else:
            self._note_damage(present, count)
            if absent:
                self._note_absent(present, absent, count)
        sound = next((stream for stream in streams if stream.is_intact), streams[0])
        branch.add(sound.run, sound.index, count)
        self._loader.load([stream for stream in streams if stream.step(count)])

    def _take_damaged(self, branch: BranchBuilder, present: Sequence[int]) -> bool:
        """Move past batches that differ because of damage; return whether there were any."""
        streams = [self._streams[index] for index in present]
        most = self._limit(streams[0], [*self._waiting])
        stretch = damaged_stretch(streams, min(most, *(s.left_in_window for s in streams)))
        if stretch.count == 0:
            return False
        for number, index in enumerate(present):
            damaged = np.flatnonzero(~stretch.intact[number])
            self._damaged[index].add(streams[number], damaged, *stretch.holders(damaged, present))
        for difference in stretch.differences(present, self._differences.takes):
            self._differences.add(difference)
        for start, stop, number in stretch.sources():
            sound = streams[number]
            branch.add(sound.run, sound.index + start, stop - start)
        self._loader.load([stream for stream in streams if stream.step(stretch.count)])
        return True

    def _limit(self, stream: BatchStream, others: Sequence[int]) -> int:
        """How many batches end before another replica's next one; 0 if the first overlaps it."""
        bases = [self._base(index) for index in others]
        ahead = [base for base in bases if base > stream.base_offset]
        if not ahead:
            return stream.left_in_window
        lasts = stream.run.last_offset[stream.index :]
        if not stream.rises:  # an offset in it is wrong
            lasts = np.maximum.accumulate(lasts)
        return int(np.searchsorted(lasts, min(ahead)))

    def _note_damage(self, present: Sequence[int], count: int) -> None:
        """Note batches that are equal and damaged on every replica that holds them."""
        first = self._streams[present[0]]
        if first.run.is_row:
            return
        damaged = np.flatnonzero(~first.crc_valid[first.index : first.index + count])
        none = np.zeros(len(damaged), np.int32)
        for index in present:
            self._damaged[index].add(self._streams[index], damaged, [()], none)

    def _note_absent(self, present: Sequence[int], absent: Sequence[int], count: int) -> None:
        first = self._streams[present[0]]
        last = first.index + count - 1
        records = int(first.run.held_records(slice(first.index, last + 1)).sum())
        for kind, lacking in self._reasons(absent, first.base_offset).items():
            self._differences.add(
                Difference(
                    kind=kind,
                    first_offset=first.base_offset,
                    next_offset=int(first.run.last_offset[last]) + 1,
                    batches=count,
                    records=records,
                    contents=(tuple(present),),
                    absent=tuple(lacking),
                )
            )

    def _reasons(self, absent: Sequence[int], offset: int) -> dict[DifferenceKind, list[int]]:
        reasons: dict[DifferenceKind, list[int]] = {}
        for index in absent:
            if self._streams[index].hidden(offset):
                kind = DifferenceKind.HIDDEN
            elif any(self._may_be_cleaned(other, offset) for other in absent):
                kind = DifferenceKind.CLEANED  # or copied from one that was cleaned
            else:
                kind = DifferenceKind.MISSING
            reasons.setdefault(kind, []).append(index)
        return reasons

    def _may_be_cleaned(self, index: int, offset: int) -> bool:
        return offset < self._cleaned_below[index] or self._streams[index].shows_cleaning

    def _note_differing(self, present: Sequence[int], absent: Sequence[int]) -> None:
        """Note what differs in the lowest batch."""
        streams = [self._streams[index] for index in present]
        overlapped = [i for i in absent if self._base(i) <= max(s.last_offset for s in streams)]
        intact = tuple(index for index in present if self._streams[index].is_intact)
        for index in present:
            if index not in intact:
                self._damaged[index].add(streams[present.index(index)], _CURRENT, [intact], _FIRST)
        contents: dict[bytes, list[int]] = {}
        for index in present:
            contents.setdefault(bytes(self._streams[index].batch), []).append(index)
        if len(contents) > 1 or overlapped:
            kind = self._differing_kind(present, is_reframed=bool(overlapped))
            self._differences.add(
                Difference(
                    kind=kind,
                    first_offset=streams[0].base_offset,
                    next_offset=max(stream.last_offset for stream in streams) + 1,
                    batches=1,
                    records=max(stream.records for stream in streams),
                    contents=tuple(tuple(members) for members in contents.values()),
                    absent=tuple(overlapped),
                    damaged=tuple(
                        index
                        for index in present
                        if index not in intact or self._streams[index].is_restored
                    ),
                )
            )
        missing = [index for index in absent if index not in overlapped]
        if missing:
            self._note_absent(present, missing, 1)


def _is_same_elsewhere(one: BatchStream, other: BatchStream) -> bool:
    """Whether the other's batch belongs here, and is not also where this one's offset says."""
    run, index = other.run, other.index
    if (
        other.base_offset != one.expected_offset
        or other.leader_epoch != one.leader_epoch
        or int(run.magic[index]) != MAGIC
        or not (one.is_intact and other.is_intact)
        or one.batch[CRC_COVERS_FROM:] != other.batch[CRC_COVERS_FROM:]
    ):
        return False
    claimed = np.flatnonzero(run.base_offset[index:] == one.base_offset) + index
    return not (run.crc[claimed] == run.crc[index]).any()  # a retry stored it twice
