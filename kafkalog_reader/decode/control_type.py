"""Reads types and coordinator epochs of many control batches at once, from their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.errors import (
    CorruptRecordError,
    LimitReachedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import HEADER_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun

ABORT: Final = 0
COMMIT: Final = 1
NO_TYPE: Final = -1
"""For an empty control batch, which means nothing (KAFKA-5490), and for an unreadable record."""
NO_EPOCH: Final = -1

_MARKER_SIZE: Final = 78
# record length 16, attributes, timestamp and offset delta 0, key length 4, key version 0
_MARKER_START: Final = np.frombuffer(b"\x20\x00\x00\x00\x08\x00\x00", np.uint8)
_VALUE_AT: Final = 9
_VALUE_START: Final = np.frombuffer(b"\x0c\x00\x00", np.uint8)
"""Value length 6, value version 0."""
_EPOCH_AT: Final = 12
_EPOCH_SIZE: Final = 4


def control_types(run: BatchRun, rows: NDArray[np.intp]) -> NDArray[np.int16]:
    """The types of the control batches at ``rows`` of a run, whose window must still be valid.

    Transaction markers as brokers write them are read all at once; others with the declared format.
    """
    types = np.full(len(rows), NO_TYPE, dtype=np.int16)
    regular = np.flatnonzero(run.size_in_bytes[rows] == _MARKER_SIZE)
    window = np.frombuffer(run.buffer, np.uint8)
    start = run.position[rows[regular]] - run.window_position + HEADER_SIZE
    head = window[start[:, None] + np.arange(len(_MARKER_START) + 2)]
    is_marker = (head[:, : len(_MARKER_START)] == _MARKER_START).all(axis=1)
    regular, head = regular[is_marker], head[is_marker]
    types[regular] = head[:, -2].astype(np.int16) << 8 | head[:, -1]
    left = np.ones(len(rows), dtype=np.bool_)
    left[regular] = False
    left &= run.records_count[rows] > 0
    for index in np.flatnonzero(left):
        types[index] = _declared_type(run, int(rows[index]))
    types[run.records_count[rows] == 0] = NO_TYPE
    return types


def coordinator_epochs(run: BatchRun, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """The coordinator epochs in the transaction markers at ``rows``; -1 for any other record.

    Only markers as brokers write them are read. Source: EndTxnMarker version 0.
    """
    epochs = np.full(len(rows), NO_EPOCH, np.int64)
    regular = np.flatnonzero(run.size_in_bytes[rows] == _MARKER_SIZE)
    window = np.frombuffer(run.buffer, np.uint8)
    start = run.position[rows[regular]] - run.window_position + HEADER_SIZE
    record = window[start[:, None] + np.arange(_MARKER_SIZE - HEADER_SIZE)]
    is_marker = (record[:, : len(_MARKER_START)] == _MARKER_START).all(axis=1)
    is_marker &= (record[:, _VALUE_AT:_EPOCH_AT] == _VALUE_START).all(axis=1)
    stored = np.ascontiguousarray(record[is_marker, _EPOCH_AT : _EPOCH_AT + _EPOCH_SIZE])
    epochs[regular[is_marker]] = stored.view(">i4")[:, 0]
    return epochs


def _declared_type(run: BatchRun, row: int) -> int:
    from kafkalog_reader.format.control_record import parse_control_record_key  # slow to import
    from kafkalog_reader.format.record_batch import parse_record_batch

    start = int(run.position[row]) - run.window_position
    content = bytes(run.buffer[start : start + int(run.size_in_bytes[row])])
    where = LogPosition("control batch", int(run.position[row]), int(run.base_offset[row]))
    try:
        records = parse_record_batch(content, where).records
        return NO_TYPE if not records else parse_control_record_key(records[0].key, where).type_id
    except (CorruptRecordError, LimitReachedError, UnsupportedFormatError):
        return NO_TYPE
