"""The ``offset_index`` table: one row an entry, and whether the log confirms it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, cast

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.tables.damage import Damage
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.index_file import OFFSET_INDEX_ENTRY, in_file_order, read_entries
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas import OFFSET_INDEX
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

_NO_OFFSET: Final = np.iinfo(np.int64).min


class OffsetIndexTable(Table):
    """One row is one entry of one offset index."""

    name: ClassVar[str] = "offset_index"
    doc: ClassVar[str] = "one row an entry of an offset index, and whether the log confirms it"
    columns: ClassVar[tuple[Column, ...]] = OFFSET_INDEX
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
            if not piece.segment.offset_index_size:
                continue
            try:
                yield from _rows(piece, schema, request, progress)
            except LocatedError as error:
                Damage(request.mode).left_out(error)


def _rows(
    piece: SegmentPiece, schema: pa.Schema, request: ReadRequest, progress: Progress
) -> Iterator[pa.RecordBatch]:
    segment = piece.segment
    for first, entries in read_entries(segment.path("index"), OFFSET_INDEX_ENTRY, progress):
        offset = segment.base_offset + entries["relative_offset"].astype(np.int64)
        position = entries["position"].astype(np.int64)
        confirmed: object = None
        if "confirmed" in schema.names and segment.log_size is not None:
            scan = TolerantScan(piece, request.mode, progress, check_crc=False)
            confirmed = confirm_offset_entries(offset, position, scan)
        yield build_rows(
            schema,
            len(entries),
            {
                **identity_of(piece.directory),
                "segmentBaseOffset": segment.base_offset,
                "entry": np.arange(first, first + len(entries), dtype=np.int32),
                "offset": offset,
                "position": position,
                "confirmed": confirmed,
            },
        )


def confirm_offset_entries(
    offset: NDArray[np.int64], position: NDArray[np.int64], scan: TolerantScan
) -> pa.Array:
    """Ask the log whether reading an entry's offset may start at its position.

    It may when a batch starts there and every batch before it ends below the offset: what all
    releases since 0.8 keep to, on leaders and followers (KAFKA-806). Null where the log cannot be
    read as far as the position.
    """
    order = np.argsort(position, kind="stable")
    wanted = position[order]
    confirmed = np.zeros(len(wanted), dtype=np.bool_)
    done, greatest = 0, _NO_OFFSET
    for run in scan:
        before = np.empty(run.count, np.int64)  # greatest last offset of all batches before each
        before[0] = greatest
        np.maximum.accumulate(run.last_offset[:-1], out=before[1:])
        np.maximum(before, greatest, out=before)
        greatest = max(int(before[-1]), int(run.last_offset[-1]))
        end = int(np.searchsorted(wanted, run.position[-1], side="right"))
        if end > done:
            found = np.searchsorted(run.position, wanted[done:end])
            is_border = run.position[found] == wanted[done:end]
            confirmed[done:end] = is_border & (before[found] < offset[order[done:end]])
            done = end
        if done == len(wanted):
            break
    known = np.ones(len(wanted), dtype=np.bool_)
    if not scan.is_readable:
        known = wanted < scan.end_position
    return in_file_order(confirmed, known, order)
