"""Counts the records that a batch really holds by walking over their lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import (
    CorruptRecordError,
    LimitReachedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.record import parse_records
from kafkalog_reader.format.record_batch import batch_payload
from kafkalog_reader.format.record_batch_header import parse_record_batch_header

if TYPE_CHECKING:
    from kafkalog_reader.scan.batch_run import BatchRun

_MAX: Final = 16 << 20
"""Maximum bytes of records to walk over."""
_MAX_VARINT: Final = 5
_NEWEST_MAGIC: Final = 2


def count_whole_records(run: BatchRun, row: int) -> int | None:
    """Count the records of one batch of magic 2, while its window is valid.

    Returns:
        the number of sound records that fill the payload exactly; None if they do not.
    """
    if int(run.magic[row]) != _NEWEST_MAGIC:
        return None
    start = int(run.position[row]) - run.window_position
    size = int(run.size_in_bytes[row])
    if size > _MAX:
        return None
    where = LogPosition("batch", int(run.position[row]))
    content = bytes(run.buffer[start : start + size])
    try:
        payload = batch_payload(content, parse_record_batch_header(content, where), where)
        if len(payload) > _MAX:
            return None
        count = _lengths(payload)
        if count is not None:
            parse_records(payload, count, where, is_compressed=True)
    except (CorruptRecordError, LimitReachedError, UnsupportedFormatError):
        return None
    return count


def _lengths(payload: bytes) -> int | None:
    """The number of lengths that lead from the start exactly to the end; None if they do not."""
    count = position = 0
    while position < len(payload):
        number = shift = 0
        for _ in range(_MAX_VARINT):
            if position == len(payload):
                return None
            byte = payload[position]
            position += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        else:
            return None
        length = (number >> 1) ^ -(number & 1)
        if not 0 < length <= len(payload) - position:
            return None
        position += length
        count += 1
    return count
