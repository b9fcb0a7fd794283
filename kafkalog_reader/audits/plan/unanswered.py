"""Partitions without a plan, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.refused_file import is_refused
from kafkalog_reader.audits.recovery.outcome import FAILURES, StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined_ids, joined_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.directories import PartitionDirectory


_AS_USER: Final = "Make this plan as the user of the broker, who has permission"
_REPAIR_FIRST: Final = "Repair that first, and make the plan again"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCopy:
    """A copy because of which there is no plan. Once it is out of the way, there is one."""

    topic: str
    partition: int
    broker_id: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A partition without a plan.

    Attributes:
        failure: a broker, or a log directory, does not come up; that is why.
        unknown_copies: the copies that are the reason; none if it is another one.
        misplaced_copies: those that no assigned broker has, where none of these was supplied.
    """

    name: str
    reason: str
    brokers: tuple[int, ...]
    failure: StartOutcome | None = None
    unknown_copies: tuple[PlacedCopy, ...] = ()
    misplaced_copies: tuple[PlacedCopy, ...] = ()


def unanswered(
    audit: PartitionAudit, brokers: Sequence[int], reason: str, down: Mapping[int, str]
) -> Unanswered:
    """The partition that has no plan for this reason; see ``why_unanswered`` for the others."""
    misplaced = () if _put_back_on(audit) else (each.directory for each in audit.replicas)
    may_be_read = is_refused(reason)
    return Unanswered(
        name=f"{audit.topic or ''}-{audit.partition or 0}",
        reason=f"{reason}. {_AS_USER}" if may_be_read else reason,
        brokers=tuple(sorted({*brokers, *down})),
        failure=None if -1 in brokers else failure_of(audit),
        unknown_copies=() if may_be_read else tuple(_placed(audit.unknown_copies)),
        misplaced_copies=tuple(_placed(misplaced)) if audit.is_misplaced else (),
    )


def _placed(copies: Iterable[PartitionDirectory]) -> Iterator[PlacedCopy]:
    for each in copies:
        if (broker := each.log_directory.broker_id) is not None:
            yield PlacedCopy(
                topic=each.topic or "",
                partition=each.partition or 0,
                broker_id=broker,
                path=each.path,
            )


def why_unanswered(audit: PartitionAudit, brokers: Sequence[int], down: Mapping[int, str]) -> str:
    """Why no plan is possible; empty if one is.

    Args:
        audit: of the partition.
        brokers: those with a copy.
        down: why other brokers of the partition do not start.
    """
    if audit.reason:
        return audit.reason
    if -1 in brokers:
        replica = next(each for each in audit.everyone if each.broker_id is None)
        return (
            f"the node id of {replica.name} is unknown: give it as "
            f"N={replica.directory.log_directory.path}"
        )
    twice = next((each for each in brokers if brokers.count(each) > 1), None)
    if twice is not None:
        return f"broker {twice} has two copies and does not start: keep one and move the other away"
    for each, broker in zip(audit.replicas, brokers, strict=False):
        if isinstance(each.start, LocatedError):
            return f"the next start cannot be predicted: {each.start}"
        if each.start is not None and each.start.is_down_by_others:
            return f"{_down_text(each.start, broker)}. {_REPAIR_FIRST}"
    for broker, why in down.items():
        return f"broker {broker} does not come up: {why}. {_REPAIR_FIRST}"
    return ""


def why_not_read(found: Iterable[Finding]) -> str:
    """Why no plan is possible where files of copies could not be read, which are named."""
    copies = {
        "a copy" if each.directory is None else f"the copy of {each.directory.replica_name}": each
        for each in reversed([*found])
    }
    texts = [f"{copy} was not read in full: {each.message}" for copy, each in copies.items()]
    return "; ".join(reversed(texts))


def failure_of(audit: PartitionAudit) -> StartOutcome | None:
    """How a broker of the partition fails to start; None if all start."""
    outcomes = {
        each.start.outcome
        for each in audit.replicas
        if isinstance(each.start, Recovery) and each.start.outcome in FAILURES
    }
    return min(
        outcomes, key=lambda outcome: outcome is not StartOutcome.BROKER_ABORTS, default=None
    )


def why_all_fail(
    audit: PartitionAudit, brokers: Sequence[int], repairable: Collection[int] = ()
) -> str:
    """Why no copy can lead, and what to do.

    Args:
        audit: of the partition.
        brokers: those with a copy.
        repairable: those of which a finding says how to repair the file.
    """
    if audit.is_misplaced:
        return (
            f"the start of {joined_names(audit.replicas)} sets every copy aside: while all brokers "
            f"are stopped, {put_back_text(audit)}, and make the plan again"
        )
    failures = [
        _down_text(each.start, broker)
        for each, broker in zip(audit.replicas, brokers, strict=False)
    ]
    if repairable:
        return f"{'; '.join(failures)}. {_REPAIR_FIRST}"
    if len(failures) != 1:
        return f"no copy comes up: {'; '.join(failures)}. Repair one and make the plan again"
    return (
        f"{failures[0]}. If another broker has the partition, move its directory out of the log "
        "directory, keep it, and make the plan again; if none has, repair the file"
    )


def put_back_text(audit: PartitionAudit) -> str:
    """Where the folder belongs of a partition whose copies are all on other brokers."""
    folder = f"move the folder {audit.topic}-{audit.partition}"
    if here := _put_back_on(audit):
        return (
            f"{folder} to a log directory of {joined_ids(here[:1])}, to which the metadata log "
            "assigns it"
        )
    assigned = _assigned(audit)
    which = joined_ids(assigned)
    return (
        f"{folder} aside. The metadata log assigns it to {which}, of which no log directory was "
        f"supplied: put the folder into one of {joined_ids(assigned[:1])}, formatted if it is "
        f"new, before {which} {'starts' if len(assigned) == 1 else 'start'}"
    )


def _put_back_on(audit: PartitionAudit) -> tuple[int, ...]:
    """The assigned brokers that were supplied, the one that the controller elects first."""
    return tuple(each for each in _assigned(audit) if each in audit.lacking)


def _assigned(audit: PartitionAudit) -> tuple[int, ...]:
    """The replicas by the metadata log: the leader, then those in sync, come first."""
    known = audit.membership
    if known is None:
        return ()
    ordered = dict.fromkeys((known.leader, *known.isr, *known.elr, *known.replicas))
    return tuple(each for each in ordered if each in known.replicas)


def _down_text(start: Recovery | LocatedError | None, broker: int) -> str:
    if not isinstance(start, Recovery):
        return f"the start of broker {broker} cannot be predicted"
    whose = "the log directory of " if start.outcome is StartOutcome.DIRECTORY_OFFLINE else ""
    return f"{whose}broker {broker} does not come up: {start.reason}"
