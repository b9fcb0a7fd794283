"""The first offset in compressed messages, of which a wrapper stores only the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.errors import KafkaLogError, LogPosition

if TYPE_CHECKING:
    from kafkalog_reader.scan.batch_run import BatchRun


def offset_inside_first(run: BatchRun, path: str) -> int | None:
    """The first offset in the wrapper that a window begins with.

    Returns:
        None if the window begins with something else, or the wrapper cannot be decompressed, which
        ``--deep`` reports.
    """
    if not (run.is_wrapper[0] and run.crc_valid[0]):
        return None
    from kafkalog_reader.format.message import parse_message  # slow to import
    from kafkalog_reader.format.message_set import message_records

    position = int(run.position[0])
    start = position - run.window_position
    content = bytes(run.buffer[start : start + int(run.size_in_bytes[0])])
    where = LogPosition(path, position)
    try:
        return next(message_records(parse_message(content, where), where)).offset
    except KafkaLogError:
        return None
