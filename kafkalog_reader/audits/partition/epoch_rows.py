"""The rows that a ``leader-epoch-checkpoint`` should have, where the batches prove them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import CHECK_HARDWARE, WRITE_EPOCHS
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.comparison.difference import DifferenceKind, NotCompared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

MAX_RISE: Final = 16
"""No checksum covers a leader epoch: where nothing else names it, a larger rise is doubtful."""
_OF_ONE_LEADER: Final = codes_with(Role.ONE_LEADER)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRows:
    """What the file should hold, which differs from what it holds.

    Attributes:
        rows: each leader epoch with its first offset.
        is_new: whether there is no file.
    """

    rows: tuple[tuple[int, int], ...]
    is_new: bool


def epoch_rows(audit: PartitionAudit, replica: ReplicaAudit) -> EpochRows | None:
    """The rows to write; None if the file has them already, or a batch's epoch is in doubt."""
    if replica not in audit.replicas or _is_doubtful(audit, replica):
        return None
    rows = replica.history.data.epoch_starts
    entries = replica.files.epoch_entries
    if not rows or [(e.leader_epoch, e.start_offset) for e in entries or ()] == [*rows]:
        return None
    return EpochRows(rows=rows, is_new=entries is None and replica.files.has_sound_epochs)


def advised_epoch_rows(
    audit: PartitionAudit, found: Iterable[Finding], severities: str
) -> dict[ReplicaAudit, EpochRows]:
    """The files that findings of some severities advise to write."""
    directories = {
        each.directory
        for each in found
        if each.severity in severities and WRITE_EPOCHS in each.actions and may_happen(audit, each)
    }
    asked = (each for each in audit.replicas if each.directory in directories)
    rows = ((each, epoch_rows(audit, each)) for each in asked)
    return {each: found_rows for each, found_rows in rows if found_rows is not None}


def with_epoch_actions(audit: PartitionAudit, each: Finding) -> Finding:
    """A finding that does not advise to write a file where ``epoch_rows`` has nothing to write."""
    if WRITE_EPOCHS not in each.actions or each.directory is None:
        return each
    replica = next((r for r in audit.replicas if r.directory == each.directory), None)
    if replica is None or epoch_rows(audit, replica) is not None:
        return each
    kept = tuple(action for action in each.actions if action != WRITE_EPOCHS)
    return replace(each, actions=kept or (CHECK_HARDWARE,))


def may_happen(audit: PartitionAudit, each: Finding) -> bool:
    """Whether a finding is about the leader to be elected, or about no particular leader.

    Problems under another leader need no action, least of all moving copies aside.
    """
    leader = dict(each.evidence).get("leader") if each.code in _OF_ONE_LEADER else None
    best = audit.elections[0].candidate if audit.elections else None
    return leader is None or best is None or leader == best.name


def _is_doubtful(audit: PartitionAudit, replica: ReplicaAudit) -> bool:
    """Whether the leader epoch of a batch may be damaged.

    It falls again, another copy has the same records under another one, or nothing explains how
    high it is.
    """
    data = replica.history.data
    if data.rising != data or isinstance(audit.comparison, NotCompared):
        return True
    if any(
        difference.kind is DifferenceKind.UNCOVERED
        and any(replica.files in side for side in difference.contents)
        for difference in audit.comparison.differences
    ):
        return True
    others = (each for each in audit.replicas if each is not replica)
    named = {epoch for each in others for epoch in each.history.leader_epochs}
    named |= {entry.leader_epoch for entry in replica.files.epoch_entries or ()}
    if audit.membership is not None:
        named.add(audit.membership.leader_epoch)
    highest = max(named, default=-1)
    before = -1
    for epoch, _ in data.epoch_starts:
        if epoch > highest and (audit.membership is not None or epoch - before > MAX_RISE):
            return True
        before = epoch
    return False
