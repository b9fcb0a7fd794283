"""Rewrites record batches to fit any cluster: another leader epoch, and no producer.

A producer id belongs to the cluster that assigned it. In another one a new producer gets the same
id some day, and would be refused because its first sequence does not follow the one in the log.
Payloads stay byte for byte; a batch without a producer keeps its CRC too, because the leader epoch
is not covered by it. Source: Kafka 4.0, DefaultRecordBatch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.batch_fields import (
    ATTRIBUTES_AT,
    CRC_AT,
    CRC_COVERS_FROM,
    LAST_OFFSET_DELTA_AT,
    LEADER_EPOCH_AT,
    MAGIC_AT,
    PRODUCER_ID_AT,
    RECORDS_COUNT_AT,
    TRANSACTIONAL_BIT,
)
from kafkalog_reader.kernel import record_batches
from kafkalog_reader.salvage.batch_bytes import batch_bytes
from kafkalog_reader.scan.batch_run import BatchRun

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEADER_EPOCH: Final = np.arange(LEADER_EPOCH_AT, MAGIC_AT)
_CRC: Final = np.arange(CRC_AT, CRC_COVERS_FROM)
_ATTRIBUTES: Final = np.arange(ATTRIBUTES_AT, LAST_OFFSET_DELTA_AT)
_PRODUCER: Final = np.arange(PRODUCER_ID_AT, RECORDS_COUNT_AT)
"""Producer id, producer epoch, base sequence: −1 each, which is all ones."""


def standalone_batches(run: BatchRun, leader_epoch: int) -> tuple[NDArray[np.uint8], int]:
    """Copy the batches of a run one after another, rewritten.

    Returns:
        The bytes, and how many batches lost a producer. Batches of magic 0 and 1 have neither
        leader epoch nor producer, and are copied unchanged.
    """
    content = batch_bytes(run)
    sizes = run.size_in_bytes.astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    is_v2 = run.magic == 2
    _put(content, starts[is_v2], _LEADER_EPOCH, np.full(int(is_v2.sum()), leader_epoch, ">i4"))
    produced = np.flatnonzero(is_v2 & (run.producer_id != -1))
    if len(produced):
        at = starts[produced]
        content[at[:, None] + _PRODUCER] = 0xFF
        attributes = run.attributes[produced] & ~np.int16(TRANSACTIONAL_BIT)
        _put(content, at, _ATTRIBUTES, attributes.astype(">i2"))
        _put(content, at, _CRC, _crcs(content, run.count)[produced].astype(">u4"))
    return content, len(produced)


def _put(
    content: NDArray[np.uint8],
    starts: NDArray[np.int64],
    field: NDArray[np.int64],
    values: NDArray[np.generic],
) -> None:
    content[starts[:, None] + field] = values.view(np.uint8).reshape(len(starts), len(field))


def _crcs(content: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
    """The CRC of every batch, by the kernel: it computes what it would compare."""
    capacity = (count + 8) // 8 * 8
    scanned = BatchRun.with_room(content.data, 0, capacity)
    found, _valid, _end, _reason = record_batches.scan_batches(
        content.data, 0, len(content), 0, True, scanned, capacity
    )
    assert found == count
    return scanned.crc_computed[:count]
