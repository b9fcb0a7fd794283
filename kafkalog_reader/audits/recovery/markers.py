"""Finds control batches at which rebuilding the producer state fails: without a transaction marker.

Source: Kafka 4.3, ProducerAppendInfo#append and EndTransactionMarker#deserialize, whose exceptions
are not caught; no CRC is checked there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types
from kafkalog_reader.errors import (
    CorruptRecordError,
    LimitReachedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import (
    CONTROL_BIT,
    HEADER,
    MAGIC,
    MAGIC_AT,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun


def lacking_markers(run: BatchRun) -> NDArray[np.bool_]:
    """Which batches are control batches of a producer, with records and without a marker."""
    lacks: NDArray[np.bool_] = (
        (run.attributes & CONTROL_BIT != 0)
        & (run.producer_id >= 0)
        & (run.magic >= MAGIC)
        & (run.records_count != 0)
    )
    rows = np.flatnonzero(lacks)
    types = control_types(run, rows)
    lacks[rows[(types == ABORT) | (types == COMMIT)]] = False
    for row in np.flatnonzero(lacks).tolist():  # also those with a wrong CRC
        start = int(run.position[row]) - run.window_position
        lacks[row] = lacks_marker(run.buffer[start : start + int(run.size_in_bytes[row])])
    return lacks


def lacks_marker(batch: memoryview) -> bool:
    """Whether a batch, read as one of magic 2, is one of those."""
    from kafkalog_reader.format.control_record import parse_control_record_key  # slow to import
    from kafkalog_reader.format.record_batch import parse_batch_records
    from kafkalog_reader.format.record_batch_header import parse_record_batch_header

    if len(batch) < HEADER.size:
        return False
    *_, attributes, _, _, _, producer_id, _, _, records = HEADER.unpack_from(batch)
    if not attributes & CONTROL_BIT or producer_id < 0 or records == 0:
        return False
    content = bytes(batch[:MAGIC_AT]) + bytes([MAGIC]) + bytes(batch[MAGIC_AT + 1 :])
    where = LogPosition("control batch")
    try:
        first, *_ = parse_batch_records(content, parse_record_batch_header(content, where), where)
        return parse_control_record_key(first.key, where).type_id not in (ABORT, COMMIT)
    except (CorruptRecordError, LimitReachedError, UnsupportedFormatError, ValueError):
        return True
