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

from kafkalog_reader.audits.comparison.absence import reasons_of_absence
from kafkalog_reader.audits.comparison.branch import BranchBuilder
from kafkalog_reader.audits.comparison.compared_log import ComparedLog, replicas_of
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.damaged_stretch import damaged_stretch
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind, Differences
from kafkalog_reader.audits.comparison.equal_batches import equal_batches
from kafkalog_reader.audits.comparison.same_batch import differing_kind, known_end, overlap
from kafkalog_reader.audits.log.window_loader import WindowLoader
from kafkalog_reader.format.batch_fields import CRC_COVERS_FROM, MAGIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.audits.log.replica import Replica

_CURRENT: Final = np.zeros(1, np.intp)
_FIRST: Final = np.zeros(1, np.int32)


def compare(replicas: Sequence[Replica], streams: Sequence[BatchStream]) -> Comparison:
    """Read the stream of every replica to its end.

    A record that is absent above a replica's log start is a difference.
    """
    pairs = enumerate(zip(replicas, streams, strict=True))
    logs = [ComparedLog.of(number, *pair) for number, pair in pairs]
    with WindowLoader() as loader:
        return _Comparer(logs, loader).run()


class _Comparer:
    def __init__(self, logs: Sequence[ComparedLog], loader: WindowLoader) -> None:
        self._logs = logs
        self._loader = loader
        self._waiting = {log for log in logs if not log.stream.ended}
        self._differences = Differences()
        self._restamped: list[int] = []
        self._misread: dict[Replica, dict[int, int | None]] = {}

    def run(self) -> Comparison:
        roots: list[BranchBuilder] = []
        self._restore_offsets(sorted(self._waiting))
        while self._waiting:
            first = min(self._waiting, key=lambda log: (log.base_offset, log.number))
            self._waiting.discard(first)
            roots.append(BranchBuilder((first,), first.base_offset))
            open_branches = [roots[-1]]
            while open_branches:
                open_branches.extend(reversed(self._grow(open_branches.pop())))
        return Comparison(
            replicas=replicas_of(self._logs),
            roots=tuple(root.build() for root in roots),
            differences=self._differences.found,
            differences_left_out=self._differences.left_out,
            damaged={log.replica: log.damaged for log in self._logs},
            restamped=tuple(self._restamped),
            misread_epochs=self._misread,
        )

    def _grow(self, branch: BranchBuilder) -> list[BranchBuilder]:
        """Follow a branch to where its set of replicas changes; return the branches that follow."""
        members = branch.members
        while True:
            going_on = tuple(log for log in members if not log.stream.ended)
            if going_on != members:
                return branch.split([going_on] if going_on else [], branch.next_offset)
            low = min(log.base_offset for log in members)
            joining = tuple(each for each in sorted(self._waiting) if _joins(each, members, low))
            if joining:
                self._waiting.difference_update(joining)
                together = tuple(sorted((*members, *joining)))
                if branch.is_blank:
                    branch.members = members = together
                    continue
                return branch.split([together], low)
            if self._restore_offsets(members):
                continue
            present = tuple(log for log in members if log.base_offset == low)
            apart = _apart(members, present)
            if len(apart) > 1:
                self._note_holes(apart, present, low)
                self._note_restamped(apart, low)
                return branch.split(apart, low)
            self._take(branch, present)

    def _restore_offsets(self, members: Sequence[ComparedLog]) -> bool:
        """Whether batches were found whose base offset is wrong, and only that.

        No checksum covers a base offset. A batch that breaks the sequence belongs at the expected
        offset if another replica has the same covered bytes there (replica-divergence.md, section
        4.1).
        """
        if len({log.base_offset for log in members}) == 1:
            return False
        broken = [
            log.stream
            for log in members
            if log.base_offset != log.stream.expected_offset
            and any(_is_same_elsewhere(log.stream, other.stream) for other in members)
        ]
        for stream in broken:
            stream.restore(stream.expected_offset)
        return bool(broken)

    def _note_holes(
        self,
        apart: Sequence[tuple[ComparedLog, ...]],
        present: Sequence[ComparedLog],
        low: int,
    ) -> None:
        """Note offsets that one replica lacks where they diverge, before its next batch."""
        first = present[0].stream
        for group in apart:
            base = min(log.base_offset for log in group)
            if base <= low:
                continue
            next_offset = min(base, first.last_offset + 1)
            records = min(next_offset - low, int(first.run.records_count[first.index]))
            for kind, lacking in reasons_of_absence(group, low).items():
                self._differences.add(
                    Difference(
                        kind=kind,
                        first_offset=low,
                        next_offset=next_offset,
                        batches=1,
                        records=max(0, records),
                        contents=(replicas_of(present),),
                        absent=replicas_of(lacking),
                    )
                )

    def _note_restamped(self, apart: Sequence[tuple[ComparedLog, ...]], low: int) -> None:
        """Note a fork at which the batches are equal except for the leader epoch."""
        contents = [
            bytes(group[0].stream.batch[CRC_COVERS_FROM:])
            for group in apart
            if group[0].base_offset == low
        ]
        if len(set(contents)) < len(contents):
            self._restamped.append(low)

    def _take(self, branch: BranchBuilder, present: Sequence[ComparedLog]) -> None:
        """Move the present members past equal batches, or past one that differs."""
        streams = [log.stream for log in present]
        absent = [log for log in branch.members if log not in present]
        count = _limit(streams[0], [*absent, *self._waiting])
        for stream in streams[1:]:
            count = min(count, stream.left_in_window)
        for stream in streams[1:]:
            count = equal_batches(streams[0], stream, count)
        if count == 0 and not absent and self._take_damaged(branch, present):
            return
        if count == 0 and overlap([log.stream for log in branch.members]):
            from kafkalog_reader.audits.comparison.overlapping_batches import (  # slow to import
                take_overlapping,
            )

            for difference in take_overlapping(branch):
                self._differences.add(difference)
            return
        if count == 0:
            count = 1
            self._note_differing(present, absent)
        else:
            _note_damage(present, count)
            if absent:
                self._note_absent(present, absent, count)
        sound = next((stream for stream in streams if stream.is_intact), streams[0])
        branch.add(sound.run, sound.index, count)
        self._loader.load([stream for stream in streams if stream.step(count)])

    def _take_damaged(self, branch: BranchBuilder, present: Sequence[ComparedLog]) -> bool:
        """Move past batches that differ because of damage; return whether there were any."""
        streams, replicas = [log.stream for log in present], replicas_of(present)
        most = _limit(streams[0], [*self._waiting])
        stretch = damaged_stretch(streams, min(most, *(s.left_in_window for s in streams)))
        if stretch.count == 0:
            return False
        for number, log in enumerate(present):
            damaged = np.flatnonzero(~stretch.intact[number])
            log.damaged.add(log.stream, damaged, *stretch.holders(damaged, replicas))
        for difference in stretch.differences(replicas, self._differences.takes):
            self._differences.add(difference)
        for start, stop, number in stretch.sources():
            sound = streams[number]
            branch.add(sound.run, sound.index + start, stop - start)
        self._loader.load([stream for stream in streams if stream.step(stretch.count)])
        return True

    def _note_absent(
        self, present: Sequence[ComparedLog], absent: Sequence[ComparedLog], count: int
    ) -> None:
        first = present[0].stream
        last = first.index + count - 1
        records = int(first.run.held_records(slice(first.index, last + 1)).sum())
        for kind, lacking in reasons_of_absence(absent, first.base_offset).items():
            self._differences.add(
                Difference(
                    kind=kind,
                    first_offset=first.base_offset,
                    next_offset=int(first.run.last_offset[last]) + 1,
                    batches=count,
                    records=records,
                    contents=(replicas_of(present),),
                    absent=replicas_of(lacking),
                )
            )

    def _note_differing(
        self, present: Sequence[ComparedLog], absent: Sequence[ComparedLog]
    ) -> None:
        """Note what differs in the lowest batch."""
        streams = [log.stream for log in present]
        sound = [log for log in present if log.stream.is_intact]
        end = max(known_end(log.stream) or log.stream.last_offset + 1 for log in sound or present)
        overlapped = [log for log in absent if log.base_offset < end]
        intact = replicas_of(sound)
        for log in present:
            if not log.stream.is_intact:
                log.damaged.add(log.stream, _CURRENT, [intact], _FIRST)
        contents: dict[bytes, list[ComparedLog]] = {}
        for log in present:
            contents.setdefault(bytes(log.stream.batch), []).append(log)
        misread = self._misread_epochs(present)
        if len(contents) > 1 or overlapped:
            self._differences.add(
                Difference(
                    kind=_differing_kind(
                        [*present, *(overlapped if sound else ())],
                        is_reframed=bool(sound) and any(log.stream.is_intact for log in overlapped),
                    ),
                    first_offset=streams[0].base_offset,
                    next_offset=end,
                    batches=1,
                    records=max(stream.records for stream in streams),
                    contents=tuple(replicas_of(side) for side in contents.values()),
                    absent=replicas_of(overlapped),
                    damaged=replicas_of(
                        log
                        for log in (*present, *overlapped)
                        if not log.stream.is_intact or log.stream.is_restored or log in misread
                    ),
                    moved=replicas_of(log for log in present if log.stream.is_restored),
                )
            )
        missing = [log for log in absent if log not in overlapped]
        if missing:
            self._note_absent(present, missing, 1)

    def _misread_epochs(self, present: Sequence[ComparedLog]) -> list[ComparedLog]:
        """The logs with another leader epoch than their checkpoint, if some logs have the same."""
        misread = [
            log
            for log in present
            if log.stream.leader_epoch != log.declared.epoch_at(log.base_offset)
        ]
        if len(misread) == len(present):
            return []
        for log in misread:
            epoch, cache = log.stream.leader_epoch, log.replica.cache
            if epoch not in {entry.leader_epoch for entry in cache.entries}:
                declared = log.declared.epoch_at(log.base_offset)
                self._misread.setdefault(log.replica, {})[epoch] = declared
        return misread


