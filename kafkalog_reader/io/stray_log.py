"""A last log file that no broker can have left there: zeros, beyond the end of the log.

A broker names a new segment after the log end, and creates its indexes and a producer snapshot with
it (Kafka 4.3, UnifiedLog#roll). A file of zeros with a greater number and nothing beside it is what
a recovery tool, a copy or a test wrote; taken for a segment, it would move the log end to its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.interrupted_swap import read_next_offset
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_BEGINNING: Final = 64 << 10
"""Bytes that must be zeros; what follows them is not read."""


def stray_log(
    found: Sequence[SegmentFiles],
    snapshot_offsets: Callable[[], Collection[int]],
    context: ReadContext,
) -> SegmentFiles | None:
    """The last segment, if it is such a file.

    Args:
        found: the live segments, by base offset.
        snapshot_offsets: of the producer snapshots; asked only where no index is beside the file.
        context: how files are read.
    """
    logs = [each for each in found if each.log_size is not None]
    if len(logs) < 2 or logs[-1] is not found[-1]:
        return None
    before, last = logs[-2:]
    if not last.log_size or _has_index(last) or not _has_index(before):
        return None
    if last.base_offset in snapshot_offsets():
        return None
    try:
        if _begins_with_zeros(last, context):
            return last if read_next_offset(before, context) < last.base_offset else None
    except UnreadableFileError:  # whoever reads the log reports it
        return None
    return None


def _has_index(segment: SegmentFiles) -> bool:
    sizes = segment.offset_index_size, segment.time_index_size, segment.transaction_index_size
    return any(size is not None for size in sizes)


def _begins_with_zeros(segment: SegmentFiles, context: ReadContext) -> bool:
    with Windows(segment.path("log"), stop=_BEGINNING, size=_BEGINNING, context=context) as windows:
        return not any(windows.read(0))
