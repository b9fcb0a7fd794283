"""Whether a segment can hold anything of a range of time, by its time index and its first batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.scan.batch_scan import SegmentScan
from kafkalog_reader.tables.time_index_end import last_timestamp

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import SegmentFiles

_PROBE: Final = 16 << 10


def is_outside(
    segment: SegmentFiles,
    from_timestamp: int | None,
    to_timestamp: int | None,
    *,
    follow_links: bool,
) -> bool:
    """Whether a segment lies before or behind a range, as far as two places of it tell.

    Producers' clocks may run backwards, so a segment behind the range may still hold a record of
    it. One whose time index says nothing, or whose files cannot be read, is inside.

    Args:
        segment: a closed one.
        from_timestamp: milliseconds, the first wanted; None means unbounded.
        to_timestamp: the first not wanted any more.
        follow_links: open files although they are links.
    """
    try:
        if from_timestamp is not None:
            newest = last_timestamp(segment, follow_links=follow_links)
            if 0 < newest < from_timestamp:
                return True
        if to_timestamp is not None:
            first = _first_timestamp(segment, follow_links=follow_links)
            return first is not None and first >= to_timestamp
    except UnreadableFileError:  # the scan says so
        return False
    return False


def _first_timestamp(segment: SegmentFiles, *, follow_links: bool) -> int | None:
    """Of the first batch, if there is a sound one."""
    scan = SegmentScan(
        segment.path("log"),
        0,
        segment.log_size or 0,
        window_size=_PROBE,
        follow_links=follow_links,
    )
    run = next(iter(scan), None)
    if run is None or not run.count or not run.crc_valid[0]:
        return None
    return int(run.max_timestamp[0])
