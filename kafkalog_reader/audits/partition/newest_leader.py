"""The copy that leads by the greatest known leader epoch, and what it may have lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.committed import newest_replica
from kafkalog_reader.audits.election.membership import named_leader

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit


def newest_leader(audit: PartitionAudit) -> ReplicaAudit | None:
    """The replica that leads by the greatest known leader epoch."""
    histories = {each.files: each.history for each in audit.replicas}
    newest = newest_replica(histories, named_leader(histories, audit.membership))
    return None if newest is None else audit.of(newest)


def epoch_unknown_to_leader(audit: PartitionAudit) -> int | None:
    """The leader epoch in which the newest leader leads, if its own files do not have it.

    A leader writes the entry when it is elected. So its files are older than that, or a start
    removed the entry before the leader wrote a record.
    """
    newest, known = newest_leader(audit), audit.membership
    if newest is None or known is None or newest.broker_id != known.leader:
        return None
    if newest.files.epoch_entries is None or not newest.files.has_sound_epochs:
        return None
    own = max(newest.history.leader_epochs, default=-1)
    return known.leader_epoch if own < known.leader_epoch else None


def reached_by_newest(audit: PartitionAudit) -> int | None:
    """Which offset the newest leader's log once reached, if it has lost its end since.

    Its checkpointed high watermark is above the end, which a start would have lowered; or its
    leader epoch begins above it, and no later one is known, which may have begun after that.
    """
    newest = newest_leader(audit)
    if newest is None or newest.high_watermark_above_end is not None:
        return None if newest is None else newest.high_watermark_above_end
    entry = newest.leader_epoch_above_end
    if entry is None or (
        audit.membership is not None and audit.membership.leader_epoch > entry.leader_epoch
    ):
        return None
    return entry.start_offset
