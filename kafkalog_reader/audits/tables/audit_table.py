"""The base of tables of compared partitions: one audit for each partition, many rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from kafkalog_reader.audits.partition.partition_unit import PartitionUnit, partition_units
from kafkalog_reader.audits.partition.unit_audit import audit_compared
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


class AuditTable(Table[PartitionUnit]):
    """A table whose unit is a topic partition with all its replicas."""

    @abstractmethod
    def rows_of(self, audit: PartitionAudit) -> list[dict[str, Any]]:
        """The rows of one partition as dictionaries, in the order shown."""

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[PartitionUnit]:
        """One unit for each topic partition with all its replicas."""
        return partition_units(evidence, request)

    def read(
        self, unit: PartitionUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a unit."""
        schema = self.projected(request)
        audit = audit_compared(unit, request, progress)
        yield build_from_dicts(schema, self.rows_of(audit))