def _joins(waiting: ComparedLog, members: Sequence[ComparedLog], low: int) -> bool:
    """Whether a replica whose log starts here continues this branch."""
    if waiting.base_offset > low:
        return waiting.replica.log_start_offset <= low
    beside = [log for log in members if log.base_offset == waiting.base_offset]
    if beside:
        return len(_apart((beside[0], waiting), (beside[0], waiting))) == 1
    return any(log.stream.leader_epoch == waiting.stream.leader_epoch for log in members)


def _apart(
    members: Sequence[ComparedLog], present: Sequence[ComparedLog]
) -> list[tuple[ComparedLog, ...]]:
    """The members grouped by the leader epoch of the lowest batch; one group: no divergence."""
    last = max(log.stream.last_offset for log in present)
    epochs = {
        log: log.stream.leader_epoch for log in members if log in present or log.base_offset <= last
    }
    if len(set(epochs.values())) == 1:
        return _apart_without_epochs(members, present)
    declared = {log.declared.epoch_at(log.base_offset) for log in epochs}
    if len(declared) == 1 and None not in declared and _is_one_batch(present):
        return [tuple(members)]  # a header field that no checksum covers, not a history
    groups: dict[int, list[ComparedLog]] = {}
    for log, leader_epoch in epochs.items():
        groups.setdefault(leader_epoch, []).append(log)
    for log in members:
        if log not in epochs:
            groups.get(log.stream.leader_epoch, next(iter(groups.values()))).append(log)
    return sorted(tuple(sorted(group)) for group in groups.values())


