"""Which brokers of a partition the controller may elect by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def electable(audit: PartitionAudit) -> frozenset[int] | None:
    """The brokers that the controller may elect; None if unknown, or older than the logs."""
    membership = audit.membership
    if membership is None or audit.is_metadata_older:
        return None
    return frozenset((*membership.isr, *membership.elr, *membership.last_known_elr))


def why_unknown(audit: PartitionAudit, *, has_metadata: bool) -> str:
    """Why a metadata log that was supplied does not name the in-sync replicas; else empty."""
    if audit.is_metadata_older:
        return "the metadata log is older than the copies"
    if audit.membership is None and has_metadata:
        return "the metadata log does not have the partition"
    return ""


def stays_leaderless(audit: PartitionAudit) -> bool:
    """Whether no broker that registers is elected without an unclean election.

    Source: Kafka 4.4, ReplicationControlManager#handleUncleanBrokerShutdown, PartitionChangeBuilder
    (canElectLastKnownLeader); seen on 4.4.0.
    """
    membership = audit.membership
    if membership is None or membership.isr or membership.last_known_elr:
        return False
    clean = {
        each.broker_id for each in audit.everyone if each.directory.log_directory.clean_shutdown
    }
    return not clean & set(membership.elr)
