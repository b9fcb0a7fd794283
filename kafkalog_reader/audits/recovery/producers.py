"""Simulates how a start rebuilds the state of a log's producers, for which it reads batches again.

Each recovery of a segment, and the load of the whole log at its end, goes on from the newest
producer snapshot. Source: Kafka 4.3, LogLoader#recoverSegment, UnifiedLog#rebuildProducerState,
ProducerStateManager#truncateAndReload and LogSegment#read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.recovery.batches import WalkEnd
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.segment import search
from kafkalog_reader.errors import CorruptLogError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.producer_snapshot import check_producer_snapshot
from kafkalog_reader.io.checkpoints import producer_snapshot_path, read_producer_snapshot
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafkalog_reader.audits.recovery.segment import LoadingSegment
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.progress import Progress


class ProducerReplay:
    """The producer snapshots of a log while it is loaded, and what is read to complete them.

    Args:
        directory: the replica.
        is_sound: whether a segment was found to hold nothing but sound batches.
        progress: receives the number of bytes read.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """

    def __init__(
        self,
        directory: PartitionDirectory,
        is_sound: Callable[[LoadingSegment], bool],
        progress: Progress,
    ) -> None:
        self._directory = directory
        self._is_sound = is_sound
        self._progress = progress
        self._snapshots = set(producer_snapshot_offsets(directory))
        self._at_start = frozenset(self._snapshots)
        self._taken: set[int] = set()
        self._newest = 0

    def load(
        self,
        segments: Sequence[LoadingSegment],
        offset: int,
        log_start: int,
        *,
        is_clean: bool,
        deletes_strays: bool,
    ) -> None:
        """Rebuild the state of a log that is loaded: its segments, end and start are given.

        Of the snapshots that are not at the beginning of a segment, all but one at the end are
        deleted before, since Kafka 2.8 (``removeStraySnapshots``). If none is left after a clean
        shutdown, the broker assumes that it was upgraded, and reads nothing.

        Raises:
            StartFailure: damage ends this, and with it the broker.
            UnreadableFileError: a file cannot be opened or read.
        """
        bases = {segment.base_offset for segment in segments}
        newest = max(bases, default=0)
        stray = max((each for each in self._snapshots if each not in bases), default=None)
        if deletes_strays:
            self._snapshots &= bases
            if stray is not None and stray >= newest:
                self._snapshots.add(stray)
        if self._snapshots or not is_clean:
            self.rebuild(segments, offset, log_start)

    def rebuild(self, segments: Sequence[LoadingSegment], offset: int, log_start: int) -> None:
        """Read the batches between the newest sound snapshot and ``offset`` again.

        Snapshots beyond ``offset``, or at the log start or below, are deleted.

        Raises:
            StartFailure: damage ends this, and with it the broker.
            UnreadableFileError: a file cannot be opened or read.
        """
        self._snapshots = {each for each in self._snapshots if log_start < each <= offset}
        start = max(self._snapshots, default=log_start)
        while start in self._snapshots and not self._can_be_read(start):
            self._snapshots.remove(start)
            start = max(self._snapshots, default=log_start)
        self._newest = start
        first, stop = (
            bisect_right(segments, start, key=lambda segment: segment.base_offset),
            bisect_left(segments, offset, key=lambda segment: segment.base_offset),
        )
        end = bisect_right(segments, offset, key=lambda segment: segment.base_offset)
        for number in range(max(first - 1, 0), stop if start < offset else 0):
            segment = segments[number]
            start = max(segment.base_offset, start)
            if number >= len(segments) - 2:
                self.take_snapshot(start)
            self._read(segment, start, offset if number == end - 1 else None)
        self.take_snapshot(offset)

    def take_snapshot(self, offset: int) -> None:
        """Note a snapshot that the start takes, unless the newest one is not below it."""
        if offset > self._newest:
            self._snapshots.add(offset)
            self._taken.add(offset)
            self._newest = offset

    def forget(self, base_offset: int) -> None:
        """Remove the snapshot of a segment that is deleted, if it was there before the start."""
        if base_offset in self._at_start:
            self._snapshots.discard(base_offset)

    def _read(self, segment: LoadingSegment, start: int, offset: int | None) -> None:
        """Read the part of a segment between where searches find two offsets.

        Args:
            segment: the segment.
            start: the first offset.
            offset: the second one; None: up to the end of the segment.
        """
        if not segment.has_own_index and segment.index is None:
            return  # its offsets rise, and every batch is sound
        first = segment.lookup(start) if segment.base_offset < start else 0
        if first == 0 and self._is_sound(segment):
            return
        rebuilding = f"read to rebuild the producers' state from offset {start:,} on"
        stop = None if offset is None else search(segment, offset, self._progress, rebuilding)
        position = search(segment, start, self._progress, rebuilding)
        if position is None:
            return
        kept = segment if stop is None else replace(segment, stop=segment.start + stop)
        if kept.stop < segment.start + position:
            raise StartFailure(
                f"{segment.where(kept.stop, offset)}: the log end is found below offset "
                f"{start:,}, {rebuilding}"
            )
        walk = kept.walk(position, check_crc=False, progress=self._progress, check_markers=True)
        next_offset = segment.base_offset
        for batches in walk:
            for row in np.flatnonzero(batches.lacks_marker).tolist():
                where = segment.where(int(batches.position[row]), int(batches.base_offset[row]))
                raise StartFailure(
                    f"{where}: a control batch without a transaction marker, {rebuilding}"
                )
            next_offset = int(batches.last_offset[-1]) + 1
        if walk.end is WalkEnd.TOO_SMALL:
            where = segment.where(walk.end_position, next_offset)
            raise StartFailure(f"{where}: {walk.problem}, {rebuilding}")

    def _can_be_read(self, snapshot: int) -> bool:
        if snapshot in self._taken:
            return True
        path = self._directory.path
        content = read_producer_snapshot(path, snapshot, context=self._directory.context)
        where = LogPosition(shown(producer_snapshot_path(path, snapshot)))
        if content is None:
            return False
        try:
            check_producer_snapshot(content, where)
        except (CorruptLogError, UnsupportedFormatError):
            return False
        return True
