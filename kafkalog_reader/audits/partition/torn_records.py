"""The whole records of a torn batch that no copy has in a whole one: starts lose them.

They are in no election's loss: they are lost whoever leads, and only ``kafkalog salvage`` reads
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.recovery.recovery import Recovery

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit


@dataclass(frozen=True, slots=True, kw_only=True)
class TornRecords:
    """The whole records of the torn batch that reaches furthest.

    Attributes:
        holders: replicas that end with it.
        first_offset, next_offset: half-open.
    """

    holders: tuple[ReplicaAudit, ...]
    first_offset: int
    next_offset: int
    records: CommitCount


def torn_records(audit: PartitionAudit) -> TornRecords | None:
    """What starts lose of torn batches after the longest log; None if nothing."""
    first, following = audit.readable_after_end
    if first >= following:
        return None
    holders = tuple(
        each
        for each in audit.replicas
        if isinstance(each.start, Recovery)
        and each.start.readable_in_torn_batch[0] <= first
        and each.start.readable_in_torn_batch[1] == following
    )
    committed = 0 if audit.missing is None else audit.missing.next_offset
    known = max(0, min(following, committed) - first)
    in_sync = () if audit.membership is None else audit.membership.isr
    supplied = {each.broker_id for each in audit.replicas}
    # Committed records are on every in-sync replica, and follow others that may be committed.
    bounds = [each.bounds for each in holders]
    if not {*in_sync} & supplied <= {each.broker_id for each in holders}:
        bounds = []
    rest = following - first - known
    is_possible = any(each.possible >= first for each in bounds)
    if_unclean = not is_possible and any(each.high >= first for each in bounds)
    return TornRecords(
        holders=holders,
        first_offset=first,
        next_offset=following,
        records=CommitCount(
            known=known,
            possible=rest if is_possible else 0,
            only_if_unclean=rest if if_unclean else 0,
            uncommitted=0 if is_possible or if_unclean else rest,
        ),
    )
