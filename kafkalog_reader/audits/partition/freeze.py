"""Where a topic's setting has to keep the controller from an election that loses records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import FORBID_UNCLEAN_ELECTION
from kafkalog_reader.audits.partition.epoch_advice import may_happen
from kafkalog_reader.audits.recovery.node_releases import KAFKA_3_9

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def is_frozen(audit: PartitionAudit, found: Iterable[Finding]) -> bool:
    """Whether unclean election of the topic must be forbidden until a good copy leads."""
    return may_freeze(audit) and any(
        FORBID_UNCLEAN_ELECTION in each.actions and may_happen(audit, each)
        for each in found
        if each.severity in "CH"
    )


def may_freeze(audit: PartitionAudit) -> bool:
    """Whether forbidding an unclean election changes which copy may lead.

    Not if the copies become one merged log, or all replicas are here and each would lose the same
    records. Before release 3.9, KRaft controllers hold no unclean election by themselves
    (KAFKA-12670).
    """
    if audit.merge is not None or (audit.topics and audit.topics.releases.before(KAFKA_3_9)):
        return False
    if audit.membership is None:
        return True
    supplied = {replica.broker_id for replica in audit.everyone}
    losses = {each.lacking_ranges for each in audit.elections}
    return not (len(losses) < 2 and supplied.issuperset(audit.membership.replicas))
