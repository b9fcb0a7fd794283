"""The last entry of a time index: the newest timestamp of its segment, as brokers take it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import SegmentFiles
    from kafkalog_reader.io.read_context import ReadContext

_TIME_ENTRY: Final = struct.Struct(">qi")


def last_timestamp(files: SegmentFiles, *, context: ReadContext) -> int:
    """The largest timestamp that the broker assumes: that of the last entry; -1 without entries.

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    if not files.time_index_size:
        return -1
    size = _TIME_ENTRY.size
    with Windows(files.path("timeindex"), size=size, context=context) as windows:
        entries = windows.size_in_bytes // size
        if entries == 0:
            return -1
        timestamp, _ = _TIME_ENTRY.unpack(windows.read((entries - 1) * size, size)[:size])
        return int(timestamp)
