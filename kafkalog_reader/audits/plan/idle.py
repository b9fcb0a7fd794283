"""Partitions that need nothing from a plan except that their brokers start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit


def is_idle(audit: PartitionAudit, found: Iterable[Finding], unit: PartitionUnit) -> bool:
    """Whether every replica is here and equal to the others, and is served whole after a start.

    Then any of them may lead, and no choice has to be kept for the partition.
    """
    others = audit.set_aside or audit.outdated or audit.deleting or audit.misnamed or audit.merge
    missing = unit.lacking or unit.lacking_roots or unit.down or audit.without_copy
    return (
        audit.verdict is Verdict.CONSISTENT
        and not (audit.is_metadata or others or missing)
        and all(
            each.broker_id is not None
            and isinstance(each.start, Recovery)
            and each.start.outcome is StartOutcome.LOADS
            and not each.start.unknown
            for each in audit.replicas
        )
        and not any(each.severity in "CHM" for each in found)
    )