def _apart_without_epochs(
    members: Sequence[ComparedLog], present: Sequence[ComparedLog]
) -> list[tuple[ComparedLog, ...]]:
    """Group by content, because old formats have no leader epochs."""
    streams = [log.stream for log in present]
    if streams[0].leader_epoch >= 0 or not all(stream.is_intact for stream in streams):
        return [tuple(members)]
    contents: dict[bytes, list[ComparedLog]] = {}
    for log in present:
        contents.setdefault(bytes(log.stream.batch), []).append(log)
    if len(contents) == 1 or _is_one_batch(present):
        return [tuple(members)]
    next(iter(contents.values())).extend(log for log in members if log not in present)
    return sorted(tuple(sorted(group)) for group in contents.values())


def _is_one_batch(present: Sequence[ComparedLog]) -> bool:
    """Whether the lowest batch was once the same; the epoch checkpoints may be wrong."""
    return _differing_kind(present, is_reframed=False) is not DifferenceKind.CONFLICT


def _differing_kind(present: Sequence[ComparedLog], *, is_reframed: bool) -> DifferenceKind:
    cleaned = any(log.may_be_cleaned(log.base_offset) for log in present)
    streams = [log.stream for log in present]
    return differing_kind(streams, is_reframed=is_reframed, may_be_cleaned=cleaned)


def _limit(stream: BatchStream, others: Sequence[ComparedLog]) -> int:
    """How many batches end before another replica's next one; 0 if the first overlaps it."""
    ahead = [log.base_offset for log in others if log.base_offset > stream.base_offset]
    if not ahead:
        return stream.left_in_window
    lasts = stream.run.last_offset[stream.index :]
    if not stream.falls.rises:  # an offset in it is wrong
        lasts = np.maximum.accumulate(lasts)
    return int(np.searchsorted(lasts, min(ahead)))


def _note_damage(present: Sequence[ComparedLog], count: int) -> None:
    """Note batches that are equal and damaged on every replica that holds them."""
    first = present[0].stream
    if first.run.is_row:
        return
    damaged = np.flatnonzero(~first.crc_valid[first.index : first.index + count])
    none = np.zeros(len(damaged), np.int32)
    for log in present:
        log.damaged.add(log.stream, damaged, [()], none)


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
