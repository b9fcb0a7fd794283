"""The ``time_index`` table: one row per entry, and whether the log confirms it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from kafkalog_reader.format.index_entries import TIME_INDEX_ENTRY
from kafkalog_reader.tables.index_file import in_file_order
from kafkalog_reader.tables.index_table import Entries, IndexTable
from kafkalog_reader.tables.rows import microseconds
from kafkalog_reader.tables.schemas.logs import TIME_INDEX

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.format.index_entries import FixedEntry
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.tables.segment_batches import SegmentBatches
    from kafkalog_reader.tables.table import Column

_MIN: Final = np.iinfo(np.int64).min


class TimeIndexTable(IndexTable):
    """One row is one entry of one time index."""

    name: ClassVar[str] = "time_index"
    doc: ClassVar[str] = "one row per entry of a time index, and whether the log confirms it"
    columns: ClassVar[tuple[Column, ...]] = TIME_INDEX
    kind: ClassVar[str] = "timeindex"
    entry: ClassVar[FixedEntry] = TIME_INDEX_ENTRY

    def size_of(self, segment: SegmentFiles) -> int | None:
        return segment.time_index_size

    def values(self, base_offset: int, entries: Entries) -> dict[str, object]:
        return {
            "timestamp": microseconds(entries["timestamp"].astype(np.int64)),
            "offset": base_offset + entries["relative_offset"].astype(np.int64),
        }

    def confirm(self, base_offset: int, entries: Entries, scan: SegmentBatches) -> pa.Array:
        offset = base_offset + entries["relative_offset"].astype(np.int64)
        return confirm_time_entries(entries["timestamp"].astype(np.int64), offset, scan)


def confirm_time_entries(
    timestamp: NDArray[np.int64], offset: NDArray[np.int64], scan: SegmentBatches
) -> pa.Array:
    """Check in the log whether an entry's timestamp is the greatest up to its offset.

    It is if the batch with the offset has it as its greatest timestamp, and no batch before has a
    greater one. Which offset inside the batch is named differs by release (KAFKA-16310). Null if
    the log cannot be read up to the offset, or if a message of magic 0 has the offset: it stores
    no time, but for topics with LogAppendTime 2.8.2 indexes the append time.
    """
    order = np.argsort(offset, kind="stable")
    wanted = offset[order]
    confirmed = np.zeros(len(wanted), dtype=np.bool_)
    timeless = np.zeros(len(wanted), dtype=np.bool_)
    done, newest, reached = 0, _MIN, _MIN
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
            timeless[done:end] = (run.base_offset[found] <= asked) & (run.magic[found] == 0)
            done = end
        if done == len(wanted):
            break
    known = (wanted < scan.damaged_from) & ~timeless
    return in_file_order(confirmed, known, order)
