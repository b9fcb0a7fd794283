"""Which records of a copy other copies have already deleted, by retention or on request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.catalogue.log_rules import START_WILL_EXPIRE
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit


def expires_elsewhere_too(audit: PartitionAudit, replica: ReplicaAudit) -> bool:
    """Whether retention at a start deletes only what another copy has deleted before.

    A copy that lost its beginning in another way does not count.
    """
    start = replica.start
    if not isinstance(start, Recovery) or start.outcome is not StartOutcome.EXPIRED:
        return False
    others = (
        each.log_start
        for each in audit.replicas
        if each is not replica and not (each.candidate is not None and each.candidate.is_start_lost)
    )
    after = None if start.loaded is None else start.loaded.log.log_start_offset
    return after is not None and after <= max(others, default=-1)


def without_expired(audit: PartitionAudit, found: Iterable[Finding]) -> Iterator[Finding]:
    """KL-418 as information where retention deletes what another copy no longer has.

    Brokers run retention at different times. The leader's log start counts for its followers, so
    that these records are gone whoever leads.
    """
    replicas = {each.directory: each for each in audit.replicas}
    for each in found:
        replica = None if each.directory is None else replicas.get(each.directory)
        if (
            each.code == START_WILL_EXPIRE
            and replica is not None
            and expires_elsewhere_too(audit, replica)
        ):
            yield replace(
                each,
                severity="I",
                message=f"{each.message}; another copy has already deleted them",
                actions=(NOTHING_TO_DO,),
                repairs=(),
            )
        else:
            yield each
