"""The ``segments`` table: one row per segment, live or not, with a summary of its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from kafkalog_reader.format.batch_fields import CODEC_MASK, DELETE_HORIZON_BIT, LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import codec_text
from kafkalog_reader.io.partition_directory import snapshots_at_ends
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.log_unit import LogUnit
from kafkalog_reader.tables.rows import build_rows, microseconds_of
from kafkalog_reader.tables.schemas.logs import SEGMENTS
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import segment_units
from kafkalog_reader.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.request import ReadRequest

_FROM_BATCHES: Final = frozenset({
    "firstOffset", "lastOffset", "batches", "records", "minTimestamp", "maxTimestamp", "codecs",
    "magics", "firstLeaderEpoch", "lastLeaderEpoch", "validBytes", "crcErrors",
})  # fmt: skip


class SegmentsTable(Table[LogUnit]):
    """One row is one segment."""

    name: ClassVar[str] = "segments"
    doc: ClassVar[str] = "one row per segment: its files and sizes, and what its batches hold"
    columns: ClassVar[tuple[Column, ...]] = SEGMENTS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[LogUnit]:
        """Segments of every directory, replicas or not."""
        return segment_units(evidence, request, live_only=False)

    def read(
        self, unit: LogUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one unit; logs are scanned only where a column needs it."""
        schema = self.projected(request)
        slices = unit.slices
        ends = _SnapshotsAtEnds() if "hasSnapshotAtEnd" in schema.names else None
        needs_scan = not _FROM_BATCHES.isdisjoint(schema.names)
        rows = [
            _row(segment_slice, request, progress, needs_scan=needs_scan)
            | ({} if ends is None else {"hasSnapshotAtEnd": ends.of(segment_slice)})
            for segment_slice in slices
        ]
        values = {name: [row[name] for row in rows] for name in schema.names}
        yield build_rows(schema, len(rows), values)


def _row(
    segment_slice: SegmentSlice, request: ReadRequest, progress: Progress, *, needs_scan: bool
) -> dict[str, Any]:
    segment = segment_slice.segment
    row = {
        **identity_of(segment_slice.directory),
        "state": segment_slice.directory.state,
        "segmentBaseOffset": segment.base_offset,
        "suffix": segment.suffix,
        "sizeInBytes": segment.log_size,
        "offsetIndexBytes": segment.offset_index_size,
        "timeIndexBytes": segment.time_index_size,
        "transactionIndexBytes": segment.transaction_index_size,
        "modifiedAt": int(segment.modified_at * 1_000_000),
    }
    if not needs_scan:
        return row
    if segment.log_size is None:
        return row | dict.fromkeys(_FROM_BATCHES)
    scan = SegmentBatches(segment_slice, request.mode, progress, check_crc=True)
    summary = _Summary()
    for run in scan:
        summary.add(run)
    return row | summary.columns(scan.end_position)


class _SnapshotsAtEnds:
    """Which segments have a producer snapshot at their end; each folder is listed once."""

    def __init__(self) -> None:
        self._known: dict[str, Mapping[int, tuple[int, bool]]] = {}

    def of(self, segment_slice: SegmentSlice) -> bool | None:
        """Whether a segment has one; None if it needs none, or that is not known."""
        directory, segment = segment_slice.directory, segment_slice.segment
        is_remote = segment.directory != directory.path
        if is_remote or segment.suffix is not None or segment.log_size is None:
            return None
        if directory.path not in self._known:
            self._known[directory.path] = snapshots_at_ends(directory)
        end = self._known[directory.path].get(segment.base_offset)
        return None if end is None else end[1]


class _Summary:
    """A summary of the batches of one segment."""

    def __init__(self) -> None:
        self.first: tuple[int | None, int] | None = None  # offset, leader epoch
        self.last: tuple[int, int] | None = None
        self.batches = 0
        self.records = 0
        self.crc_errors = 0
        self.first_error: int | None = None
        self.oldest: int | None = None
        self.newest: int | None = None
        self.codecs = np.zeros(8, dtype=np.int64)
        self.magics = np.zeros(3, dtype=np.int64)
        self.has_wrappers = False

    def add(self, run: BatchRun) -> None:
        is_wrapper = run.is_wrapper
        if self.first is None:
            first_offset = None if is_wrapper[0] else int(run.base_offset[0])
            self.first = first_offset, int(run.leader_epoch[0])
        self.magics += np.bincount(run.magic, minlength=3)
        self.has_wrappers |= bool(is_wrapper.any())
        self.last = int(run.last_offset[-1]), int(run.leader_epoch[-1])
        self.batches += run.count
        valid = run.crc_valid
        if not valid.all():
            if self.first_error is None:
                self.first_error = int(run.position[np.argmin(valid)])
            self.crc_errors += int(np.count_nonzero(~valid))
            run = run.taken(np.flatnonzero(valid))
        self.records += int(run.records_count.sum(dtype=np.int64))
        self.codecs += np.bincount(run.attributes & CODEC_MASK, minlength=8)
        self._add_timestamps(run)

    def _add_timestamps(self, run: BatchRun) -> None:
        if run.count == 0:
            return
        newest = int(run.max_timestamp.max())
        self.newest = newest if self.newest is None else max(self.newest, newest)
        # An empty batch has no first record; a delete horizon stands where its timestamp did.
        # Magic 0 stores no time, and a wrapper only that of its newest record.
        known = (
            (run.records_count > 0)
            & ((run.attributes & (LOG_APPEND_TIME_BIT | DELETE_HORIZON_BIT)) != DELETE_HORIZON_BIT)
            & (run.magic > 0)
            & (~run.is_wrapper | ((run.attributes & LOG_APPEND_TIME_BIT) != 0))
        )
        first = np.where(
            run.attributes & LOG_APPEND_TIME_BIT, run.max_timestamp, run.base_timestamp
        )[known]
        if len(first):
            oldest = int(first.min())
            self.oldest = oldest if self.oldest is None else min(self.oldest, oldest)

    def columns(self, end_position: int) -> dict[str, Any]:
        first_offset, first_epoch = self.first or (None, None)
        last_offset, last_epoch = self.last or (None, None)
        return {
            "firstOffset": first_offset,
            "lastOffset": last_offset,
            "batches": self.batches,
            "records": None if self.has_wrappers else self.records,
            "minTimestamp": None if self.oldest is None else microseconds_of(self.oldest),
            "maxTimestamp": None if self.newest is None else microseconds_of(self.newest),
            "codecs": [codec_text(int(number)) for number in np.flatnonzero(self.codecs)],
            "magics": np.flatnonzero(self.magics).tolist(),
            "firstLeaderEpoch": first_epoch,
            "lastLeaderEpoch": last_epoch,
            "validBytes": min(
                end_position, end_position if self.first_error is None else self.first_error
            ),
            "crcErrors": self.crc_errors,
        }
