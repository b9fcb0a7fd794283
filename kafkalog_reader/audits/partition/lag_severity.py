"""Rates a copy that lags: what its election would lose, and whether Kafka may elect it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit


def committed_lost_by(audit: PartitionAudit, replica: ReplicaAudit) -> int:
    """Number of known committed records that this replica's election loses and another's keeps."""
    own = [each for each in audit.elections if each.candidate is replica.candidate]
    if not own:
        return 0  # its broker does not start: it leads nothing
    fewest = min(each.lacking.known for each in audit.elections)
    return own[0].lacking.known - fewest


def is_being_added(audit: PartitionAudit, replica: ReplicaAudit) -> bool:
    """Whether a reassignment in flight adds a replica, which is not in sync yet."""
    return audit.membership is not None and audit.membership.is_being_added(replica.broker_id)


def lag_severity(audit: PartitionAudit, replica: ReplicaAudit) -> str:
    """The severity of one lagging copy.

    Information if its election loses no record that is known to be committed, or if a reassignment
    adds it: it has begun to copy, and joins the ISR when it has all. Medium if Kafka
    itself does not elect it, because it is outside the ISR, or if it only looks short, because it
    was copied from a running broker before the others. High otherwise: a broker that lost the end
    of its log may still be in the ISR, and leads if it starts first.
    """
    if is_being_added(audit, replica) or not committed_lost_by(audit, replica):
        return "I"
    candidate = replica.candidate
    is_outside = candidate is not None and candidate.is_member is False
    if is_outside or replica.ran_while_copied:
        return "M"
    return "H"
