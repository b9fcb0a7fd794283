"""KL-410: compares producer snapshots with a replay of the batches before them."""

from __future__ import annotations

import bisect
import posixpath
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.catalogue.log_rules import (
    SNAPSHOT_DISAGREES_WITH_LOG,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.producer_replay import Disagreement, ProducerReplay
from kafkalog_reader.errors import LocatedError, LogPosition
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.producer_snapshot import parse_producer_snapshot
from kafkalog_reader.io.checkpoints import producer_snapshot_path, read_producer_snapshot
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry
    from kafkalog_reader.scan.batch_run import BatchRun


class ProducerCheck:
    """Follows the producers of one replica from segment to segment.

    At each sound snapshot the replay is compared, and then continues from the snapshot, so that one
    wrong snapshot is one finding. After batches that are damaged, cleaned or not read, nothing is
    compared until the next snapshot; a missing batch shows in the next one.
    """

    def __init__(self, replica: Replica) -> None:
        self.found: list[Finding] = []
        self._replica = replica
        self._replay = ProducerReplay()
        self._is_known = False
        self._reached = 0
        topic = replica.directory.topic or ""
        self._may_be_cleaned = replica.cleaner_offset is not None or topic.startswith("__")
        self._offsets = self._listed()
        self._next = 0

    def begin_segment(self, base_offset: int) -> None:
        """Begin a segment; what was between it and the one before is unknown."""
        if base_offset != self._reached:
            self._is_known = False
            self._reached = base_offset
            self._next = bisect.bisect_left(self._offsets, base_offset)
        if base_offset == 0 and not self._is_known:
            self._replay.begin((), is_complete=True)
            self._is_known = True
        self._settle_up_to(base_offset)

    def lose_track(self) -> None:
        """Handle bytes that are not a batch: they may have held a producer's batches."""
        self._is_known = False

    def look(self, run: BatchRun) -> None:
        """Follow the batches of one window, while it is valid."""
        if not self._offsets or self._next == len(self._offsets):
            return
        sparse = (run.magic == 2) & (
            (run.records_count < run.last_offset_delta + 1)
            | ((run.attributes & DELETE_HORIZON_BIT) != 0)
        )
        if sparse.any() or not run.crc_valid.all() or (np.diff(run.base_offset) <= 0).any():
            self._is_known = False
            self._reached = int(run.last_offset.max()) + 1
            self._next = bisect.bisect_left(self._offsets, self._reached)
            return
        start = 0
        while self._next < len(self._offsets):
            offset = self._offsets[self._next]
            stop = int(np.searchsorted(run.base_offset, offset))
            self._apply(run, start, stop)
            start = stop
            if stop == run.count:
                break
            self._settle_up_to(offset)

    def conclude(self, log_end_offset: int) -> None:
        """End the log: compare the snapshots at its end, too."""
        self._settle_up_to(log_end_offset)

    def _apply(self, run: BatchRun, first: int, stop: int) -> None:
        if stop > first:
            gaps = run.base_offset[first + 1 : stop] != run.last_offset[first : stop - 1] + 1
            step = int(run.base_offset[first]) - self._reached
            if step < 0 or (self._may_be_cleaned and (step or gaps.any())):
                self._is_known = False  # it may have held producers' batches
            if self._is_known:
                self._replay.apply(run, first, stop)
            self._reached = int(run.last_offset[stop - 1]) + 1

    def _settle_up_to(self, offset: int) -> None:
        """Compare the snapshots up to an offset if the batches before them were read."""
        while self._next < len(self._offsets) and self._offsets[self._next] <= offset:
            at = self._offsets[self._next]
            self._next += 1
            entries = self._read(at)
            if entries is None:
                continue
            if self._is_known and at == self._reached:
                different = self._replay.disagreements(entries)
                if different:
                    self.found.append(self._reported(at, different))
            if at == self._reached:
                self._replay.begin(entries, is_complete=True)
                self._is_known = True

    def _listed(self) -> list[int]:
        directory = self._replica.directory
        if directory.only is not None or directory.topic == METADATA_TOPIC:
            return []
        try:
            return list(producer_snapshot_offsets(directory))
        except LocatedError:  # has its own finding
            return []

    def _read(self, offset: int) -> tuple[ProducerSnapshotEntry, ...] | None:
        directory = self._replica.directory
        where = LogPosition(shown(producer_snapshot_path(directory.path, offset)))
        try:
            content = read_producer_snapshot(directory.path, offset, context=directory.context)
            return None if content is None else parse_producer_snapshot(content, where)
        except LocatedError:  # KL-314 or KL-006
            return None

    def _reported(self, offset: int, different: list[Disagreement]) -> Finding:
        path = producer_snapshot_path(self._replica.directory.path, offset)
        file = self._replica.file(posixpath.basename(path))
        first = next((each for each in different if each.is_grave), different[0])
        others = len({each.producer_id for each in different}) - 1
        more = f"; {others:,} more producers differ" if others else ""
        return finding(
            SNAPSHOT_DISAGREES_WITH_LOG,
            f"{file}: producer {first.producer_id} has {first.field} {first.stored}, but by the "
            f"batches before it {first.replayed}{more}",
            severity="H" if any(each.is_grave for each in different) else "M",
            directory=self._replica.directory,
            file=file,
            offsets=(offset, offset),
            evidence={
                "producerId": first.producer_id,
                "field": first.field,
                "stored": first.stored,
                "replayed": first.replayed,
                "differences": len(different),
            },
        )
