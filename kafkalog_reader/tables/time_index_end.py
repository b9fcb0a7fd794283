"""The last entry of a time index: what brokers take as the newest timestamp of its segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.format.index_entries import TIME_INDEX_ENTRY
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles


def last_timestamp(files: SegmentFiles, *, context: ReadContext) -> int:
    """The greatest timestamp as the broker assumes it: that of the last entry; -1 if it has none.

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    if not files.time_index_size:
        return -1
    size = TIME_INDEX_ENTRY.size
    with Windows(files.path("timeindex"), size=size, context=context) as windows:
        entries = windows.size_in_bytes // size
        if entries == 0:
            return -1
        timestamp, _ = TIME_INDEX_ENTRY.struct.unpack(
            windows.read((entries - 1) * size, size)[:size]
        )
        return int(timestamp)
