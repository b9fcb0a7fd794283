"""The ``transaction_index`` table: the aborted transactions, and whether the log confirms them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, control_types
from kafkalog_reader.errors import CorruptIndexError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.index_file import in_file_order
from kafkalog_reader.tables.index_table import Entries, IndexTable
from kafkalog_reader.tables.schemas.logs import TRANSACTION_INDEX

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.format.index_entries import FixedEntry
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.damage import Mode
    from kafkalog_reader.tables.segment_batches import SegmentBatches
    from kafkalog_reader.tables.table import Column


class TransactionIndexTable(IndexTable):
    """One row is one aborted transaction."""

    name: ClassVar[str] = "transaction_index"
    doc: ClassVar[str] = "one row per aborted transaction, and whether the log confirms it"
    columns: ClassVar[tuple[Column, ...]] = TRANSACTION_INDEX
    kind: ClassVar[str] = "txnindex"
    entry: ClassVar[FixedEntry] = TRANSACTION_INDEX_ENTRY

    def size_of(self, segment: SegmentFiles) -> int | None:
        return segment.transaction_index_size

    def is_known(self, path: str, first: int, entries: Entries, mode: Mode) -> NDArray[np.bool_]:
        return _check_versions(path, first, entries["version"], mode)

    def values(self, _base_offset: int, entries: Entries) -> dict[str, object]:
        return {
            "producerId": entries["producer_id"].astype(np.int64),
            "firstOffset": entries["first_offset"].astype(np.int64),
            "lastOffset": entries["last_offset"].astype(np.int64),
            "lastStableOffset": entries["last_stable_offset"].astype(np.int64),
        }

    def confirm(self, _base_offset: int, entries: Entries, scan: SegmentBatches) -> pa.Array:
        return confirm_aborted_transactions(entries, scan)


def confirm_aborted_transactions(entries: Entries, scan: SegmentBatches) -> pa.Array:
    """Check in the log whether an abort marker of that producer is at an entry's last offset.

    Null if the log cannot be read up to that offset.
    """
    order = np.argsort(entries["last_offset"], kind="stable")
    wanted = entries["last_offset"][order].astype(np.int64)
    producer = entries["producer_id"][order].astype(np.int64)
    confirmed = np.zeros(len(wanted), dtype=np.bool_)
    for run in scan:
        markers = np.flatnonzero(run.attributes & CONTROL_BIT)
        markers = markers[np.isin(run.base_offset[markers], wanted)]
        aborts = markers[control_types(run, markers) == ABORT]
        offsets = run.base_offset[aborts]
        starts = np.searchsorted(wanted, offsets, side="left").tolist()
        ends = np.searchsorted(wanted, offsets, side="right").tolist()
        for start, end, aborted in zip(starts, ends, run.producer_id[aborts], strict=True):
            confirmed[start:end] |= producer[start:end] == aborted
    known = wanted < scan.damaged_from
    return in_file_order(confirmed, known, order)


def _check_versions(
    path: str, first: int, versions: NDArray[np.int16], mode: Mode
) -> NDArray[np.bool_]:
    is_known = versions == 0
    if not is_known.all():
        entry = int(np.argmin(is_known))
        where = LogPosition(shown(path), (first + entry) * TRANSACTION_INDEX_ENTRY.size)
        version = int(versions[entry])
        problem = f"transaction index version {version}, expected 0"
        kind = UnsupportedFormatError if version > 0 else CorruptIndexError
        Damage(mode).left_out(kind(problem, where))
    return cast("NDArray[np.bool_]", is_known)
