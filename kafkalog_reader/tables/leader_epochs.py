"""The ``leader_epochs`` table: one row per interval of offsets under one leader epoch.

Twice for every replica: as its checkpoint says and as its batches say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.directory_unit import DirectoryUnit, directory_units
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.replicas import NO_LEADER_EPOCH
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas.logs import LEADER_EPOCHS
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import whole_segments
from kafkalog_reader.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


class _Intervals(NamedTuple):
    """Each leader epoch with its first offset, and one past the last offset of the log."""

    leader_epochs: NDArray[np.int32]
    start_offsets: NDArray[np.int64]
    next_offset: int


class LeaderEpochsTable(Table[DirectoryUnit]):
    """One row is one interval of one replica, by one source."""

    name: ClassVar[str] = "leader_epochs"
    doc: ClassVar[str] = "one row per leader epoch: by the checkpoint, and again by the batches"
    columns: ClassVar[tuple[Column, ...]] = LEADER_EPOCHS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[DirectoryUnit]:
        """Replicas of one log directory."""
        return directory_units(evidence, request, replicas_only=True)

    def read(
        self, unit: DirectoryUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the intervals of the checkpoint, then those of the batches, of each replica."""
        schema = self.projected(request)
        sources: tuple[tuple[str, Callable[[PartitionDirectory], _Intervals]], ...] = (
            ("checkpoint", _checkpoint_intervals),
            ("batches", lambda directory: _batch_intervals(directory, request, progress)),
        )
        for directory in unit.directories:
            for source, intervals_of in sources:
                try:
                    intervals = intervals_of(directory)
                except LocatedError as error:
                    request.damage.left_out(error)
                    continue
                ends = np.append(intervals.start_offsets, intervals.next_offset)[1:]
                known = intervals.leader_epochs != NO_LEADER_EPOCH
                values = {
                    **identity_of(directory),
                    "source": source,
                    "leaderEpoch": intervals.leader_epochs[known],
                    "startOffset": intervals.start_offsets[known],
                    "nextOffset": ends[known],
                }
                yield build_rows(schema, int(known.sum()), values)


def _checkpoint_intervals(directory: PartitionDirectory) -> _Intervals:
    entries = read_leader_epochs(directory.path, context=directory.context) or ()
    epochs = np.array([entry.leader_epoch for entry in entries], dtype=np.int32)
    starts = np.array([entry.start_offset for entry in entries], dtype=np.int64)
    if len(starts) == 0:
        return _Intervals(epochs, starts, 0)
    # an entry that a truncation has not yet taken out may start after the end: it covers nothing
    return _Intervals(epochs, starts, max(scan_tail(directory).next_offset, int(starts[-1])))


def _batch_intervals(
    directory: PartitionDirectory, request: ReadRequest, progress: Progress
) -> _Intervals:
    """Every change of the epoch along the log, up or down."""
    epochs, starts = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    next_offset, last_epoch = 0, None
    for segment_slice in whole_segments(directory, live_only=True):
        if segment_slice.segment.log_size is None:
            continue
        for run in SegmentBatches(
            segment_slice, request.mode, progress, check_crc=False, hidden=request.hidden
        ):
            changes = np.flatnonzero(np.diff(run.leader_epoch)) + 1
            if last_epoch != int(run.leader_epoch[0]):
                changes = np.concatenate(([0], changes))
            epochs.append(run.leader_epoch[changes])
            starts.append(run.base_offset[changes])
            next_offset, last_epoch = int(run.last_offset[-1]) + 1, int(run.leader_epoch[-1])
    return _Intervals(np.concatenate(epochs), np.concatenate(starts), next_offset)
