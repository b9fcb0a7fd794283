"""The ``findings`` table: what is wrong, one row per finding, worst first in a partition."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.election_rules import (
    DAMAGE_RECOVERABLE_FROM_PEER,
    DAMAGE_UNRECOVERABLE,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.missing_directories import missing_directories
from kafkalog_reader.audits.integrity.directory_findings import duplicate_findings
from kafkalog_reader.audits.integrity.file_checks import FileChecks
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.replica_checks import joined
from kafkalog_reader.audits.partition.being_deleted import deletion_findings
from kafkalog_reader.audits.partition.commit_findings import commit_findings
from kafkalog_reader.audits.partition.committed_offsets import with_commits
from kafkalog_reader.audits.partition.difference_findings import with_indexes_kept
from kafkalog_reader.audits.partition.epoch_advice import with_epoch_actions, without_rebuilt
from kafkalog_reader.audits.partition.gap_severity import with_others, with_peers
from kafkalog_reader.audits.partition.harmless_starts import (
    with_deleted_topic,
    with_harmless_starts,
)
from kafkalog_reader.audits.partition.lost_partitions import lost_partitions
from kafkalog_reader.audits.partition.lost_start import with_lost_ends, with_lost_starts
from kafkalog_reader.audits.partition.partition_unit import (
    PartitionUnit,
    cluster_metadata,
    partition_units,
)
from kafkalog_reader.audits.partition.quorum_findings import with_quorum_actions
from kafkalog_reader.audits.partition.renamed_folders import renamed_folders
from kafkalog_reader.audits.partition.renamed_units import lost_or_renamed, with_renamed
from kafkalog_reader.audits.partition.replica_findings import replica_findings
from kafkalog_reader.audits.partition.retry_findings import retry_findings
from kafkalog_reader.audits.partition.segment_findings import segment_findings
from kafkalog_reader.audits.partition.supply_findings import (
    NOTHING_KNOWN,
    Supply,
    skew_findings,
    supply_findings,
)
from kafkalog_reader.audits.partition.supply_units import with_supply
from kafkalog_reader.audits.partition.torn_findings import torn_findings
from kafkalog_reader.audits.partition.transaction_findings import (
    transaction_findings,
    with_coordinators,
)
from kafkalog_reader.audits.partition.unit_audit import audit_unit
from kafkalog_reader.audits.partition.unread_replicas import with_unread
from kafkalog_reader.audits.partition.upload_findings import upload_findings
from kafkalog_reader.audits.recovery.start_prediction import predict_starts
from kafkalog_reader.audits.tables.root_units import RootUnit, root_units
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.audits import FINDINGS
from kafkalog_reader.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.audits.recovery.recovery import Recovery
    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

OF_ONE_COPY: Final = (
    frozenset(CATALOGUE)
    - codes_with(Role.SEVERAL_REPLICAS)
    - codes_with(Role.OF_PRODUCERS)
    - codes_with(Role.OF_CONSUMERS)
)
"""Codes that show whether a single copy is sound."""
_OF_SEVERAL: Final = codes_with(Role.SEVERAL_REPLICAS)
_HIGH_WITH_PEER: Final = codes_with(Role.HIGH_WITH_PEER)


class FindingsTable(Table[PartitionUnit | RootUnit]):
    """One row for each finding."""

    name: ClassVar[str] = "findings"
    doc: ClassVar[str] = "one row per finding: what is wrong, where, how sure, what to do"
    columns: ClassVar[tuple[Column, ...]] = FINDINGS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[PartitionUnit | RootUnit]:
        """One unit for each topic partition, and for each log directory.

        A log directory that was supplied only in part gets no unit. ``verify``, ``replica-diff``
        and ``plan`` all work on these units.
        """
        clusters = cluster_metadata(evidence)
        missing = missing_directories(evidence, clusters)
        units = with_supply(partition_units(evidence, request, clusters), evidence, missing)
        units = with_coordinators(with_commits(units, evidence), evidence)
        unread: list[Finding] = []
        for unit in with_unread(units, evidence, request):
            unread += unit.unread
            yield with_renamed(unit)
        lost = list(lost_partitions(evidence, request, clusters))
        renamed = renamed_folders(evidence, request, clusters) if lost else {}
        found = list(lost_or_renamed(lost, renamed, request))
        yield from root_units(evidence, request, clusters, unread, lost, found)

    def read(
        self, unit: PartitionUnit | RootUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the findings of one partition; damage is a row in every read mode."""
        schema = self.projected(request)
        if isinstance(unit, RootUnit):
            rows = [finding_row(None, each) for each in unit.findings]
        else:
            rows = [
                finding_row(audit, each)
                for audit, found in audited(unit, request, progress)
                for each in found
            ]
        yield build_from_dicts(schema, rows)


def audited(
    unit: PartitionUnit,
    request: ReadRequest,
    progress: Progress = no_progress,
    *,
    quick: bool = False,
) -> Iterator[tuple[PartitionAudit, tuple[Finding, ...]]]:
    """Audit one partition, and return all its findings, worst first.

    With a time range each replica is audited by itself: its segments differ between copies, and
    what was not read cannot be compared.
    """
    directories = unit.directories
    checks = FileChecks.asked(request, directories[0].topic, unit.topics)
    groups = [[each] for each in directories] if checks.has_time_range else [directories]
    for number, group in enumerate(groups):
        with one_look(group) as looked_at:
            part = replace(
                unit,
                directories=tuple(looked_at),
                commits=() if checks.has_time_range else unit.commits,  # a part holds few of them
            )
            audit = audit_unit(part, request, progress, quick=quick)
            found = (*findings_of(audit, unit.supply), *upload_findings(audit, unit.remote))
            if not number:
                found += (*_misnamed(audit, request),)
                found += (*commit_findings(audit, found), *unit.unread, *unit.of_groups)
                found += (*transaction_findings(audit, unit.coordinators),)
                if request.deep:
                    found += (*torn_findings(audit, unit.coordinators),)
        found = tuple(e for e in found if not any(m.explains(e) for m in audit.misnamed))
        if checks.has_time_range:
            found = tuple(
                _not_compared(each) if len(directories) > 1 else each
                for each in found
                if each.code in OF_ONE_COPY
            )
        about = audit.topic, audit.partition
        placed = (e if e.directory is not None else replace(e, about=about) for e in found)
        yield audit, tuple(sorted(placed, key=lambda each: each.order))


