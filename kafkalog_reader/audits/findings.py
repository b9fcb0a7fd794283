"""The ``findings`` table: what is wrong, one row a finding, worst first within a partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from kafkalog_reader.audits.finding import Finding, finding
from kafkalog_reader.audits.partition_audit import PartitionAudit, audit_partition
from kafkalog_reader.audits.partition_unit import PartitionUnit, partition_units
from kafkalog_reader.audits.replica_findings import replica_findings
from kafkalog_reader.audits.segment_findings import segment_findings
from kafkalog_reader.audits.verdict import Verdict
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas import FINDINGS
from kafkalog_reader.tables.table import Column, Progress, Table, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Unit


class FindingsTable(Table):
    """One row is one finding."""

    name: ClassVar[str] = "findings"
    doc: ClassVar[str] = "one row a finding: what is wrong, where, how sure, what to do"
    columns: ClassVar[tuple[Column, ...]] = FINDINGS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[PartitionUnit]:
        """One topic partition with all its replicas."""
        return partition_units(evidence, request)

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the findings of one partition; damage is a row here in every mode."""
        schema = self.projected(request)
        directories = cast("PartitionUnit", unit).directories
        audit = audit_partition(directories, progress)
        rows = [finding_row(audit, each) for each in findings_of(audit)]
        yield build_rows(
            schema, len(rows), {name: [row[name] for row in rows] for name in schema.names}
        )


def findings_of(audit: PartitionAudit) -> tuple[Finding, ...]:
    """All findings of a partition, worst first."""
    found = [*segment_findings(audit), *replica_findings(audit), *_recoverability(audit)]
    return tuple(sorted(found, key=lambda each: each.order))


def _recoverability(audit: PartitionAudit) -> Iterator[Finding]:
    if audit.verdict is Verdict.DAMAGED_RECOVERABLE:
        yield finding("KL-904", "every damaged or missing record has an intact copy")
    if audit.verdict is Verdict.DAMAGED_UNRECOVERABLE:
        yield finding("KL-905", "of some damaged bytes no supplied replica has an intact copy")


def finding_row(audit: PartitionAudit, each: Finding) -> dict[str, Any]:
    """A finding as the table shows it, by column name."""
    if each.directory is not None:
        scope: dict[str, Any] = dict(identity_of(each.directory))
    else:
        scope = {
            "clusterId": audit.cluster_id,
            "brokerId": None,
            "brokerLabel": None,
            "logDirectory": None,
            "topic": audit.topic,
            "partition": audit.partition,
        }
    ids = sorted({replica.topic_id for replica in audit.replicas} - {None}, key=str)
    return scope | {
        "code": each.code,
        "name": each.name,
        "severity": each.severity,
        "confidence": each.confidence,
        "topicId": ids[0] if len(ids) == 1 else None,
        "file": each.file,
        "position": each.position,
        "sizeInBytes": each.size_in_bytes,
        "firstOffset": each.first_offset,
        "nextOffset": each.next_offset,
        "evidence": [{"name": name, "value": value} for name, value in each.evidence],
        "innocent": list(each.innocent),
        "recordsAtRisk": each.records_at_risk,
        "bytesAtRisk": each.bytes_at_risk,
        "committed": each.committed,
        "action": list(each.actions),
        "causedBy": each.caused_by,
        "message": each.message,
    }
