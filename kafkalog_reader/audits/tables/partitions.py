"""The ``partitions`` table: all replicas of a topic partition, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.partition_unit import PartitionUnit, partition_units
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.open_transactions import replay_transactions
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas.audits import PARTITIONS
from kafkalog_reader.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


class PartitionsTable(Table[PartitionUnit]):
    """One row for each topic partition."""

    name: ClassVar[str] = "partitions"
    doc: ClassVar[str] = "one row per topic partition: offsets, fork and verdict of its replicas"
    columns: ClassVar[tuple[Column, ...]] = PARTITIONS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[PartitionUnit]:
        """One unit for each topic partition with all its replicas."""
        return partition_units(evidence, request)

    def read(
        self, unit: PartitionUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the row of a partition; what cannot be concluded is null."""
        schema = self.projected(request)
        audit = audit_partition(
            unit.directories,
            progress,
            topics=unit.topics,
            membership=unit.membership,
            misnamed=unit.misnamed,
        )
        row = partition_row(audit)
        if "lastStableOffset" in schema.names:
            row["lastStableOffset"] = _last_stable_offset(audit, row, progress)
        yield build_rows(schema, 1, {name: [row[name]] for name in schema.names})


def partition_row(audit: PartitionAudit) -> dict[str, Any]:
    """The row as a dictionary, without the last stable offset, which needs another reading."""
    replicas = audit.replicas
    is_decided = audit.verdict is not Verdict.UNDECIDABLE
    ids = {replica.files.topic_id for replica in replicas} - {None}
    return {
        "clusterId": audit.cluster_id,
        "topic": audit.topic,
        "partition": audit.partition,
        "topicId": ids.pop() if len(ids) == 1 else None,
        "brokers": [replica.broker_id for replica in audit.everyone],
        "replicas": len(audit.everyone),
        "lowWatermark": min(each.log_start for each in replicas),
        "highWatermarkLow": max(each.bounds.known for each in replicas) if is_decided else None,
        "highWatermarkHigh": max(each.bounds.possible for each in replicas) if is_decided else None,
        "lastStableOffset": None,
        "logEndOffset": (max(each.log_end for each in replicas) if is_decided else None),
        "greatestLeaderEpoch": max(
            (epoch for each in replicas for epoch in each.history.leader_epochs), default=None
        ),
        "forkOffset": audit.fork_offset,
        "verdict": audit.verdict.value,
    }


def _last_stable_offset(
    audit: PartitionAudit, row: dict[str, Any], progress: Progress
) -> int | None:
    """The last stable offset of the replica that should lead, up to its greatest high watermark."""
    if not audit.elections:
        return None
    best = audit.of(audit.elections[0].candidate.replica)
    bound = best.bounds
    high_watermark = min(bound.possible, row["highWatermarkHigh"])
    transactions = replay_transactions(
        best.directory,
        decided_from=bound.known,
        log_end=bound.log_end,
        mode=Mode.DROPMALFORMED,
        progress=progress,
    )
    return transactions.last_stable_offset(high_watermark, best.log_start)
