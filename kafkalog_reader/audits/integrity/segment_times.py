"""Excludes segments outside a time range, by their time index and first batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.scan.scan import Scan, ScanPolicy
from kafkalog_reader.tables.time_index_end import last_timestamp

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_PROBE: Final = ScanPolicy(tolerant=False, window_size=16 << 10)


def is_outside(
    segment: SegmentFiles,
    from_timestamp: int | None,
    to_timestamp: int | None,
    *,
    context: ReadContext,
) -> bool:
    """Whether a segment is before or after a range, by its first batch and its time index.

    Producers' clocks may run backwards, so a segment after the range may still hold a record of it.
    A segment without a usable time index, or with unreadable files, counts as inside.

    Args:
        segment: a closed segment.
        from_timestamp: start of the range in milliseconds; None means unbounded.
        to_timestamp: end of the range, exclusive.
        context: how files are read.
    """
    try:
        if from_timestamp is not None:
            newest = last_timestamp(segment, context=context)
            if 0 < newest < from_timestamp:
                return True
        if to_timestamp is not None:
            first = _first_timestamp(segment, context=context)
            return first is not None and first >= to_timestamp
    except UnreadableFileError:  # the scan reports it
        return False
    return False


def _first_timestamp(segment: SegmentFiles, *, context: ReadContext) -> int | None:
    """The timestamp of the first batch, if that is sound."""
    scan = Scan(segment, _PROBE, 0, segment.log_size or 0, context=context)
    run = next(scan.runs(), None)
    if run is None or not run.count or not run.crc_valid[0]:
        return None
    return int(run.max_timestamp[0])
