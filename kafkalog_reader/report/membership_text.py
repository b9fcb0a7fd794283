"""Shows leader, ISR and replicas of a partition according to the cluster metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.membership import NO_LEADER
from kafkalog_reader.report.spans import Line, listed, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def membership_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """One line below the lanes; none if no metadata log was supplied."""
    membership = audit.membership
    if membership is None:
        return
    leader = "none" if membership.leader == NO_LEADER else str(membership.leader)
    parts = [
        f"leader {leader} (epoch {membership.leader_epoch})",
        f"ISR {_brokers(membership.isr)}",
    ]
    if membership.elr or not membership.isr:
        parts.append(f"ELR {_brokers(membership.elr)}")
    parts.append(f"replicas {_brokers(membership.replicas)}")
    if membership.adding or membership.removing:
        parts.append(f"a reassignment {reassignment_text(membership.adding, membership.removing)}")
    yield ()
    yield from wrapped(f"metadata log: {', '.join(parts)}", columns, indent=2)


def reassignment_text(adding: Sequence[int], removing: Sequence[int]) -> str:
    """``adds 3``, ``removes 1``, or ``adds 3 and removes 1``."""
    changes = (("adds", adding), ("removes", removing))
    return " and ".join(f"{verb} {_brokers(ids)}" for verb, ids in changes if ids)


def member_word(audit: PartitionAudit, candidate: Candidate) -> str:
    """``in ISR``, ``in ELR``, or nothing."""
    membership, broker_id = audit.membership, candidate.broker_id
    if membership is None or broker_id is None:
        return ""
    if broker_id in membership.isr:
        return "in ISR"
    return "in ELR" if broker_id in membership.elr else ""


def _brokers(ids: Sequence[int]) -> str:
    return listed([str(each) for each in ids]) if ids else "none"
