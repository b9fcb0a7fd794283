"""The table ``batches``: one row per batch, every header field, the CRC stored and computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.decode.arrow_arrays import fixed_width, flags, microseconds
from kafkalog_reader.decode.decompression import codec_names
from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    TRANSACTIONAL_BIT,
)
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.constant_columns import ConstantColumns
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.log_unit import LogUnit, log_units
from kafkalog_reader.tables.schemas.records import BATCHES
from kafkalog_reader.tables.selected_batches import SelectedBatches
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_MESSAGE_ATTRIBUTES: Final = 17
"""Position of the attributes in a message."""
_MAX_SEQUENCE: Final = 2**31 - 1

_NUMBERS: Final[dict[str, Callable[[BatchRun], NDArray[Any]]]] = {
    "position": lambda run: run.position,
    "size": lambda run: run.size_in_bytes,
    "baseOffset": lambda run: run.base_offset,
    "lastOffset": lambda run: run.last_offset,
    "count": lambda run: run.records_count,
    "baseSequence": lambda run: run.base_sequence,
    "lastSequence": lambda run: _last_sequence(run),
    "producerId": lambda run: run.producer_id,
    "producerEpoch": lambda run: run.producer_epoch,
    "leaderEpoch": lambda run: run.leader_epoch,
    "timestampType": lambda run: run.timestamp_type,
    "baseTimestamp": lambda run: microseconds(run.base_timestamp),
    "maxTimestamp": lambda run: microseconds(run.max_timestamp),
    "magic": lambda run: run.magic,
    "attributes": lambda run: _stored_attributes(run),
    "crc": lambda run: run.crc,
    "crcComputed": lambda run: run.crc_computed,
}
_FLAGS: Final[dict[str, Callable[[BatchRun], NDArray[np.bool_]]]] = {
    "isTransactional": lambda run: (run.attributes & TRANSACTIONAL_BIT) != 0,
    "isControl": lambda run: (run.attributes & CONTROL_BIT) != 0,
    "crcValid": lambda run: run.crc_valid,
}


class BatchesTable(Table[LogUnit]):
    """Record batches without their payload: what kafka-dump-log prints for each, and more."""

    name: ClassVar[str] = "batches"
    doc: ClassVar[str] = "record batches: header, position, size, CRC stored and computed"
    columns: ClassVar[tuple[Column, ...]] = BATCHES

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[LogUnit]:
        """Byte ranges of segments, cut at record-batch borders."""
        return iter(log_units(chosen_replicas(evidence, request), request))

    def read(
        self, unit: LogUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a unit; a wrong CRC is a row, not an error.

        Raises:
            LocatedError: the chain of batches breaks, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        schema = self.projected(request)
        damage = Damage(request.mode)
        for segment_slice in unit.slices:
            constants = ConstantColumns(
                schema,
                {
                    **identity_of(segment_slice.directory),
                    "segmentBaseOffset": segment_slice.segment.base_offset,
                },
            )
            batches = SelectedBatches(segment_slice, request, damage, progress, sound_only=False)
            for run in batches.runs():
                if run.count:
                    has_messages = bool(run.magic.min() < 2)
                    arrays = [
                        constants.column(name, run.count)
                        if name in constants
                        else _column(run, name, kind, has_messages=has_messages)
                        for name, kind in zip(schema.names, schema.types, strict=True)
                    ]
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(run: BatchRun, name: str, kind: pa.DataType, *, has_messages: bool) -> pa.Array:
    if name in _FLAGS:
        return flags(_FLAGS[name](run))
    if name == "codec":
        return codec_names(run.attributes & CODEC_MASK)
    if name == "deleteHorizonMs":
        without = (run.attributes & DELETE_HORIZON_BIT) == 0
        if without.all():
            return pa.nulls(run.count, kind)
        return fixed_width(run.base_timestamp, kind, null=without)
    null = None
    if has_messages:
        if name == "baseTimestamp":  # a field of magic 2
            null = run.magic < 2
        elif name in ("baseOffset", "count"):  # known once it is decompressed
            null = run.is_wrapper
    return fixed_width(_NUMBERS[name](run), kind, null=null)


def _stored_attributes(run: BatchRun) -> NDArray[np.int16]:
    messages = np.flatnonzero(run.magic < 2)
    if not len(messages):
        return run.attributes
    attributes = run.attributes.copy()
    window = np.frombuffer(run.buffer, np.int8)
    attributes[messages] = window[
        run.position[messages] - run.window_position + _MESSAGE_ATTRIBUTES
    ]
    return attributes


def _last_sequence(run: BatchRun) -> NDArray[np.int32]:
    if run.base_sequence.max() < 0:
        return np.full(run.count, -1, np.int32)
    last = run.base_sequence.astype(np.int64) + run.last_offset_delta
    wrapped: NDArray[Any] = np.where(last > _MAX_SEQUENCE, last - _MAX_SEQUENCE - 1, last)
    return np.where(run.base_sequence < 0, -1, wrapped).astype(np.int32)
