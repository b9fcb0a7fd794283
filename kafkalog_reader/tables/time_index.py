"""The ``time_index`` table: one row an entry, and whether the log confirms it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, cast

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.tables.damage import Damage
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.index_file import TIME_INDEX_ENTRY, in_file_order, read_entries
from kafkalog_reader.tables.rows import build_rows, microseconds
from kafkalog_reader.tables.schemas import TIME_INDEX
from kafkalog_reader.tables.segment_unit import SegmentPiece, SegmentUnit, segment_units
from kafkalog_reader.tables.table import Column, Progress, Table, no_progress
from kafkalog_reader.tables.tolerant_scan import TolerantScan

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Unit

_LEAST: Final = np.iinfo(np.int64).min


class TimeIndexTable(Table):
    """One row is one entry of one time index."""

    name: ClassVar[str] = "time_index"
    doc: ClassVar[str] = "one row an entry of a time index, and whether the log confirms it"
    columns: ClassVar[tuple[Column, ...]] = TIME_INDEX
    options: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "max_partition_bytes"})

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[SegmentUnit]:
        """Live segments of replicas."""
        return segment_units(evidence, request, live_only=True)

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the entries, segment after segment; zeros of preallocation are none."""
        schema = self.projected(request)
        for piece in cast("SegmentUnit", unit).pieces:
            if not piece.segment.time_index_size:
                continue
            try:
                yield from _rows(piece, schema, request, progress)
            except LocatedError as error:
                Damage(request.mode).left_out(error)


def _rows(
    piece: SegmentPiece, schema: pa.Schema, request: ReadRequest, progress: Progress
) -> Iterator[pa.RecordBatch]:
    segment = piece.segment
    for first, entries in read_entries(segment.path("timeindex"), TIME_INDEX_ENTRY, progress):
        timestamp = entries["timestamp"].astype(np.int64)
        offset = segment.base_offset + entries["relative_offset"].astype(np.int64)
        confirmed: object = None
        if "confirmed" in schema.names and segment.log_size is not None:
            scan = TolerantScan(piece, request.mode, progress, check_crc=False)
            confirmed = confirm_time_entries(timestamp, offset, scan)
        yield build_rows(
            schema,
            len(entries),
            {
                **identity_of(piece.directory),
                "segmentBaseOffset": segment.base_offset,
                "entry": np.arange(first, first + len(entries), dtype=np.int32),
                "timestamp": microseconds(timestamp),
                "offset": offset,
                "confirmed": confirmed,
            },
        )


def confirm_time_entries(
    timestamp: NDArray[np.int64], offset: NDArray[np.int64], scan: TolerantScan
) -> pa.Array:
    """Ask the log whether an entry's timestamp is the greatest up to its offset.

    It is when the batch that holds the offset has it as its greatest, and no batch before has a
    greater one. Which offset inside the batch is named differs by release (KAFKA-16310). Null
    where the log cannot be read as far as the offset.
    """
    order = np.argsort(offset, kind="stable")
    wanted = offset[order]
    confirmed = np.zeros(len(wanted), dtype=np.bool_)
    done, newest, reached = 0, _LEAST, _LEAST
    for run in scan:
        newest_so_far = np.maximum(np.maximum.accumulate(run.max_timestamp), newest)
        last_so_far = np.maximum(np.maximum.accumulate(run.last_offset), reached)
        newest, reached = int(newest_so_far[-1]), int(last_so_far[-1])
        end = int(np.searchsorted(wanted, reached, side="right"))
        if end > done:
            asked, claimed = wanted[done:end], timestamp[order[done:end]]
            found = np.searchsorted(last_so_far, asked)
            confirmed[done:end] = (
                (run.base_offset[found] <= asked)
                & (run.max_timestamp[found] == claimed)
                & (newest_so_far[found] == claimed)
            )
            done = end
        if done == len(wanted):
            break
    known = np.ones(len(wanted), dtype=np.bool_)
    if not scan.is_readable:
        known[done:] = False
    return in_file_order(confirmed, known, order)
