"""One unit of ``kafkalog verify``: the findings of a partition or log directory, and totals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.catalogue.replica_rules import LAGGING_REPLICA
from kafkalog_reader.audits.partition.quorum_findings import controllers_of
from kafkalog_reader.audits.recovery.names import is_of_broker
from kafkalog_reader.audits.tables.findings import audited, finding_row
from kafkalog_reader.audits.tables.root_units import RootUnit
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit

_SEVERAL: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found, and how much was read.

    Attributes:
        findings: the findings with their rows of the table ``findings``.
        replicas: number of replicas; 0 for a log directory.
        undecided: partitions whose copies could not be compared, each with the reason.
        is_quorum_uneven: it is the metadata log, whose copies part or end differently.
        is_without_controllers: it is the metadata log of several brokers and of no controller.
        audits: the partitions of ``unit`` with their findings, for a plan; none of a log directory.
    """

    findings: tuple[tuple[Finding, dict[str, Any]], ...]
    replicas: int = 0
    batches: int = 0
    size_in_bytes: int = 0
    undecided: tuple[str, ...] = ()
    is_quorum_uneven: bool = False
    is_without_controllers: bool = False
    audits: tuple[tuple[PartitionAudit, Sequence[Finding]], ...] = ()
    unit: PartitionUnit | None = None


def verify(
    unit: PartitionUnit | RootUnit,
    request: ReadRequest = ReadRequest(),  # noqa: B008  frozen
    progress: Progress = no_progress,
) -> Verification:
    """Audit one unit of the table ``findings``: each copy, and how they compare."""
    if isinstance(unit, RootUnit):
        return Verification(
            findings=tuple((each, finding_row(None, each)) for each in unit.findings)
        )
    audits = tuple(audited(unit, request, progress))
    return replace(verification_of(audits), audits=audits, unit=unit)


def verification_of(
    audits: Iterable[tuple[PartitionAudit, Sequence[Finding]]],
) -> Verification:
    """The same for audits that were made."""
    findings: list[tuple[Finding, dict[str, Any]]] = []
    undecided: list[str] = []
    is_uneven = is_without = False
    replicas = batches = size = 0
    for audit, found in audits:
        findings += [(each, finding_row(audit, each)) for each in found]
        if audit.reason and not audit.is_metadata:  # the quorum resolves forks of its own log
            name = "" if audit.topic is None else shown(f"{audit.topic}-{audit.partition}: ")
            undecided.append(f"{name}{audit.reason}")
        is_uneven |= _is_quorum_uneven(audit, found)
        is_without |= _is_without_controllers(audit)
        replicas += len(audit.replicas)
        batches += sum(each.summary.batches for each in audit.replicas)
        size += sum(each.summary.size_in_bytes for each in audit.replicas)
    return Verification(
        findings=tuple(findings),
        replicas=replicas,
        batches=batches,
        size_in_bytes=size,
        undecided=tuple(undecided),
        is_quorum_uneven=is_uneven,
        is_without_controllers=is_without,
    )


def _is_quorum_uneven(audit: PartitionAudit, found: Sequence[Finding]) -> bool:
    """Whether the copies of controllers part or end differently; brokers' copies always lag."""
    if not audit.is_metadata:
        return False
    roots = [each.directory.log_directory for each in audit.everyone]
    controllers = sum(not is_of_broker(root) for root in roots)
    lags = controllers >= _SEVERAL and any(each.code == LAGGING_REPLICA for each in found)
    return bool(audit.reason) or lags


def _is_without_controllers(audit: PartitionAudit) -> bool:
    """Whether several brokers name a controller, and none that they name was supplied."""
    nodes = {each.broker_id for each in audit.everyone}
    if not audit.is_metadata or len(nodes) < _SEVERAL:
        return False
    controllers = controllers_of(audit.everyone)
    return bool(controllers) and controllers.isdisjoint(nodes)
