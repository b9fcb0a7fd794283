"""Whether records are in the logs of a salvage, by their offset and content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kafkalog_reader.io.compaction import may_be_compacted
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.internal_topic import record_schema
from kafkalog_reader.tables.log_unit import log_start_offset, slices_of
from kafkalog_reader.tables.record_hashes import COLUMNS, content_hashes, with_times
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.segment_slice import SegmentSlice

_SCHEMA: Final = record_schema(("offset", *COLUMNS))
_REQUEST: Final = ReadRequest(mode=Mode.DROPMALFORMED)


class _Records(NamedTuple):
    """Offsets, and hashes of offset and content."""

    offset: NDArray[np.int64]
    whole: NDArray[np.int64]


def are_in_logs(
    segment_slice: SegmentSlice,
    logs: Sequence[PartitionDirectory],
    *,
    log_range_only: bool,
) -> bool:
    """Whether each record of a file outside the logs is in one of them, and none is damaged.

    Args:
        segment_slice: the file, with the offsets asked for.
        logs: the copies of its partition that are salvaged.
        log_range_only: what brokers deleted by rule need not be there: records below the log start,
            and those within a log that was compacted.

    Raises:
        LocatedError: a file cannot be read.
    """
    deleted_below = max(map(_deleted_below, logs), default=0) if log_range_only else 0
    metrics = ReadMetrics()
    for records in _read([segment_slice], _REQUEST.damage_counted_in(metrics)):
        asked = records.offset >= deleted_below
        if not _found(_Records(*(column[asked] for column in records)), logs).all():
            return False
    return not metrics.damaged_regions


def _found(records: _Records, logs: Iterable[PartitionDirectory]) -> NDArray[np.bool_]:
    found = np.zeros(len(records.offset), bool)
    if not len(found):
        return found
    asked = ReadRequest(
        mode=Mode.DROPMALFORMED,
        from_offset=int(records.offset.min()),
        to_offset=int(records.offset.max()) + 1,
    )
    for log in logs:
        for there in _read(slices_of(log, asked, asked.damage), asked.damage):
            found |= np.isin(records.whole, there.whole)
            if found.all():
                return found
    return found


def _deleted_below(log: PartitionDirectory) -> int:
    """Up to where retention, DeleteRecords or compaction explain that a log lacks records."""
    if may_be_compacted(log):
        return scan_tail(log).next_offset
    bases = [each.base_offset for each in segments(log) if each.log_size is not None]
    return log_start_offset(log, min(bases, default=0))


def _read(slices: Iterable[SegmentSlice], damage: Damage) -> Iterator[_Records]:
    for each in slices:
        for rows in read_slice(each, _SCHEMA, _REQUEST, damage):
            if rows.num_rows:
                offset = rows["offset"].to_numpy()
                yield _Records(offset, with_times(content_hashes(rows), offset))
