"""The ``open_transactions`` table: what keeps read_committed consumers waiting, and who may end it.

A transaction is open in a log until a marker of its producer follows. Its coordinator writes the
marker as long as it has the partition in the transaction; otherwise nobody does. Source: Kafka 4.4,
ProducerStateManager, TransactionStateManager; KIP-664 on hanging transactions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.compaction import CLEANER_CHECKPOINT
from kafkalog_reader.io.names import TRANSACTION_STATE_TOPIC
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.scan.log_tail import end_after_damage, last_timestamp, scan_tail
from kafkalog_reader.tables.best_replica import compared_copies
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.current_topics import CurrentTopics
from kafkalog_reader.tables.directory_unit import DirectoryUnit
from kafkalog_reader.tables.internal_topic import log_request, plain_rows
from kafkalog_reader.tables.lacking import warn_of_lacking
from kafkalog_reader.tables.open_transactions import position_before, replay_transactions
from kafkalog_reader.tables.replicas import ReplicasTable
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.rows import build_from_dicts, microseconds_of
from kafkalog_reader.tables.schemas.transactions import OPEN_TRANSACTIONS
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import whole_segments
from kafkalog_reader.tables.table import Table, Unit
from kafkalog_reader.tables.transaction_status import (
    DAMAGED_COORDINATOR,
    DAMAGED_LOG,
    HANGING,
    MAYBE_HANGING,
    NO_COORDINATOR,
    ONGOING,
    WITHOUT_TRANSACTIONS,
    longest_ms,
)
from kafkalog_reader.tables.transactions import TransactionsTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.table import Column
    from kafkalog_reader.tables.transaction_decisions import Decided

Row = dict[str, Any]
_ProducerKey = tuple[str | None, int]
"""Cluster id and producer id."""
_PartitionKey = tuple[str | None, int]
"""Cluster id and partition of ``__transaction_state``."""

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
    expected: ExpectedEnds = field(default_factory=ExpectedEnds)
    """Where logs must reach."""
    hidden: HiddenRecords = field(default_factory=HiddenRecords)
    """What cannot be read of all states."""

    @cached_property
    def _read(self) -> tuple[Mapping[_ProducerKey, Row], Mapping[_PartitionKey, LocatedError]]:
        """The states by producer, and the damage by partition."""
        table = TransactionsTable()
        states: dict[_ProducerKey, Row] = {}
        damaged: dict[_PartitionKey, LocatedError] = {}
        for unit in table.units(self.evidence, ReadRequest(mode=Mode.PERMISSIVE)):
            try:
                rows = _states_in(table, unit, Mode.FAILFAST)
            except LocatedError as error:
                directory = unit.slices[0].directory
                damaged[directory.log_directory.cluster_id, directory.partition or 0] = error
                rows = _states_in(table, unit, Mode.PERMISSIVE, self.hidden)
            for row in rows:
                if row["producerId"] is not None:
                    states[row["clusterId"], row["producerId"]] = row
        return states, self._cut_short() | damaged

    def _cut_short(self) -> dict[_PartitionKey, LocatedError]:
        """The partitions whose best copy ends before what its checkpoints say was in it."""
        found: dict[_PartitionKey, LocatedError] = {}
        log = log_request(ReadRequest(mode=Mode.PERMISSIVE), TRANSACTION_STATE_TOPIC)
        for directory in chosen_replicas(self.evidence, log, self.expected):
            reached = end_after_damage(directory, scan_tail(directory)).next_offset
            error = self.expected.missing_at_end(directory, reached)
            if error is not None:
                found[directory.log_directory.cluster_id, directory.partition or 0] = error
                end = self.expected.of_log(directory)
                self.hidden.add(error, None if end is None else end.next_offset, is_missing=True)
        return found

    def of(self, cluster_id: str | None, producer_id: int) -> Row | None:
        """The newest readable state of a producer's transactional id; None if there is none.

        Raises:
            UnreadableFileError: a file cannot be opened or read.
        """
        return self._read[0].get((cluster_id, producer_id))

    @cached_property
    def decisions(self) -> Mapping[Identity, Sequence[Decided]]:
        """See ``decisions_by_partition``.

        Raises:
            UnreadableFileError: a file cannot be opened or read.
        """
        from kafkalog_reader.tables.transaction_decisions import decisions_by_partition

        return decisions_by_partition(self.evidence)

    def damage(self, cluster_id: str | None, partition: int | None) -> LocatedError | None:
        """Damage or loss in ``__transaction_state`` that may hide a newer state; None without.

        Args:
            cluster_id: of the cluster.
            partition: None for any.
        """
        for (cluster, number), error in self._read[1].items():
            if cluster == cluster_id and partition in (None, number):
                return error
        return None


def _states_in(
    table: TransactionsTable,
    unit: InternalTopicUnit,
    mode: Mode,
    hidden: HiddenRecords | None = None,
) -> list[Row]:
    request = ReadRequest(mode=mode, hidden=hidden)
    return [row for rows in table.read(unit, request) for row in plain_rows(rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransactionsUnit(Unit):
    """All copies of one partition, and the coordinators of the cluster."""

    replicas: tuple[PartitionDirectory, ...]
    coordinators: Coordinators


class OpenTransactionsTable(Table[OpenTransactionsUnit]):
    """One row for each transaction that is open at the end of a partition's best copy."""

    name: ClassVar[str] = "open_transactions"
    doc: ClassVar[str] = "one row per open transaction: since when, who may end it, what it blocks"
    columns: ClassVar[tuple[Column, ...]] = OPEN_TRANSACTIONS

    def logs_shown(self, request: ReadRequest) -> Sequence[ReadRequest]:
        """Those that are selected, and the coordinators'."""
        return request, log_request(request, TRANSACTION_STATE_TOPIC)

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[OpenTransactionsUnit]:
        """One unit for each partition."""
        coordinators = Coordinators(evidence=evidence)
        topics = CurrentTopics(evidence=evidence)
        for (_cluster, topic, _partition), replicas in evidence.topic_partitions(request):
            if topic is not None:
                yield OpenTransactionsUnit(
                    size_in_bytes=0,
                    replicas=tuple(topics.copies(replicas)),
                    coordinators=coordinators,
                )

    def read(
        self, unit: OpenTransactionsUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the open transactions of a partition, by first offset.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            MissingRecordsError: the log ends below a high watermark, in that mode.
            UnreadableFileError: a file cannot be opened or read.
        """
        damage, expected = request.damage, unit.coordinators.expected
        rows: list[dict[str, Any]] = []
        for replica in unit.replicas:
            expected.prepare(replica.log_directory)
        found = compared_copies(unit.replicas, damage)
        if found is not None:
            best = found.best
            expected.compare(best, found.copies)
            error = expected.missing_at_end(best, found.end)
            if error is not None:
                end = expected.of_log(best)
                damage.missing(error, None if end is None else end.next_offset)
            try:
                with one_look([best]) as (looked_at,):
                    rows = open_rows(looked_at, unit.coordinators, request, progress)
            except LocatedError as error:
                damage.left_out(error)
            if rows:
                warn_of_lacking(best, found.lacking)
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
    tail = scan_tail(directory)
    end = end_after_damage(directory, tail).next_offset
    replayed = replay_transactions(
        directory, decided_from=end, log_end=end, mode=request.mode, progress=progress,
        hidden=request.hidden,
    )  # fmt: skip
    is_hidden = (
        not replayed.is_known and directory.topic != TRANSACTION_STATE_TOPIC
    )  # nobody's transaction
    if not replayed.open and not is_hidden:
        return []
    asked = ReadRequest(columns=_OF_LOG, mode=request.mode)
    unit = DirectoryUnit(size_in_bytes=0, directories=(directory,))
    ((log,),) = (rows.to_pylist() for rows in ReplicasTable().read(unit, asked))
    root = directory.log_directory
    identity = {
        "clusterId": root.cluster_id,
        "topic": directory.topic,
        "partition": directory.partition,
        "brokerId": root.broker_id,
        **log,
    }
    rows = [
        {
            **identity,
            "producerId": producer_id,
            "firstOffset": first_offset,
            "holdsLastStableOffset": first_offset == log["lastStableOffset"],
            **_first_batch(directory, producer_id, first_offset, request, progress),
            **_coordinated(directory, coordinators, producer_id, request),
        }
        for producer_id, first_offset in sorted(replayed.open.items(), key=lambda item: item[1])
    ]
    if any(row["status"] == HANGING for row in rows):
        newest, cleaned = last_timestamp(directory, tail) or 0, _cleaned_up_to(directory)
        for row in rows:
            if row["status"] == HANGING and not _hangs(row, newest, cleaned):
                row["status"] = MAYBE_HANGING
    if is_hidden:
        rows.append({**identity, "status": DAMAGED_LOG})
    return rows


def _hangs(row: Mapping[str, Any], newest: int, cleaned: int) -> bool:
    """Whether one that its coordinator does not have is open for longer than any may be.

    Args:
        row: of the transaction.
        newest: timestamp of the last batch, in milliseconds.
        cleaned: markers below this offset may be compacted away; it never passes the LSO.
    """
    first = row.get("firstTimestamp")
    if first is None or row["topic"] in WITHOUT_TRANSACTIONS or row["firstOffset"] < cleaned:
        return False
    return bool(newest - first // 1000 > longest_ms(row.get("timeoutMs")))


def _cleaned_up_to(directory: PartitionDirectory) -> int:
    row = (directory.topic or "", -1 if directory.partition is None else directory.partition)
    try:
        return checkpointed_offsets(directory.log_directory, CLEANER_CHECKPOINT).get(row, 0)
    except LocatedError:  # `kafkalog verify` reports it
        return 0


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
    directory: PartitionDirectory,
    coordinators: Coordinators,
    producer_id: int,
    request: ReadRequest,
) -> dict[str, Any]:
    """What the coordinator has, and whether it will write a marker to this partition."""
    cluster_id = directory.log_directory.cluster_id
    coordinator = coordinators.of(cluster_id, producer_id)
    known: dict[str, Any] = {}
    if coordinator is not None:
        known = {name: coordinator[name] for name in _OF_COORDINATOR}
        known["coordinatorEpoch"] = coordinator["producerEpoch"]
    if request.hidden is not None:
        request.hidden.update(coordinators.hidden)
    error = coordinators.damage(cluster_id, known.get("statePartition"))
    if error is not None:
        if request.mode is Mode.FAILFAST:
            raise error
        return {**known, "status": DAMAGED_COORDINATOR}
    if coordinator is None:
        return {"status": NO_COORDINATOR}
    place = f"{directory.topic}-{directory.partition}"
    is_coordinated = coordinator["state"] in _UNDECIDED and place in coordinator["partitions"]
    return {**known, "status": ONGOING if is_coordinated else HANGING}
