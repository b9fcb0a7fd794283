"""The ``recoveries`` table: what the next start of each broker does to its replicas."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.recovery.names import is_of_broker
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.start import broker_key, predict_start, why_no_start
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.identity import identity_of, identity_of_log_directory
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas.audits import RECOVERIES
from kafkalog_reader.tables.table import Column, Table, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.recovery.recovery import Recovery
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerUnit(Unit):
    """The replicas of one broker: each of them can prevent its start, and so affect all others.

    Attributes:
        others: directories that wait for deletion, move to another disk or were set aside: they are
            loaded, too.
        roots: log directories of the broker that were given whole.
        peers: replicas on other brokers, for topic ids if no cluster metadata has them.
        topics: those of the cluster; None if no copy of its metadata log was supplied.
    """

    directories: tuple[PartitionDirectory, ...]
    others: tuple[PartitionDirectory, ...]
    roots: tuple[LogDirectory, ...]
    peers: tuple[tuple[PartitionDirectory, ...], ...]
    topics: ClusterTopics | None


class RecoveriesTable(Table[BrokerUnit]):
    """One row for each replica, and for each broker without one that does not start."""

    name: ClassVar[str] = "recoveries"
    doc: ClassVar[str] = "one row per replica: what the next start of its broker does to it"
    columns: ClassVar[tuple[Column, ...]] = RECOVERIES

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[BrokerUnit]:
        """One unit for each broker; the metadata log is read here, because every broker needs it.

        The metadata log itself has no row: the quorum recovers it by other rules.
        """
        by_broker: dict[tuple[str, ...], list[PartitionDirectory]] = defaultdict(list)
        replicas: dict[PartitionDirectory, tuple[PartitionDirectory, ...]] = {}
        for identity, directories in evidence.topic_partitions(request):
            if identity[1] != METADATA_TOPIC:
                for directory in directories:
                    by_broker[broker_key(directory.log_directory)].append(directory)
                    replicas[directory] = directories
        others: dict[tuple[str, ...], list[PartitionDirectory]] = defaultdict(list)
        for directory in evidence.partition_directories(request):
            if not directory.is_replica and directory.topic != METADATA_TOPIC:
                others[broker_key(directory.log_directory)].append(directory)
        clusters = cluster_metadata(evidence) if by_broker else {}
        if request.selects(None, None):
            yield from _without_replicas(evidence, request, by_broker, clusters)
        for broker, inside in by_broker.items():
            known = clusters.get(inside[0].log_directory.cluster_id)
            peers = (tuple(p for p in replicas[d] if p is not d) for d in inside)
            yield BrokerUnit(
                size_in_bytes=0,
                directories=tuple(inside),
                others=tuple(others[broker]),
                roots=_roots_of(inside, evidence),
                peers=tuple(peers) if known is None else (),
                topics=None
                if known is None
                else known.topics().only({each.topic or "" for each in (*inside, *others[broker])}),
            )

    def read(
        self, unit: BrokerUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one broker.

        Raises:
            LocatedError: a file cannot be read, in mode FAILFAST; otherwise the replica's row has
                no outcome and a reason, and the others are reported without it.
        """
        schema = self.projected(request)
        if not unit.directories:
            rows = list(_brokers_that_fail(unit))
            yield build_rows(schema, len(rows), {n: [r.get(n) for r in rows] for n in schema.names})
            return
        peers = dict(zip(unit.directories, unit.peers, strict=False))

        def predicted(
            directories: Sequence[PartitionDirectory],
            others: Sequence[PartitionDirectory] = (),
        ) -> tuple[Recovery, ...]:
            return predict_start(
                directories,
                unit.topics,
                others=others,
                roots=unit.roots,
                started_at=request.started_at,
                peers=lambda directory: peers.get(directory, ()),
                progress=progress,
            )

        refused: dict[PartitionDirectory, LocatedError] = {}
        try:
            recoveries = predicted(unit.directories, unit.others)
        except LocatedError:
            damage = Damage(request.mode)
            for directory in (*unit.directories, *unit.others):
                try:
                    predicted((directory,))
                except LocatedError as error:
                    damage.left_out(error)
                    refused[directory] = error
            recoveries = predicted(
                [each for each in unit.directories if each not in refused],
                [each for each in unit.others if each not in refused],
            )
        reported = {recovery.directory: recovery_row(recovery) for recovery in recoveries}
        nothing = dict.fromkeys(schema.names)
        for directory in unit.directories:
            if (why := refused.get(directory)) is None:
                continue
            reason = f"the start cannot be predicted: {why}"
            reported[directory] = nothing | identity_of(directory) | {"reason": reason}
        rows = [reported[directory] for directory in unit.directories]
        values = {name: [row[name] for row in rows] for name in schema.names}
        yield build_rows(schema, len(rows), values)


def _without_replicas(
    evidence: Evidence,
    request: ReadRequest,
    by_broker: Mapping[tuple[str, ...], object],
    clusters: Mapping[str | None, ClusterMetadata],
) -> Iterator[BrokerUnit]:
    """The brokers that were supplied without a single live replica."""
    roots: dict[tuple[str, ...], list[LogDirectory]] = defaultdict(list)
    for root in evidence.roots:
        is_selected = request.brokers is None or root.broker_id in request.brokers
        if is_selected and broker_key(root) not in by_broker and is_of_broker(root):
            roots[broker_key(root)].append(root)
    for own in roots.values():
        known = clusters.get(own[0].cluster_id)
        yield BrokerUnit(
            size_in_bytes=0,
            directories=(),
            others=(),
            roots=tuple(own),
            peers=(),
            topics=None if known is None else known.topics().only(()),
        )


def _brokers_that_fail(unit: BrokerUnit) -> Iterator[dict[str, Any]]:
    """A row without a partition, if the broker does not start."""
    if why := why_no_start(unit.roots, unit.topics):
        outcome = {"outcome": StartOutcome.BROKER_ABORTS.value, "reason": why}
        yield dict(identity_of_log_directory(unit.roots[0])) | outcome


def _roots_of(
    directories: Sequence[PartitionDirectory], evidence: Evidence
) -> tuple[LogDirectory, ...]:
    """The log directories that start together with those of some replicas."""
    paths = {path for each in directories for path in each.log_directory.siblings}
    paths |= {each.log_directory.path for each in directories}
    return tuple(root for root in evidence.roots if root.path in paths)


def recovery_row(recovery: Recovery) -> dict[str, Any]:
    """The row as a dictionary."""
    return identity_of(recovery.directory) | {
        "outcome": recovery.outcome.value,
        "soundEndOffset": recovery.sound_end_offset,
        "logEndOffsetAfterStart": recovery.log_end_offset_after_start,
        "segmentsRead": list(recovery.segments_read),
        "recordsCut": recovery.records_cut,
        "maxCutInDamagedBatches": recovery.max_cut_in_damaged_batches,
        "maxCutInTornBatch": recovery.max_cut_in_torn_batch,
        "bytesCut": recovery.bytes_cut,
        "reason": recovery.reason or None,
    }
