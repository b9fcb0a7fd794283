"""The audit of one unit of work, as a request asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.truncation_rule import rule_named
from kafkalog_reader.audits.integrity.file_checks import FileChecks
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.being_deleted import newer_deleted_folders
from kafkalog_reader.io.progress import Progress, no_progress

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.tables.request import ReadRequest


def audit_unit(
    unit: PartitionUnit,
    request: ReadRequest,
    progress: Progress = no_progress,
    *,
    quick: bool = False,
) -> PartitionAudit:
    """Audit the copies of one partition, their other files too.

    Args:
        unit: the copies, and what the metadata log says of the partition.
        request: the truncation rule, and when brokers start.
        progress: receives the number of bytes read.
        quick: compare epochs, ends and tails only, and no other files.
    """
    checks = FileChecks.asked(request, unit.directories[0].topic, unit.topics)
    audit = audit_partition(
        unit.directories,
        progress,
        check_files=not quick,
        checks=checks,
        topics=unit.topics,
        membership=unit.membership,
        rule=rule_named(request.rule),
        quick=quick,
        started_at=request.started_at,
        misnamed=unit.misnamed,
        moments=unit.moments,
    )
    lacking = tuple(sorted({*unit.lacking, *audit.to_copy_again}))
    audit = replace(audit, lacking=lacking, replaced=unit.replaced, commits=unit.commits)
    if not unit.supply.deleting or checks.has_time_range:
        return audit
    deleting = newer_deleted_folders(audit, unit.supply.deleting)
    return replace(audit, deleting=deleting, elections=()) if deleting else audit


def audit_compared(
    unit: PartitionUnit, request: ReadRequest, progress: Progress = no_progress
) -> PartitionAudit:
    """Audit what the copies of one partition hold, and no other files."""
    audit = audit_partition(
        unit.directories,
        progress,
        topics=unit.topics,
        membership=unit.membership,
        rule=rule_named(request.rule),
        started_at=request.started_at,
        misnamed=unit.misnamed,
        moments=unit.moments,
    )
    return replace(audit, commits=unit.commits)
