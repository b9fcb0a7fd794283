"""Starts that take records from a copy, and nothing that anybody misses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.catalogue.log_rules import START_WILL_EXPIRE, START_WILL_SET_ASIDE
from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_REPORTED_AS: Final = {
    StartOutcome.EXPIRED: START_WILL_EXPIRE,
    StartOutcome.STRAY: START_WILL_SET_ASIDE,
}


def why_harmless(audit: PartitionAudit, replica: ReplicaAudit) -> str:
    """Why nobody misses what the next start takes from a copy; empty if somebody may.

    Retention may delete what another copy has deleted before: brokers run it at different times,
    and the leader's log start counts for its followers. A copy that was moved to other brokers
    may be set aside if one of those has all of its records.
    """
    start = replica.start
    if not isinstance(start, Recovery):
        return ""
    if start.outcome is StartOutcome.EXPIRED and _expires_elsewhere_too(audit, replica, start):
        return "another copy has already deleted them"
    if start.outcome is StartOutcome.STRAY and _is_left_over(audit, replica):
        return "the replicas there have all of its records"
    return ""


def with_harmless_starts(audit: PartitionAudit, found: Iterable[Finding]) -> Iterator[Finding]:
    """KL-417 and KL-418 as information where nobody misses what the start takes."""
    replicas = {each.directory: each for each in audit.replicas}
    for each in found:
        replica = None if each.directory is None else replicas.get(each.directory)
        start = None if replica is None else replica.start
        if (
            replica is not None
            and isinstance(start, Recovery)
            and each.code == _REPORTED_AS.get(start.outcome)
            and (why := why_harmless(audit, replica))
        ):
            yield _as_information(each, why)
        else:
            yield each


def with_deleted_topic(found: Iterable[Finding]) -> Iterator[Finding]:
    """KL-417 as information, of a copy of a deleted topic: KL-009 says what to do about it."""
    for each in found:
        is_start = each.code == START_WILL_SET_ASIDE
        yield _as_information(each, "that topic was deleted") if is_start else each


def _as_information(found: Finding, why: str) -> Finding:
    return replace(
        found,
        severity="I",
        message=f"{found.message}; {why}",
        actions=(NOTHING_TO_DO,),
        repairs=(),
    )


def _expires_elsewhere_too(audit: PartitionAudit, replica: ReplicaAudit, start: Recovery) -> bool:
    """Whether retention deletes only what another copy has deleted before.

    A copy that lost its beginning in another way does not count.
    """
    others = (
        each.log_start
        for each in audit.replicas
        if each is not replica and not (each.candidate is not None and each.candidate.is_start_lost)
    )
    after = None if start.loaded is None else start.loaded.log.log_start_offset
    return after is not None and after <= max(others, default=-1)


def _is_left_over(audit: PartitionAudit, replica: ReplicaAudit) -> bool:
    """Whether a broker that the partition was moved to has every record of this copy, intact."""
    candidate, comparison = replica.candidate, audit.comparison
    if candidate is None or candidate.is_assigned or audit.is_metadata_older:
        return False
    if isinstance(comparison, NotCompared):
        return False
    return any(
        other.candidate is not None
        and other.candidate.is_assigned
        and _is_intact(other.candidate)
        and other.log_end >= replica.log_end
        and comparison.content_fork(other.files, replica.files) is None
        for other in audit.replicas
    )


def _is_intact(candidate: Candidate) -> bool:
    """Whether a copy lost nothing, and its start takes nothing from it."""
    lost = candidate.damaged or candidate.hidden or candidate.records_cut_at_start
    return candidate.log is not None and not lost and not candidate.is_start_lost
