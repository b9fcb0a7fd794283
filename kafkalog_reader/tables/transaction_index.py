"""The ``transaction_index`` table: the aborted transactions, and whether the log confirms them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from kafkalog_reader.errors import (
    CorruptIndexError,
    LocatedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.tables.control_type import ABORT, CONTROL, control_types
from kafkalog_reader.tables.damage import Damage
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.index_file import TRANSACTION_INDEX_ENTRY, in_file_order, read_entries
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas import TRANSACTION_INDEX
from kafkalog_reader.tables.segment_unit import SegmentPiece, SegmentUnit, segment_units
from kafkalog_reader.tables.table import Column, Progress, Table, no_progress
from kafkalog_reader.tables.tolerant_scan import TolerantScan

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import Mode, ReadRequest
    from kafkalog_reader.tables.table import Unit


class TransactionIndexTable(Table):
    """One row is one aborted transaction."""

    name: ClassVar[str] = "transaction_index"
    doc: ClassVar[str] = "one row an aborted transaction, and whether the log confirms it"
    columns: ClassVar[tuple[Column, ...]] = TRANSACTION_INDEX
    options: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "max_partition_bytes"})

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[SegmentUnit]:
        """Live segments of replicas."""
        return segment_units(evidence, request, live_only=True)

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the entries, segment after segment."""
        schema = self.projected(request)
        for piece in cast("SegmentUnit", unit).pieces:
            if not piece.segment.transaction_index_size:
                continue
            try:
                yield from _rows(piece, schema, request, progress)
            except LocatedError as error:
                Damage(request.mode).left_out(error)


def _rows(
    piece: SegmentPiece, schema: pa.Schema, request: ReadRequest, progress: Progress
) -> Iterator[pa.RecordBatch]:
    segment = piece.segment
    path = segment.path("txnindex")
    for first, read in read_entries(path, TRANSACTION_INDEX_ENTRY, progress):
        number = np.arange(first, first + len(read), dtype=np.int32)
        is_known = _check_versions(path, first, read["version"], request.mode)
        entries, number = read[is_known], number[is_known]
        confirmed: object = None
        if "confirmed" in schema.names and segment.log_size is not None:
            scan = TolerantScan(piece, request.mode, progress, check_crc=False)
            confirmed = confirm_aborted_transactions(entries, scan)
        yield build_rows(
            schema,
            len(entries),
            {
                **identity_of(piece.directory),
                "segmentBaseOffset": segment.base_offset,
                "entry": number,
                "producerId": entries["producer_id"].astype(np.int64),
                "firstOffset": entries["first_offset"].astype(np.int64),
                "lastOffset": entries["last_offset"].astype(np.int64),
                "lastStableOffset": entries["last_stable_offset"].astype(np.int64),
                "confirmed": confirmed,
            },
        )


def confirm_aborted_transactions(entries: NDArray[Any], scan: TolerantScan) -> pa.Array:
    """Ask the log whether an abort marker of that producer lies at an entry's last offset.

    Null where the log cannot be read as far as that offset.
    """
    order = np.argsort(entries["last_offset"], kind="stable")
    wanted = entries["last_offset"][order].astype(np.int64)
    producer = entries["producer_id"][order].astype(np.int64)
    confirmed = np.zeros(len(wanted), dtype=np.bool_)
    next_offset = -1
    for run in scan:
        next_offset = max(next_offset, int(run.last_offset.max()) + 1)
        markers = np.flatnonzero(run.attributes & CONTROL)
        markers = markers[np.isin(run.base_offset[markers], wanted)]
        aborts = markers[control_types(run, markers) == ABORT]
        offsets = run.base_offset[aborts]
        starts = np.searchsorted(wanted, offsets, side="left").tolist()
        ends = np.searchsorted(wanted, offsets, side="right").tolist()
        for start, end, aborted in zip(starts, ends, run.producer_id[aborts], strict=True):
            confirmed[start:end] |= producer[start:end] == aborted
    known = np.ones(len(wanted), dtype=np.bool_)
    if not scan.is_readable:
        known = wanted < next_offset
    return in_file_order(confirmed, known, order)


def _check_versions(
    path: str, first: int, versions: NDArray[np.int16], mode: Mode
) -> NDArray[np.bool_]:
    is_known = versions == 0
    if not is_known.all():
        entry = int(np.argmin(is_known))
        where = LogPosition(shown(path), (first + entry) * TRANSACTION_INDEX_ENTRY.itemsize)
        version = int(versions[entry])
        problem = f"transaction index version {version}, expected 0"
        kind = UnsupportedFormatError if version > 0 else CorruptIndexError
        Damage(mode).left_out(kind(problem, where))
    return cast("NDArray[np.bool_]", is_known)
