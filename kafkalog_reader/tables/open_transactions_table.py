"""The ``open_transactions`` table: what keeps read_committed consumers waiting, and who may end it.

A transaction is open in a log until a marker of its producer follows. Its coordinator writes the
marker as long as it has the partition in the transaction; otherwise nobody does. Source: Kafka 4.4,
ProducerStateManager, TransactionStateManager; KIP-664 on hanging transactions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.best_replica import best_and_lacking, warn_of_lacking
from kafkalog_reader.tables.directory_unit import DirectoryUnit
from kafkalog_reader.tables.internal_topic import plain_rows
from kafkalog_reader.tables.open_transactions import position_before, replay_transactions
from kafkalog_reader.tables.replicas import ReplicasTable
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.rows import build_from_dicts, microseconds_of
from kafkalog_reader.tables.schemas.transactions import OPEN_TRANSACTIONS
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import whole_segments
from kafkalog_reader.tables.table import Table, Unit
from kafkalog_reader.tables.transactions import TransactionsTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory
    from kafkalog_reader.tables.table import Column

_UNDECIDED: Final = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"})
"""States in which the coordinator still writes markers."""
_NO_TIME: Final = -1
_OF_LOG: Final = ("lastStableOffset", "logEndOffset")
_OF_COORDINATOR: Final = (
    "transactionalId", "state", "startTime", "timeoutMs", "statePartition", "recordOffset",
)  # fmt: skip


@dataclass(kw_only=True)
class Coordinators:
    """What ``__transaction_state`` has; read when a transaction is open, once in a process."""

    evidence: Evidence

    @cached_property
    def _states(self) -> Mapping[tuple[str | None, int], dict[str, Any]]:
        table, request = TransactionsTable(), ReadRequest()
        return {
            (row["clusterId"], row["producerId"]): row
            for unit in table.units(self.evidence, request)
            for rows in table.read(unit, request)
            for row in plain_rows(rows)
            if row["producerId"] is not None
        }

    def of(self, cluster_id: str | None, producer_id: int) -> dict[str, Any] | None:
        """The newest state of a producer's transactional id; None if none was supplied.

        Raises:
            LocatedError: damage.
            UnreadableFileError: a file cannot be opened or read.
        """
        return self._states.get((cluster_id, producer_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransactionsUnit(Unit):
    """All copies of one partition, and the coordinators of the cluster."""

    replicas: tuple[PartitionDirectory, ...]
    coordinators: Coordinators


class OpenTransactionsTable(Table[OpenTransactionsUnit]):
    """One row for each transaction that is open at the end of a partition's best copy."""

    name: ClassVar[str] = "open_transactions"
    doc: ClassVar[str] = "one row per open transaction: since when, who may end it, what it holds"
    columns: ClassVar[tuple[Column, ...]] = OPEN_TRANSACTIONS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[OpenTransactionsUnit]:
        """One unit for each partition."""
        coordinators = Coordinators(evidence=evidence)
        for (_cluster, topic, _partition), replicas in evidence.topic_partitions(request):
            if topic is not None:
                yield OpenTransactionsUnit(
                    size_in_bytes=0, replicas=replicas, coordinators=coordinators
                )

    def read(
        self, unit: OpenTransactionsUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the open transactions of a partition, by first offset.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        damage = Damage(request.mode)
        rows: list[dict[str, Any]] = []
        best, lacking = best_and_lacking(unit.replicas, damage)
        if best is not None:
            try:
                with one_look([best]) as (looked_at,):
                    rows = open_rows(looked_at, unit.coordinators, request, progress)
            except LocatedError as error:
                damage.left_out(error)
            if rows:
                warn_of_lacking(best, lacking)
        yield build_from_dicts(self.projected(request), rows)


def open_rows(
    directory: PartitionDirectory,
    coordinators: Coordinators,
    request: ReadRequest,
    progress: Progress,
) -> list[dict[str, Any]]:
    """The rows of one copy.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``.
        UnreadableFileError: a file cannot be opened or read.
    """
    end = scan_tail(directory).next_offset
    replayed = replay_transactions(
        directory, decided_from=end, log_end=end, mode=request.mode, progress=progress
    )
    if not replayed.open:
        return []
    asked = ReadRequest(columns=_OF_LOG, mode=request.mode)
    unit = DirectoryUnit(size_in_bytes=0, directories=(directory,))
    ((log,),) = (rows.to_pylist() for rows in ReplicasTable().read(unit, asked))
    root = directory.log_directory
    return [
        {
            "clusterId": root.cluster_id,
            "topic": directory.topic,
            "partition": directory.partition,
            "producerId": producer_id,
            "firstOffset": first_offset,
            "brokerId": root.broker_id,
            "holdsLastStableOffset": first_offset == log["lastStableOffset"],
            **log,
            **_first_batch(directory, producer_id, first_offset, request, progress),
            **_coordinated(directory, coordinators.of(root.cluster_id, producer_id)),
        }
        for producer_id, first_offset in sorted(replayed.open.items(), key=lambda item: item[1])
    ]


def _first_batch(
    directory: PartitionDirectory,
    producer_id: int,
    offset: int,
    request: ReadRequest,
    progress: Progress,
) -> dict[str, Any]:
    """Producer epoch and time of the first batch; nothing if it is gone, as after compaction."""
    slices = whole_segments(directory, live_only=True)
    holding = [each for each in slices if each.segment.base_offset <= offset]
    for segment_slice in holding[-1:]:
        start = position_before(segment_slice, offset)
        scan = SegmentBatches(
            segment_slice, request.mode, progress, check_crc=False, start=start, is_end_known=True
        )
        for run in scan:
            found = np.flatnonzero(run.last_offset >= offset)
            if len(found):
                row = found[0]
                if run.base_offset[row] != offset or run.producer_id[row] != producer_id:
                    return {}
                time = int(run.max_timestamp[row])
                return {
                    "producerEpoch": int(run.producer_epoch[row]),
                    "firstTimestamp": None if time == _NO_TIME else microseconds_of(time),
                }
    return {}


def _coordinated(
    directory: PartitionDirectory, coordinator: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What the coordinator has, and whether it will write a marker to this partition."""
    if coordinator is None:
        return {"status": "no-coordinator"}
    place = f"{directory.topic}-{directory.partition}"
    is_coordinated = coordinator["state"] in _UNDECIDED and place in coordinator["partitions"]
    return {
        **{name: coordinator[name] for name in _OF_COORDINATOR},
        "coordinatorEpoch": coordinator["producerEpoch"],
        "status": "ongoing" if is_coordinated else "hanging",
    }
