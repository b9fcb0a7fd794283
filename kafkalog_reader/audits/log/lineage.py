"""Which leader epoch wrote which offsets of a replica, and where two replicas diverge.

A lineage is a step function with few steps. It is exact where batches exist; the
``leader-epoch-checkpoint`` fills the ranges that compaction emptied.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache


class EpochPiece(NamedTuple):
    """The offsets [first, next) were written under one leader epoch."""

    leader_epoch: int
    first_offset: int
    next_offset: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """Pieces by rising offset, without overlap; the epoch of uncovered offsets is unknown."""

    pieces: tuple[EpochPiece, ...] = ()

    def epoch_at(self, offset: int) -> int | None:
        """The leader epoch at an offset; None if unknown."""
        index = bisect_right(self.pieces, offset, key=lambda piece: piece.first_offset) - 1
        if index < 0 or offset >= self.pieces[index].next_offset:
            return None
        return self.pieces[index].leader_epoch

    @property
    def greatest_leader_epoch(self) -> int | None:
        """The greatest leader epoch; None without pieces."""
        return max((piece.leader_epoch for piece in self.pieces), default=None)

    @property
    def rising(self) -> Lineage:
        """The lineage without pieces that a lower epoch follows, whose epoch field is damaged."""
        kept: list[EpochPiece] = []
        for piece in reversed(self.pieces):
            if not kept or piece.leader_epoch <= kept[-1].leader_epoch:
                kept.append(piece)
        return Lineage(tuple(reversed(kept)))

    @property
    def epoch_starts(self) -> tuple[tuple[int, int], ...]:
        """The rows of a ``leader-epoch-checkpoint``: each leader epoch and its first offset."""
        starts: dict[int, int] = {}
        for piece in self.rising.pieces:
            starts.setdefault(piece.leader_epoch, piece.first_offset)
        return tuple(starts.items())

    def clipped(self, first_offset: int, next_offset: int) -> Lineage:
        """The part of the lineage inside [first, next)."""
        return Lineage(
            tuple(
                EpochPiece(
                    piece.leader_epoch,
                    max(piece.first_offset, first_offset),
                    min(piece.next_offset, next_offset),
                )
                for piece in self.pieces
                if piece.first_offset < next_offset and piece.next_offset > first_offset
            )
        )


class LineageBuilder:
    """Builds the lineage of a replica from its batches, in log order."""

    def __init__(self) -> None:
        self._pieces: list[EpochPiece] = []

    def add(self, leader_epoch: int, first_offset: int, next_offset: int) -> None:
        """Append a stretch of batches of one epoch; the first offset of an epoch begins its piece.

        An offset that compaction emptied between two batches of one epoch belongs to the epoch.
        """
        if self._pieces and self._pieces[-1].leader_epoch == leader_epoch:
            first_offset = self._pieces.pop().first_offset
        self._pieces.append(EpochPiece(leader_epoch, first_offset, next_offset))

    def build(self) -> Lineage:
        """The lineage so far, without batches of formats that have no leader epochs (−1)."""
        return Lineage(tuple(piece for piece in self._pieces if piece.leader_epoch >= 0))


def declared_lineage(
    cache: LeaderEpochCache, log_start_offset: int, log_end_offset: int
) -> Lineage:
    """The lineage of [log start, log end) by the epoch checkpoint: entries last to the next one."""
    ends = [*(entry.start_offset for entry in cache.entries), log_end_offset][1:]
    return Lineage(
        tuple(
            EpochPiece(entry.leader_epoch, entry.start_offset, next_offset)
            for entry, next_offset in zip(cache.entries, ends, strict=True)
            if entry.start_offset < next_offset
        )
    ).clipped(log_start_offset, log_end_offset)


def combined_lineage(data: Lineage, declared: Lineage) -> Lineage:
    """``data`` where records exist, and ``declared`` in ranges without records."""
    builder = LineageBuilder()
    for first_offset, next_offset in _cuts((data, declared)):
        leader_epoch = data.epoch_at(first_offset)
        if leader_epoch is None:
            leader_epoch = declared.epoch_at(first_offset)
        if leader_epoch is not None:
            builder.add(leader_epoch, first_offset, next_offset)
    return builder.build()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageFork:
    """Where two lineages diverge in their common range.

    Attributes:
        offset: the first offset after the last piece on which both agree; the end of the range if
            they agree everywhere.
        first_offset, next_offset: the common range; empty if one ends before the other begins.
        met_again: whether they agree again after the fork, which is impossible in sound logs
            (KL-515).
    """

    offset: int
    first_offset: int
    next_offset: int
    met_again: bool = False

    @property
    def agrees(self) -> bool:
        """Whether nothing in the common range differs."""
        return self.offset == self.next_offset

    @property
    def has_common_range(self) -> bool:
        return self.first_offset < self.next_offset


def lineage_fork(left: Lineage, right: Lineage, first_offset: int, next_offset: int) -> LineageFork:
    """Compare two lineages over [first, next); offsets unknown in one of them are skipped."""
    parted_at: int | None = None
    met_again = False
    common = (left.clipped(first_offset, next_offset), right.clipped(first_offset, next_offset))
    for start, _ in _cuts(common):
        left_epoch, right_epoch = left.epoch_at(start), right.epoch_at(start)
        if left_epoch is None or right_epoch is None:
            continue
        if left_epoch != right_epoch:
            parted_at = start if parted_at is None else parted_at
        elif parted_at is not None:
            met_again = True
    return LineageFork(
        offset=max(first_offset, next_offset) if parted_at is None else parted_at,
        first_offset=first_offset,
        next_offset=max(first_offset, next_offset),
        met_again=met_again,
    )


def _cuts(lineages: Iterable[Lineage]) -> list[tuple[int, int]]:
    """The ranges between adjacent borders of all pieces, half-open; nothing changes inside them."""
    borders = sorted(
        {
            border
            for lineage in lineages
            for piece in lineage.pieces
            for border in (piece.first_offset, piece.next_offset)
        }
    )
    return list(pairwise(borders))
