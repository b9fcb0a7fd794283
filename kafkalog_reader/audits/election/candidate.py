"""The replicas of an election."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.audits.comparison.committed import CommitBounds
    from kafkalog_reader.audits.log.epoch_log import EpochLog
    from kafkalog_reader.audits.log.replica import Replica


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A replica of an election, as leader or follower.

    Attributes:
        bounds: which of its records were committed: none from ``outvoted_from`` on.
        outvoted_from: the first offset at which other copies outvote its content; None if none do.
        log: its log after its broker's start; None if the broker or the log directory does not
            start.
        log_start_offset, log_end_offset: on disk, before the start.
        records_cut_at_start: client records that the start removes.
        last_leader_epoch: of the last batch.
        unreplaceable: damaged batches that its log still has after the start, and that no other
            replica has intact.
        damaged: all damaged batches here, even if another copy has them intact.
        unreadable_from: the first damage that its log still has after the start, below its end:
            consumers do not get past it, and a new copy of the log ends there.
        damaged_until: one past the last such damage; 0 if there is none.
        cut_transactions: first offsets of the transactions that the log's end cuts off from their
            marker, which another disk has: they would stay open for ever (KL-713).
        hidden: offsets [first, next) between sound batches, where damage hides what was there.
        is_start_lost: whether retention cannot have deleted what is missing at the beginning: the
            topic is only compacted or kept for ever, and no request moved the log start.
        is_assigned: False where the metadata log assigns the partition to other brokers: its start
            sets the copy aside, and it cannot be elected.
        is_member: whether it is in the ISR or an eligible leader replica; None without cluster
            metadata.
        records: counts the client records in a range of offsets if bounds alone do not give it.
        batch_start: returns the base offset of the first batch that a truncation to an offset cuts.
    """

    replica: Replica
    bounds: CommitBounds
    log: EpochLog | None
    log_start_offset: int
    log_end_offset: int
    last_leader_epoch: int
    unreplaceable: int
    records: Callable[[int, int], int] = field(compare=False)
    batch_start: Callable[[int], int | None] = field(compare=False)
    records_cut_at_start: int = 0
    damaged: int = 0
    unreadable_from: int | None = None
    damaged_until: int = 0
    cut_transactions: tuple[int, ...] = ()
    hidden: tuple[tuple[int, int], ...] = ()
    is_start_lost: bool = False
    is_assigned: bool = True
    is_member: bool | None = None
    outvoted_from: int | None = None

    def __repr__(self) -> str:
        return f"<Candidate {self.name}: offsets {self.log_start_offset} to {self.log_end_offset}>"

    @property
    def name(self) -> str:
        """The replica for people."""
        return self.replica.name

    @property
    def broker_id(self) -> int | None:
        return self.replica.broker_id

    @property
    def hides_committed(self) -> bool:
        """Whether damage in its log stops consumers before what is, or may be, committed."""
        return self.unreadable_from is not None and self.unreadable_from < self.bounds.possible
