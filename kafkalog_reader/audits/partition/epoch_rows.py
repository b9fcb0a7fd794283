"""The rows that a ``leader-epoch-checkpoint`` should have, where the batches prove them."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.integrity.file_repair import Rewrite, Write
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.log.moved_start import possible_log_start
from kafkalog_reader.io.names import LEADER_EPOCHS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.log.epoch_log import EpochLog
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_VERSION: Final = "0"
"""First line of a checkpoint, before the number of rows."""
MAX_RISE: Final = 16
"""No checksum covers a leader epoch: where nothing else names it, a larger rise is doubtful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRows:
    """What the file should hold, which differs from what it holds.

    Attributes:
        rows: each leader epoch with its first offset.
        is_new: whether there is no file.
    """

    rows: tuple[tuple[int, int], ...]
    is_new: bool

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the file."""
        body = [f"{epoch} {start}" for epoch, start in self.rows]
        return (_VERSION, str(len(body)), *body)

    def loaded(self, log: EpochLog) -> EpochLog:
        """A log after its broker's start with this file."""
        cache = LeaderEpochCache().assign_all(self.rows).truncate_from_end(log.log_end_offset)
        return replace(log, cache=cache.truncate_from_start(log.log_start_offset))

    def repair(self, replica: ReplicaAudit) -> Write | Rewrite:
        """How to write the file of a replica."""
        path = posixpath.join(replica.directory.path.rstrip("/"), LEADER_EPOCHS)
        return (Write if self.is_new else Rewrite)(path=path, lines=self.lines)


def epoch_rows(audit: PartitionAudit, replica: ReplicaAudit) -> EpochRows | None:
    """The rows to write; None if the file has them already, or a batch's epoch is in doubt.

    Nor where the file is missing or empty and the next start reads the log again: after an unclean
    stop it does so from the recovery point on, and writes the file. An epoch that begins at the log
    end has no batches yet, and keeps its row. A first row that may name a newer log start stays
    where it is.
    """
    found = _proved_rows(audit, replica)
    return None if found is None or _start_writes(replica, found) else found


def are_rebuilt(audit: PartitionAudit, replica: ReplicaAudit) -> bool:
    """Whether the file is missing or empty, and the next start writes it from the batches."""
    found = _proved_rows(audit, replica)
    return found is not None and _start_writes(replica, found)


def _start_writes(replica: ReplicaAudit, found: EpochRows) -> bool:
    log = None if replica.candidate is None else replica.candidate.log
    has_rows = bool(replica.files.epoch_entries)
    is_lost = found.is_new or (replica.files.has_sound_epochs and not has_rows)
    return is_lost and log is not None and found.loaded(log).cache == log.cache


def _proved_rows(audit: PartitionAudit, replica: ReplicaAudit) -> EpochRows | None:
    if replica not in audit.replicas or _is_doubtful(audit, replica):
        return None
    entries = replica.files.epoch_entries
    data, end = replica.history.data, replica.log_end
    elected = (*_without_records(replica),)
    moved = possible_log_start(replica.files, data.intervals, end)
    if moved == end and elected:
        moved = 0  # a leader was elected there, whose file had been lost
    kept = data.clipped(moved, end) if moved else data
    rows = (*kept.epoch_starts, *elected)
    if (
        not rows
        or not data.intervals
        or [(e.leader_epoch, e.start_offset) for e in entries or ()] == [*rows]
    ):
        return None
    return EpochRows(rows=rows, is_new=entries is None and replica.files.has_sound_epochs)


def _without_records(replica: ReplicaAudit) -> Iterator[tuple[int, int]]:
    """The row of an epoch whose leader was elected and wrote nothing."""
    latest, last = replica.files.cache.latest, replica.history.last_leader_epoch
    if (
        latest is not None
        and latest.start_offset == replica.log_end
        and (last is None or latest.leader_epoch > last)
    ):
        yield latest.leader_epoch, latest.start_offset


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
