"""The ``elections`` table: for each candidate leader, what followers do and what is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from kafkalog_reader.audits.election.candidates import ElectionKind
from kafkalog_reader.audits.election.membership import is_member, standing
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.audits.tables.audit_table import AuditTable
from kafkalog_reader.tables.schemas.audits import ELECTIONS

if TYPE_CHECKING:
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.tables.table import Column


class ElectionsTable(AuditTable):
    """One row for each candidate and each of its followers."""

    name: ClassVar[str] = "elections"
    doc: ClassVar[str] = "one row per candidate leader and follower: what is cut, what is lost"
    columns: ClassVar[tuple[Column, ...]] = ELECTIONS

    def rows_of(self, audit: PartitionAudit) -> list[dict[str, Any]]:
        """The rows of one partition; none if the verdict is undecidable."""
        return election_rows(audit)


def election_rows(audit: PartitionAudit) -> list[dict[str, Any]]:
    """The rows as dictionaries: best candidate first, followers in the order of the replicas."""
    rows = []
    for election in audit.elections:
        of_candidate = _candidate_columns(audit, election)
        outcomes = {outcome.follower.replica: outcome for outcome in election.followers}
        rows += [
            of_candidate | _follower_columns(replica, outcomes.get(replica.files))
            for replica in audit.replicas
            if replica.candidate is not election.candidate
        ] or [of_candidate]
        for alone in audit.set_aside:
            (replica,) = alone.replicas
            known = {"followerBrokerId": replica.broker_id, "follower": replica.name}
            rows.append(of_candidate | known)
    return rows + [_set_aside_columns(audit, alone) for alone in audit.set_aside]


_NOTHING = dict.fromkeys(column.name for column in ELECTIONS)


def _set_aside_columns(audit: PartitionAudit, alone: PartitionAudit) -> dict[str, Any]:
    """The columns of a set-aside candidate, whose content is unknown; it comes last."""
    (replica,) = alone.replicas
    return _NOTHING | {
        "clusterId": audit.cluster_id,
        "topic": audit.topic,
        "partition": audit.partition,
        "candidateBrokerId": replica.broker_id,
        "candidate": replica.name,
        "electionKind": ElectionKind.UNDETERMINED.value,
        "cleanByMembership": is_member(audit.membership, replica.broker_id),
        **standing_columns(audit.membership, replica.broker_id),
        "rank": len(audit.elections) + 1,
        "rule": audit.rules[0].value,
        "otherRules": [],
    }


def standing_columns(
    membership: PartitionMembership | None, broker_id: int | None
) -> dict[str, bool | None]:
    """What the metadata log says of a candidate."""
    of_broker = standing(membership, broker_id)
    return {
        "inIsr": of_broker.in_isr,
        "inElr": of_broker.in_elr,
        "controllerWouldElect": of_broker.controller_would_elect,
        "needsUnclean": of_broker.needs_unclean,
    }


def _candidate_columns(audit: PartitionAudit, election: Election) -> dict[str, Any]:
    candidate = election.candidate
    assert candidate.log is not None
    lost, apart = election.lost, election.kept_apart
    return _NOTHING | {
        "clusterId": audit.cluster_id,
        "topic": audit.topic,
        "partition": audit.partition,
        "candidateBrokerId": candidate.broker_id,
        "candidate": candidate.name,
        "candidateLogEndOffset": candidate.log.log_end_offset,
        "candidateRecordsCutAtStart": candidate.records_cut_at_start,
        "lostRecords": lost.total,
        "maxLostInDamagedBatches": lost.damaged,
        "maxLostCommittedInDamagedBatches": lost.damaged_known,
        "maxLostPossiblyCommittedInDamagedBatches": lost.damaged_possible,
        "lostCommittedRecords": lost.known,
        "lostPossiblyCommittedRecords": lost.possible,
        "lostRecordsCommittedOnlyIfUnclean": lost.only_if_unclean,
        "keptApartRecords": apart.total,
        "keptApartCommittedRecords": apart.known,
        "keptApartPossiblyCommittedRecords": apart.possible,
        "electionKind": election.kind.value,
        "cleanByMembership": election.clean_by_membership,
        **standing_columns(audit.membership, candidate.broker_id),
        "endsInTransaction": bool(candidate.cut_transactions),
        "rank": election.rank,
        "rule": audit.rules[0].value,
        "otherRules": [],
    }


def _follower_columns(replica: ReplicaAudit, outcome: FollowerOutcome | None) -> dict[str, Any]:
    assert isinstance(replica.start, Recovery)
    assert replica.candidate is not None
    known: dict[str, Any] = {
        "followerBrokerId": replica.broker_id,
        "follower": replica.name,
        "followerStart": replica.start.outcome.value,
        "recordsCutAtStart": replica.candidate.records_cut_at_start,
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
