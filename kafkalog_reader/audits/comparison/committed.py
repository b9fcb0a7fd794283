"""Decides which records of a replica are committed: certainly, possibly, or not.

No file states the current high watermark: it is an interval, per replica and per branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.lineage import Lineage, LineageFork, lineage_fork

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kafkalog_reader.audits.log.replica import Replica


_NO_BOUND: Final[int] = (1 << 63) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The offsets and leader epochs of a replica's log."""

    log_start_offset: int
    log_end_offset: int
    high_watermark_low: int
    lineage: Lineage
    last_leader_epoch: int | None
    """Of the last batch."""
    leader_epochs: frozenset[int]
    """From its batches and its epoch checkpoint, including entries without records."""
    data: Lineage = field(default_factory=Lineage)
    """From the batches alone."""
    lost_its_end: bool = False
    """Whether it ends in part of a batch or in zeros: it may once have held more."""

    @property
    def greatest_leader_epoch(self) -> int | None:
        return max(self.leader_epochs, default=None)

    @property
    def last_epoch(self) -> int:
        """The leader epoch of the last batch; -1 if there is none."""
        return -1 if self.last_leader_epoch is None else self.last_leader_epoch

    @property
    def is_empty(self) -> bool:
        return self.log_start_offset >= self.log_end_offset

    def without_misread(self, misread: Mapping[int, int | None]) -> History:
        """The history without leader epochs that only a damaged batch header has.

        Args:
            misread: see ``Comparison.misread_epochs``.
        """
        last = self.last_leader_epoch
        return replace(
            self,
            last_leader_epoch=last if last is None else misread.get(last, last),
            leader_epochs=self.leader_epochs.difference(misread),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitBounds:
    """Bounds of one replica: records below ``known`` are committed, below ``possible`` they may be.

    Attributes:
        superseded: where the history of the greatest leader epoch diverges from this one; None if
            it does not. What that leader lost at its end since does not count. An unclean election
            may have left committed records above it.
        possible: the smaller of ``high`` and ``superseded``, at least ``known``.
        high: the upper bound of the high watermark: the log end, or the end of the shortest in-sync
            log if the in-sync replicas are known, and have this history; at least ``known``.
        log_end: the log end offset of the replica.
    """

    known: int
    possible: int
    high: int
    log_end: int
    superseded: int | None

    def below(self, offset: int | None) -> CommitBounds:
        """The same, but no record from an offset on was committed; None leaves all as it is."""
        if offset is None:
            return self
        return replace(
            self,
            known=min(self.known, offset),
            possible=min(self.possible, offset),
            high=min(self.high, offset),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitCount:
    """Numbers of records, by how certain it is that they were committed.

    Attributes:
        damaged: the maximum number of records in damaged batches, by their headers, and between
            sound batches; they are readable on no copy, and not in the other numbers.
        damaged_known, damaged_possible: how many of these were committed, certainly and perhaps.
    """

    known: int = 0
    possible: int = 0
    only_if_unclean: int = 0
    uncommitted: int = 0
    damaged: int = 0
    damaged_known: int = 0
    damaged_possible: int = 0

    @property
    def total(self) -> int:
        return self.known + self.possible + self.only_if_unclean + self.uncommitted

    def __bool__(self) -> bool:
        """Whether there is any record, or a damaged batch that may hold some."""
        return bool(self.total or self.damaged)

    def __add__(self, other: CommitCount) -> CommitCount:
        return CommitCount(
            known=self.known + other.known,
            possible=self.possible + other.possible,
            only_if_unclean=self.only_if_unclean + other.only_if_unclean,
            uncommitted=self.uncommitted + other.uncommitted,
            damaged=min(self.damaged + other.damaged, _NO_BOUND),
            damaged_known=min(self.damaged_known + other.damaged_known, _NO_BOUND),
            damaged_possible=min(self.damaged_possible + other.damaged_possible, _NO_BOUND),
        )

    def __sub__(self, other: CommitCount) -> CommitCount:
        """Without the records of a part."""
        return CommitCount(
            known=max(0, self.known - other.known),
            possible=max(0, self.possible - other.possible),
            only_if_unclean=max(0, self.only_if_unclean - other.only_if_unclean),
            uncommitted=max(0, self.uncommitted - other.uncommitted),
            damaged=max(0, self.damaged - other.damaged),
            damaged_known=max(0, self.damaged_known - other.damaged_known),
            damaged_possible=max(0, self.damaged_possible - other.damaged_possible),
        )

    @property
    def only_sound(self) -> CommitCount:
        """Without damaged batches."""
        return replace(self, damaged=0, damaged_known=0, damaged_possible=0)

    @property
    def only_damaged(self) -> CommitCount:
        """The counts of damaged batches only."""
        return CommitCount(
            damaged=self.damaged,
            damaged_known=self.damaged_known,
            damaged_possible=self.damaged_possible,
        )

    @property
    def may_be_committed(self) -> bool:
        """Whether any record is committed, or may be."""
        return bool(self.known or self.possible or self.damaged_known or self.damaged_possible)

    @property
    def state(self) -> str:
        """The strongest state that any of the records has; one may be in a damaged batch."""
        if self.known or self.damaged_known:
            return "known"
        if self.possible or self.damaged_possible:
            return "possible"
        return "onlyIfUnclean" if self.only_if_unclean else "none"


def fork_of(one: History, other: History) -> LineageFork:
    """Where the lineages of two replicas diverge in their common range."""
    return lineage_fork(
        one.lineage,
        other.lineage,
        max(one.log_start_offset, other.log_start_offset),
        min(one.log_end_offset, other.log_end_offset),
        data=(one.data, other.data),
    )


def newest_replica(
    histories: Mapping[Replica, History], named: Replica | None = None
) -> Replica | None:
    """The replica with the greatest leader epoch; of several, the one with the longest log.

    ``named`` is the leader of a newer epoch according to the cluster metadata. A leader that was
    elected and restarted before it wrote has lost its own entry, so the greatest epoch in the logs
    may be that of an abandoned branch.
    """
    if named is not None:
        return named
    known = [replica for replica, history in histories.items() if history.leader_epochs]
    return max(
        known,
        key=lambda each: (max(histories[each].leader_epochs), histories[each].log_end_offset),
        default=None,
    )


def superseded_at(history: History, newest: History) -> int | None:
    """The offset from which the newest leader's history lacks this replica's records.

    A cleanly elected leader holds all that was committed before, and the old leader commits nothing
    afterwards. Only the greatest leader epoch proves this: a lower one may be on an abandoned
    branch.
    """
    if newest.greatest_leader_epoch in history.leader_epochs or history.is_empty:
        return None
    return _left_at(history, newest)


def _left_at(history: History, newest: History) -> int | None:
    fork = fork_of(history, newest)
    return fork.offset if history.log_end_offset > fork.offset else None


def _beyond_lost_end(
    superseded: int | None, history: History, newest: Replica, of_newest: History
) -> int | None:
    """Where a history goes on after all that the newest leader held, before it lost its end.

    No leader was elected without it: its log held all that is below its high watermark.
    """
    if superseded is None or superseded != of_newest.log_end_offset:
        return superseded
    reached = max(superseded, newest.checkpointed_high_watermark or 0)
    return reached if history.log_end_offset > reached else None


def commit_bounds(
    histories: Mapping[Replica, History],
    in_sync: Collection[Replica] | None = None,
    named: Replica | None = None,
    unclean_epoch: int | None = None,
) -> dict[Replica, CommitBounds]:
    """The bounds of every replica of a partition.

    Args:
        histories: one for each replica.
        in_sync: the in-sync replicas; None if unknown. A record that one of them lacks is not
            committed, unless its log once had more: its end is lost, or its high watermark is
            above its log end, or not known; or it may have another history, because its
            ``leader-epoch-checkpoint`` is missing. Of records that the newest leader has left
            behind they prove nothing: they may be in sync without them since an unclean election.
        named: the leader of an epoch newer than any in the logs, if the cluster metadata has one.
        unclean_epoch: that of the last unclean election, which proves nothing about records that
            were there before; None if none is known.
    """
    ends = (
        histories[replica].log_end_offset
        for replica in in_sync or ()
        if not histories[replica].lost_its_end
        and replica.epoch_entries is not None
        and (row := replica.checkpointed_high_watermark) is not None
        and row <= histories[replica].log_end_offset
    )
    in_sync_end = min(ends, default=_NO_BOUND)
    newest = newest_replica(histories, named)
    left_at = {
        replica: None
        if newest is None or replica == named
        else superseded_at(history, histories[newest])
        if named is None
        else _left_at(history, histories[newest])
        for replica, history in histories.items()
    }
    if newest is not None:
        left_at = {
            replica: _beyond_lost_end(superseded, histories[replica], newest, histories[newest])
            for replica, superseded in left_at.items()
        }
    unclean_elections_happen = any(
        superseded is not None and histories[replica].high_watermark_low > superseded  # KL-514
        for replica, superseded in left_at.items()
    )
    bounds = {}
    for replica, superseded in left_at.items():
        history = histories[replica]
        end = history.log_end_offset
        high = end if superseded is not None else min(end, in_sync_end)
        known = min(history.high_watermark_low, end)
        possible = high
        if superseded is not None and (unclean_epoch or -1) > history.last_epoch:
            high = possible = end
        elif superseded is not None and not unclean_elections_happen:
            possible = min(high, superseded)
        bounds[replica] = CommitBounds(
            known=known,
            possible=max(known, possible),
            high=max(known, high),
            log_end=end,
            superseded=superseded,
        )
    return bounds
