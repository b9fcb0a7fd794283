"""Which copies should lead a partition, and which must therefore stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.partition.partition_audit import outvoted_copies
from kafkalog_reader.format.broker_words import joined_ids, joined_names
from kafkalog_reader.salvage.one_sided import one_sided_ranges

if TYPE_CHECKING:
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit


def lead_text(audit: PartitionAudit) -> str:
    """Which copy should lead this partition.

    A broker starts with all of its partitions, so one partition does not determine the order.
    """
    alike = _best(audit)
    if audit.unseen is not None:
        names = joined_ids(audit.unseen.brokers)
        return (
            f"supply a copy of {names} first, and run this again; only if that is impossible, "
            f"{_one_of(joined_names(alike))} should lead"
        )
    if len(alike) == len(audit.everyone) and not audit.lacking:
        return "every copy may lead this partition: none is a better leader than another"
    lead = f"{_one_of(joined_names(alike))} should lead this partition; the others copy from it"
    if audit.elections and (heirs := audit.elections[0].heirs):
        names = joined_names(heirs)
        is_, have = ("is", "has") if len(heirs) == 1 else ("are", "have")
        lead = (
            f"{joined_names(alike)} should lead this partition until {names} {is_} in sync and "
            f"{have} every record whole; then {_one_of(names)} should lead, and the damaged copy "
            "be made again"
        )
    if audit.record_fork is not None and audit.loses_whoever_leads:
        return f"unless another branch is chosen, {lead}"
    return lead


def may_move(audit: PartitionAudit, replica: ReplicaAudit) -> bool:
    """Whether it should not lead, and has no record that only it has, unless others outvote it.

    Also not where the leader's log is damaged: no copy can be made of that.
    """
    best = _best(audit)
    if any(each.replica is replica.files for each in best):
        return False
    if replica in outvoted_copies(audit):
        return True
    return all(each.unreadable_from is None for each in best) and all(
        each.replicas != (replica.files,) for each in one_sided_ranges(audit)
    )


def _best(audit: PartitionAudit) -> tuple[Candidate, ...]:
    """The candidates of the best elections; none of them is a better leader than another."""
    if not audit.elections:
        return ()
    best = audit.elections[0]
    return tuple(
        each.candidate
        for each in audit.elections
        if (each.cost, each.clean_by_membership) == (best.cost, best.clean_by_membership)
    )


def _one_of(names: str) -> str:
    """``broker 1``, ``one of brokers 1 and 2``."""
    return f"one of {names}" if " and " in names else names
