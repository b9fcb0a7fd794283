"""The ``producers`` table: one row per producer in a producer snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from kafkalog_reader.errors import LocatedError, LogPosition
from kafkalog_reader.format.index_entries import PRODUCER_ENTRY
from kafkalog_reader.format.producer_snapshot import HEADER_SIZE, check_producer_snapshot
from kafkalog_reader.io.checkpoints import producer_snapshot_path, read_producer_snapshot
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.directory_unit import DirectoryUnit, directory_units
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.rows import build_rows, microseconds
from kafkalog_reader.tables.schemas.logs import PRODUCERS
from kafkalog_reader.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


class ProducersTable(Table[DirectoryUnit]):
    """One row is one producer in one snapshot."""

    name: ClassVar[str] = "producers"
    doc: ClassVar[str] = "one row per producer in a producer snapshot"
    columns: ClassVar[tuple[Column, ...]] = PRODUCERS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[DirectoryUnit]:
        """Replicas of one log directory."""
        return directory_units(evidence, request, replicas_only=True)

    def read(
        self, unit: DirectoryUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the producers, snapshot after snapshot, in the order of the file."""
        schema = self.projected(request)
        for directory in unit.directories:
            try:
                offsets = producer_snapshot_offsets(directory)
            except LocatedError as error:
                Damage(request.mode).left_out(error)
                continue
            for offset in offsets:
                try:
                    producers = read_producers(directory, offset)
                except LocatedError as error:
                    Damage(request.mode).left_out(error)
                    continue
                if producers is None:
                    continue
                progress(producers.nbytes)
                values = identity_of(directory) | _columns(offset, producers)
                yield build_rows(schema, len(producers), values)


def read_producers(directory: PartitionDirectory, offset: int) -> NDArray[Any] | None:
    """The entries of the snapshot taken before ``offset``; None if a broker has just deleted it.

    Raises:
        CorruptCheckpointError: cut short or a wrong CRC; a broker drops it and takes an older one.
        UnsupportedFormatError: a newer version.
        UnreadableFileError: the file cannot be read.
    """
    content = read_producer_snapshot(directory.path, offset, context=directory.context)
    if content is None:
        return None
    path = producer_snapshot_path(directory.path, offset)
    count = check_producer_snapshot(content, LogPosition(shown(path)))
    return np.frombuffer(content, PRODUCER_ENTRY.dtype, count, HEADER_SIZE)


def _columns(offset: int, producers: NDArray[Any]) -> dict[str, object]:
    first_offset = producers["current_transaction_first_offset"].astype(np.int64)
    return {
        "snapshotOffset": offset,
        "producerId": producers["producer_id"].astype(np.int64),
        "producerEpoch": producers["producer_epoch"].astype(np.int16),
        "lastSequence": producers["last_sequence"].astype(np.int32),
        "lastOffset": producers["last_offset"].astype(np.int64),
        "offsetDelta": producers["offset_delta"].astype(np.int32),
        "timestamp": microseconds(producers["timestamp"].astype(np.int64)),
        "coordinatorEpoch": producers["coordinator_epoch"].astype(np.int32),
        "currentTransactionFirstOffset": pa.array(first_offset, mask=first_offset < 0),
    }
