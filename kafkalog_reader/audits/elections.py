"""The ``elections`` table: what becomes of each follower, and what is lost, whoever leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from kafkalog_reader.audits.candidates import ElectionKind
from kafkalog_reader.audits.membership import is_member
from kafkalog_reader.audits.partition_audit import audit_partition
from kafkalog_reader.audits.partition_unit import PartitionUnit, partition_units
from kafkalog_reader.audits.truncation_rule import rule_named
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas import ELECTIONS
from kafkalog_reader.tables.table import Column, Progress, Table, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.audits.candidates import Election
    from kafkalog_reader.audits.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.partition_audit import PartitionAudit
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Unit


class ElectionsTable(Table):
    """One row is one candidate and one of its followers."""

    name: ClassVar[str] = "elections"
    doc: ClassVar[str] = "one row a candidate leader and follower: what is cut, what is lost"
    options: ClassVar[frozenset[str]] = frozenset({"rule"})
    columns: ClassVar[tuple[Column, ...]] = ELECTIONS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[PartitionUnit]:
        """One topic partition with all its replicas."""
        return partition_units(evidence, request, with_topics=True)

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition; none where the verdict is undecidable."""
        schema = self.projected(request)
        partition = cast("PartitionUnit", unit)
        audit = audit_partition(
            partition.directories,
            progress,
            topics=partition.topics,
            membership=partition.membership,
            rule=rule_named(request.rule),
        )
        rows = election_rows(audit)
        yield build_from_dicts(schema, rows)


def election_rows(audit: PartitionAudit) -> list[dict[str, Any]]:
    """The rows by column name: best candidate first, followers as the replicas are ordered."""
    rows = []
    for election in audit.elections:
        of_candidate = _candidate_columns(audit, election)
        outcomes: dict[int, FollowerOutcome | None] = dict.fromkeys(election.absent)
        outcomes |= {outcome.follower: outcome for outcome in election.followers}
        rows += [
            of_candidate | _follower_columns(audit, index, outcomes[index])
            for index in sorted(outcomes)
        ] or [of_candidate]
        for alone in audit.set_aside:
            (replica,) = alone.replicas
            known = {"followerBrokerId": replica.broker_id, "follower": replica.name}
            rows.append(of_candidate | known)
    return rows + [_set_aside_columns(audit, alone) for alone in audit.set_aside]


_NOTHING = dict.fromkeys(column.name for column in ELECTIONS)


def _set_aside_columns(audit: PartitionAudit, alone: PartitionAudit) -> dict[str, Any]:
    """A candidate of which is not known what it holds, behind all others."""
    (replica,) = alone.replicas
    return _NOTHING | {
        "clusterId": audit.cluster_id,
        "topic": audit.topic,
        "partition": audit.partition,
        "candidateBrokerId": replica.broker_id,
        "candidate": replica.name,
        "electionKind": ElectionKind.UNDETERMINED.value,
        "cleanByMembership": is_member(audit.membership, replica.broker_id),
        "rank": len(audit.elections) + 1,
        "rule": audit.rules[0].value,
        "otherRules": [],
    }


def _candidate_columns(audit: PartitionAudit, election: Election) -> dict[str, Any]:
    replica, candidate = audit.replicas[election.candidate], audit.candidates[election.candidate]
    assert candidate.log is not None
    lost = election.lost
    return _NOTHING | {
        "clusterId": audit.cluster_id,
        "topic": audit.topic,
        "partition": audit.partition,
        "candidateBrokerId": replica.broker_id,
        "candidate": replica.name,
        "candidateLogEndOffset": candidate.log.log_end_offset,
        "candidateRecordsCutAtStart": candidate.records_cut_at_start,
        "lostRecords": lost.total,
        "lostCommittedRecords": lost.known,
        "lostPossiblyCommittedRecords": lost.possible,
        "lostRecordsCommittedOnlyIfUnclean": lost.only_if_unclean,
        "keptApartRecords": election.kept_apart,
        "electionKind": election.kind.value,
        "cleanByMembership": election.clean_by_membership,
        "endsInTransaction": bool(candidate.cut_transactions),
        "rank": election.rank,
        "rule": audit.rules[0].value,
        "otherRules": [],
    }


def _follower_columns(
    audit: PartitionAudit, index: int, outcome: FollowerOutcome | None
) -> dict[str, Any]:
    replica, recovery = audit.replicas[index], audit.recoveries[index]
    assert not isinstance(recovery, LocatedError)
    known: dict[str, Any] = {
        "followerBrokerId": replica.broker_id,
        "follower": replica.name,
        "followerStart": recovery.outcome.value,
        "recordsCutAtStart": audit.candidates[index].records_cut_at_start,
    }
    if outcome is None:
        return known
    return known | {
        "followerLogEndOffset": outcome.log_end_offset,
        "truncationOffset": outcome.truncation_offset,
        "rounds": len(outcome.following.rounds),
        "recordsCut": outcome.records_cut,
        "silentDivergence": outcome.silent_divergence is not None,
        "silentDivergenceOffset": outcome.silent_divergence,
        "needlessTruncation": outcome.is_needless,
        "outcome": outcome.following.outcome.value,
        "otherRules": [
            {"rule": rule.value, "truncationOffset": offset} for rule, offset in outcome.otherwise
        ],
    }
