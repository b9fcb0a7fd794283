"""The ``group_elections`` table: where each consumer group goes on under each candidate leader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.audits.partition.committed_offsets import with_commits
from kafkalog_reader.audits.partition.group_outcomes import GroupEnding, group_outcomes
from kafkalog_reader.audits.partition.partition_unit import PartitionUnit, partition_units
from kafkalog_reader.audits.partition.unit_audit import audit_compared
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.audits import GROUP_ELECTIONS
from kafkalog_reader.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.audits.partition.group_outcomes import GroupOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_ERRORS: Final = {
    GroupEnding.TRUNCATION_DETECTED: "LogTruncationException",
    GroupEnding.RESET: "OffsetOutOfRangeException",
}


class GroupElectionsTable(Table[PartitionUnit]):
    """One row for each candidate of a partition and each group with a commit there."""

    name: ClassVar[str] = "group_elections"
    doc: ClassVar[str] = "one row per candidate leader and group: what the group rereads or skips"
    columns: ClassVar[tuple[Column, ...]] = GROUP_ELECTIONS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[PartitionUnit]:
        """One unit for each topic partition of which a group has committed an offset."""
        units = with_commits(partition_units(evidence, request), evidence)
        return (unit for unit in units if unit.commits)

    def read(
        self, unit: PartitionUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a unit; none if the verdict is undecidable."""
        audit = audit_compared(unit, request, progress)
        yield build_from_dicts(self.projected(request), list(_rows(audit)))


def _rows(audit: PartitionAudit) -> Iterator[dict[str, Any]]:
    for election in audit.elections:
        of_candidate = {
            "clusterId": audit.cluster_id,
            "topic": audit.topic,
            "partition": audit.partition,
            "candidateBrokerId": election.candidate.broker_id,
            "candidate": election.candidate.name,
            "rank": election.rank,
        }
        for outcome in group_outcomes(audit, election):
            yield of_candidate | group_columns(outcome)


def group_columns(outcome: GroupOutcome) -> dict[str, Any]:
    """The columns of one group."""
    commit, earliest, latest = outcome.commit, outcome.earliest, outcome.latest
    return {
        "groupId": commit.group,
        "committedOffset": commit.offset,
        "committedLeaderEpoch": commit.leader_epoch,
        "outcome": outcome.ending.value,
        "safeOffset": outcome.safe_offset,
        "nextOffsetIfEarliest": earliest.next_offset,
        "recordsRereadIfEarliest": earliest.records_reread,
        "recordsSkippedIfEarliest": earliest.records_skipped,
        "nextOffsetIfLatest": latest.next_offset,
        "recordsRereadIfLatest": latest.records_reread,
        "recordsSkippedIfLatest": latest.records_skipped,
        "errorIfNone": _ERRORS.get(outcome.ending),
    }
