"""The ``offset_index`` table: one row per entry, and whether the log confirms it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY
from kafkalog_reader.io.offset_index_layout import offset_index_entry
from kafkalog_reader.tables.index_file import in_file_order
from kafkalog_reader.tables.index_table import Entries, IndexTable
from kafkalog_reader.tables.schemas.logs import OFFSET_INDEX

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.format.index_entries import FixedEntry
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.segment_batches import SegmentBatches
    from kafkalog_reader.tables.table import Column

_NO_OFFSET: Final = np.iinfo(np.int64).min


class OffsetIndexTable(IndexTable):
    """One row is one entry of one offset index."""

    name: ClassVar[str] = "offset_index"
    doc: ClassVar[str] = "one row per entry of an offset index, and whether the log confirms it"
    columns: ClassVar[tuple[Column, ...]] = OFFSET_INDEX
    kind: ClassVar[str] = "index"
    entry: ClassVar[FixedEntry] = OFFSET_INDEX_ENTRY

    def size_of(self, segment: SegmentFiles) -> int | None:
        return segment.offset_index_size

    def entry_of(self, segment_slice: SegmentSlice) -> FixedEntry:
        context = segment_slice.directory.context
        return offset_index_entry(segment_slice.segment, context=context)

    def values(self, base_offset: int, entries: Entries) -> dict[str, object]:
        return {
            "offset": base_offset + entries["relative_offset"].astype(np.int64),
            "position": entries["position"].astype(np.int64),
        }

    def confirm(self, base_offset: int, entries: Entries, scan: SegmentBatches) -> pa.Array:
        offset = base_offset + entries["relative_offset"].astype(np.int64)
        return confirm_offset_entries(offset, entries["position"].astype(np.int64), scan)


def confirm_offset_entries(
    offset: NDArray[np.int64], position: NDArray[np.int64], scan: SegmentBatches
) -> pa.Array:
    """Check in the log whether reading an entry's offset may start at its position.

    It may if a batch starts there and every batch before it ends below the offset, as all releases
    since 0.8 ensure, on leaders and followers (KAFKA-806). Null if the log cannot be read up to
    the position.
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
