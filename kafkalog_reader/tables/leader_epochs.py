"""The ``leader_epochs`` table: one row an interval of offsets under one leader epoch.

Twice for every replica: as its checkpoint says and as its batches say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.tables.batch_scan import scan_tail
from kafkalog_reader.tables.damage import Damage
from kafkalog_reader.tables.directory_unit import DirectoryUnit, directory_units
from kafkalog_reader.tables.rows import build_rows, identity_of
from kafkalog_reader.tables.schemas import LEADER_EPOCHS
from kafkalog_reader.tables.segment_unit import pieces_of
from kafkalog_reader.tables.table import Column, Progress, Table, no_progress
from kafkalog_reader.tables.tolerant_scan import TolerantScan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory
    from kafkalog_reader.tables.request import Mode, ReadRequest
    from kafkalog_reader.tables.table import Unit

Interval = tuple[int, int, int]
"""Leader epoch, start offset, next offset."""


class LeaderEpochsTable(Table):
    """One row is one interval of one replica, by one source."""

    name: ClassVar[str] = "leader_epochs"
    doc: ClassVar[str] = "one row a leader epoch: by the checkpoint, and again by the batches"
    columns: ClassVar[tuple[Column, ...]] = LEADER_EPOCHS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[DirectoryUnit]:
        """Replicas of one log directory."""
        return directory_units(evidence, request, replicas_only=True)

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the intervals of the checkpoint, then those of the batches, of each replica."""
        schema = self.projected(request)
        sources: tuple[tuple[str, Callable[[PartitionDirectory], list[Interval]]], ...] = (
            ("checkpoint", _checkpoint_intervals),
            ("batches", lambda directory: _batch_intervals(directory, request.mode, progress)),
        )
        for directory in cast("DirectoryUnit", unit).directories:
            for source, intervals_of in sources:
                try:
                    intervals = intervals_of(directory)
                except LocatedError as error:
                    Damage(request.mode).left_out(error)
                    continue
                values = {
                    **identity_of(directory),
                    "source": source,
                    "leaderEpoch": [leader_epoch for leader_epoch, _, _ in intervals],
                    "startOffset": [start for _, start, _ in intervals],
                    "nextOffset": [next_offset for _, _, next_offset in intervals],
                }
                yield build_rows(schema, len(intervals), values)


def _checkpoint_intervals(directory: PartitionDirectory) -> list[Interval]:
    entries = read_leader_epochs(directory.path, follow_links=directory.follow_links)
    if not entries:
        return []
    log_end = scan_tail(directory).next_offset
    # an entry that a truncation has not yet taken out may start behind the end: it covers nothing
    ends = [*(entry.start_offset for entry in entries[1:]), max(log_end, entries[-1].start_offset)]
    return [
        (entry.leader_epoch, entry.start_offset, end)
        for entry, end in zip(entries, ends, strict=True)
    ]


def _batch_intervals(
    directory: PartitionDirectory, mode: Mode, progress: Progress
) -> list[Interval]:
    """Every change of the epoch along the log, upwards or not."""
    starts: list[tuple[int, int]] = []
    next_offset = 0
    for piece in pieces_of(directory, live_only=True):
        if piece.segment.log_size is None:
            continue
        for run in TolerantScan(piece, mode, progress, check_crc=False):
            changes = np.flatnonzero(np.diff(run.leader_epoch)) + 1
            if not starts or starts[-1][0] != int(run.leader_epoch[0]):
                changes = np.concatenate(([0], changes))
            starts.extend(
                zip(
                    run.leader_epoch[changes].tolist(),
                    run.base_offset[changes].tolist(),
                    strict=True,
                )
            )
            next_offset = int(run.last_offset[-1]) + 1
    if not starts:
        return []
    ends = [*(start for _, start in starts[1:]), next_offset]
    return [(epoch, start, end) for (epoch, start), end in zip(starts, ends, strict=True)]
