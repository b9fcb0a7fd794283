"""The table ``batches``: one row a batch, every header field, the CRC stored and computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.kernel import records
from kafkalog_reader.tables.best_replica import chosen_replicas
from kafkalog_reader.tables.constant_columns import ConstantColumns
from kafkalog_reader.tables.damage import Damage
from kafkalog_reader.tables.decompression import codec_names
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.log_unit import LogUnit, log_units
from kafkalog_reader.tables.schemas import BATCHES, TIMESTAMP
from kafkalog_reader.tables.selected_batches import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    scanned_runs,
)
from kafkalog_reader.tables.table import Progress, Table, Unit, no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.batch_scan import BatchRun
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_MAX_SEQUENCE: Final = 2**31 - 1

_COLUMNS: Final[dict[str, Callable[[BatchRun], pa.Array]]] = {
    "position": lambda run: pa.array(run.position),
    "size": lambda run: pa.array(run.size_in_bytes),
    "baseOffset": lambda run: pa.array(run.base_offset),
    "lastOffset": lambda run: pa.array(run.last_offset),
    "count": lambda run: pa.array(run.records_count),
    "baseSequence": lambda run: pa.array(run.base_sequence),
    "lastSequence": lambda run: pa.array(_last_sequence(run)),
    "producerId": lambda run: pa.array(run.producer_id),
    "producerEpoch": lambda run: pa.array(run.producer_epoch),
    "leaderEpoch": lambda run: pa.array(run.leader_epoch),
    "isTransactional": lambda run: _flag(run, TRANSACTIONAL),
    "isControl": lambda run: _flag(run, CONTROL),
    "deleteHorizonMs": lambda run: _delete_horizon(run),
    "timestampType": lambda run: pa.array(
        ((run.attributes & LOG_APPEND_TIME) >> 3).astype(np.int32)
    ),
    "baseTimestamp": lambda run: timestamps(run.base_timestamp),
    "maxTimestamp": lambda run: timestamps(run.max_timestamp),
    "magic": lambda run: pa.array(run.magic),
    "attributes": lambda run: pa.array(run.attributes),
    "codec": lambda run: codec_names(run.attributes & CODEC_MASK),
    "crc": lambda run: pa.array(run.crc),
    "crcComputed": lambda run: pa.array(run.crc_computed),
    "crcValid": lambda run: _packed(run.crc_valid),
}


class BatchesTable(Table):
    """Record batches without their payload: what kafka-dump-log prints of each, and more."""

    name: ClassVar[str] = "batches"
    doc: ClassVar[str] = "record batches: header, position, size, CRC stored and computed"
    columns: ClassVar[tuple[Column, ...]] = BATCHES
    options: ClassVar[frozenset[str]] = frozenset(
        {
            "topic", "partition", "from_offset", "to_offset", "replica", "log_range_only",
            "max_partition_bytes",
        }
    )  # fmt: skip

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[Unit]:
        """Byte ranges of segments, cut at record-batch borders."""
        return iter(log_units(chosen_replicas(evidence, request), request))

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a unit; a wrong CRC is a row, not an error.

        Raises:
            LocatedError: the chain of batches breaks, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        assert isinstance(unit, LogUnit)
        schema = self.projected(request)
        damage = Damage(request.mode)
        for piece in unit.slices:
            constants = ConstantColumns(
                schema,
                {
                    **identity_of(piece.directory),
                    "segmentBaseOffset": piece.segment.base_offset,
                },
            )
            for run in scanned_runs(piece, request, damage, progress):
                if run.count:
                    arrays = [
                        constants.column(name, run.count)
                        if name in constants
                        else _COLUMNS[name](run)
                        for name in schema.names
                    ]
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def timestamps(milliseconds: NDArray[np.int64]) -> pa.TimestampArray:
    """Kafka's milliseconds as UTC microseconds, saturated where those overflow."""
    result = np.empty(len(milliseconds), np.int64)
    records.microseconds(np.ascontiguousarray(milliseconds), result)
    return pa.Array.from_buffers(TIMESTAMP, len(result), [None, pa.py_buffer(result)])


def _last_sequence(run: BatchRun) -> NDArray[np.int32]:
    last = run.base_sequence.astype(np.int64) + run.last_offset_delta
    wrapped: NDArray[Any] = np.where(last > _MAX_SEQUENCE, last - _MAX_SEQUENCE - 1, last)
    return np.where(run.base_sequence < 0, -1, wrapped).astype(np.int32)


def _delete_horizon(run: BatchRun) -> pa.Array:
    without = (run.attributes & DELETE_HORIZON) == 0
    return (
        pa.nulls(run.count, pa.int64())
        if without.all()
        else pa.array(run.base_timestamp, mask=without)
    )


def _flag(run: BatchRun, bit: int) -> pa.BooleanArray:
    return _packed((run.attributes & bit) != 0)


def _packed(flags: NDArray[np.bool_]) -> pa.BooleanArray:
    bits = np.packbits(flags, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, pa.py_buffer(bits)], null_count=0)