def _misnamed(audit: PartitionAudit, request: ReadRequest) -> Iterator[Finding]:
    """KL-014, KL-119 and KL-419, once for all partitions that they concern."""
    place = audit.topic or "", audit.partition or 0
    return (each.finding() for each in audit.misnamed if each.is_reported_by(place, request))


def _not_compared(each: Finding) -> Finding:
    """A finding of a copy whose peers were not read, which does not say that records are lost."""
    if each.severity != "C" or each.code not in _HIGH_WITH_PEER:
        return each
    return replace(
        each, severity="H", message=f"{each.message}; the other copies were not compared"
    )


def findings_of(audit: PartitionAudit, supply: Supply = NOTHING_KNOWN) -> tuple[Finding, ...]:
    """All findings of a partition, worst first."""
    damage = [*segment_findings(audit)]
    checked = [each.checked for each in audit.replicas if each.checked is not None]
    if checked:
        damage = [
            each
            for replica, of_files, start in zip(
                audit.replicas, checked, _starts(audit), strict=True
            )
            for each in joined(
                replica.files,
                [d for d in damage if d.directory == replica.directory],
                of_files,
                start,
                partial(_is_held_elsewhere, audit, replica),
            )
        ]
    damage += duplicate_findings([replica.directory for replica in audit.replicas])
    found = [
        *with_harmless_starts(
            audit,
            with_peers(audit, list(with_lost_ends(audit, with_lost_starts(audit, damage)))),
        ),
        *replica_findings(audit),
        *retry_findings(audit),
        *supply_findings(audit, supply),
        *skew_findings(audit),
        *_recoverability(audit),
    ]
    if audit.deleting:  # nobody leads it again
        found = [each for each in found if each.code not in _OF_SEVERAL]
        found += deletion_findings(audit)
    for alone in audit.set_aside:  # by itself: it was not compared
        own = (each for each in findings_of(alone) if each.code not in _OF_SEVERAL)
        found += with_others(audit, own)
    for alone in audit.outdated:
        own = (each for each in findings_of(alone) if each.code not in _OF_SEVERAL)
        found += with_deleted_topic(own)
    found = [without_rebuilt(audit, each) for each in with_indexes_kept(found)]
    of_quorum = with_quorum_actions(audit, found, supply)
    found = [with_epoch_actions(audit, each) for each in of_quorum]
    return tuple(sorted(found, key=lambda each: each.order))


def _starts(audit: PartitionAudit) -> Sequence[Recovery | LocatedError | None]:
    """The starts of all replicas, also if they were not compared; none of the metadata log."""
    starts = [each.start for each in audit.replicas]
    if audit.is_metadata or None not in starts:
        return starts
    directories = [replica.directory for replica in audit.replicas]
    known = [each.read_segments for each in audit.replicas]
    return predict_starts(directories, audit.topics, known=known, started_at=audit.started_at)


def _is_held_elsewhere(audit: PartitionAudit, replica: ReplicaAudit, offset: int) -> bool:
    """Whether another replica has each of a replica's batches from an offset on."""
    if isinstance(audit.comparison, NotCompared) or len(audit.replicas) < 2:
        return False
    return all(
        len(branch.replicas) > 1
        for branch in audit.comparison.branches()
        if replica.files in branch.replicas and branch.records and branch.next_offset > offset
    )


def _recoverability(audit: PartitionAudit) -> Iterator[Finding]:
    if len(audit.everyone) == 1:  # whether there are other copies is unknown
        return
    if audit.relation is Verdict.DAMAGED_RECOVERABLE:
        yield finding(
            DAMAGE_RECOVERABLE_FROM_PEER, "every damaged or missing record has an intact copy"
        )
    if audit.relation is Verdict.DAMAGED_UNRECOVERABLE and len(audit.everyone) > 1:
        yield finding(
            DAMAGE_UNRECOVERABLE, "no supplied replica has an intact copy of some damaged bytes"
        )


def finding_row(audit: PartitionAudit | None, each: Finding) -> dict[str, Any]:
    """The row of a finding as a dictionary; without an audit it is one of a log directory."""
    if each.directory is not None:
        scope: dict[str, Any] = dict(identity_of(each.directory))
    else:
        assert audit is not None
        scope = {
            "clusterId": audit.cluster_id,
            "brokerId": None,
            "brokerLabel": None,
            "logDirectory": None,
            "topic": audit.topic,
            "partition": audit.partition,
        }
    replicas = () if audit is None else audit.replicas
    ids = sorted({replica.files.topic_id for replica in replicas} - {None}, key=str)
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
        "lookalikes": list(each.lookalikes),
        "recordsAtRisk": each.records_at_risk,
        "bytesAtRisk": each.bytes_at_risk,
        "committed": each.committed,
        "actions": list(each.actions),
        "causedBy": each.caused_by,
        "message": each.message,
    }
