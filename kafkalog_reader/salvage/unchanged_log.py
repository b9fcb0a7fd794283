"""A log that goes back to the place of its copies: every batch byte for byte.

Leader epochs, producers and transactions go on as before, so the broker also needs what it keeps
about them besides the batches: producer snapshots, transaction indexes and leader epochs. Source:
Kafka 4.0, LogLoader, LogSegment#recover, ProducerStateManager, LeaderEpochFileCache.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.audits.integrity.producer_replay import ProducerReplay
from kafkalog_reader.audits.integrity.transaction_spans import ENDED, NONE, TransactionSpans
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.decode.control_type import ABORT, NO_TYPE
from kafkalog_reader.errors import LocatedError, LogPosition
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.format.producer_snapshot import parse_producer_snapshot
from kafkalog_reader.io.checkpoints import (
    producer_snapshot_path,
    read_leader_epochs,
    read_producer_snapshot,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets
from kafkalog_reader.salvage.batch_bytes import batch_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.format.checkpoint import LeaderEpochEntry
    from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.scan.batch_run import BatchRun

MAX_NOTED: Final = 1000
"""Transactions in the manifest; all are counted."""
_NEVER: Final = 2**63 - 1


class UnchangedLog:
    """The content of a log that keeps its batches, and what follows from them.

    Args:
        copies: their producer snapshots say what batches that are missing, or were deleted, would
            have said; their leader epochs are kept as far as the batches agree.
        lost_aborts: producer ids and offsets of abort markers that no copy has readable.
    """

    is_in_place: Final = True

    def __init__(
        self, copies: Sequence[PartitionDirectory], lost_aborts: Iterable[tuple[int, int]]
    ) -> None:
        self._copies = copies
        self._lost_aborts = lost_aborts
        self._snapshots = np.array(sorted(set(_snapshot_offsets(copies))), np.int64)
        self._producers = ProducerReplay()
        self._spans = TransactionSpans()
        self._ended: list[NDArray[Any]] = []
        self._reached: int | None = None
        self._is_whole = False
        self._epochs = LeaderEpochCache()
        self._epoch_ends: dict[int, int] = {}

    def kept(self, run: BatchRun, records: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Every batch."""
        del records
        return np.ones(run.count, np.bool_)

    def content(self, run: BatchRun) -> NDArray[np.uint8]:
        """The batches of a run one after another; they follow those of the last call."""
        borders = np.searchsorted(run.base_offset, self._snapshots)
        cuts = np.unique(np.concatenate(([0], borders, [run.count])))
        for first, stop in pairwise(cuts.tolist()):
            self._reach(int(run.base_offset[first]))
            self._producers.apply(run, first, stop)
            ended = self._spans.follow(run.taken(slice(first, stop)))
            if len(ended):
                self._ended.append(ended)
            due = run.last_offset[first : stop - 1] + 1
            self._is_whole &= bool((run.base_offset[first + 1 : stop] == due).all())
            self._reached = int(run.last_offset[stop - 1]) + 1
        self._note_epochs(run)
        return batch_bytes(run)

    def producers(self, offset: int) -> list[ProducerSnapshotEntry]:
        """The producers before ``offset``, which no batch so far has reached."""
        self._reach(offset)
        return self._producers.entries()

    def leader_epochs(self, first_offset: int) -> tuple[LeaderEpochEntry, ...]:
        """The leader epochs of the log, by its batches, and by the copies where they agree."""
        starts = {each.leader_epoch: each.start_offset for each in self._epochs.entries}
        for copy in self._copies:
            for row in _leader_epochs(copy):
                epoch, start = row.leader_epoch, row.start_offset
                if self._agrees(epoch, start):
                    starts[epoch] = min(start, starts.get(epoch, start))
        cache = LeaderEpochCache().assign_all(sorted(starts.items()))
        end = self._reached or 0
        return cache.truncate_from_end(end + 1).truncate_from_start(first_offset).entries

    def transaction_indexes(self, bases: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield each segment that has aborted transactions by its base offset, and its index."""
        ended = self._transactions()
        ends = np.maximum.accumulate(ended["offset"]) if len(ended) else ended["offset"]
        aborts = ended[ended["type"] == ABORT]
        aborts = aborts[np.argsort(aborts["offset"], kind="stable")]
        entries = np.zeros(len(aborts), TRANSACTION_INDEX_ENTRY.dtype)
        entries["producer_id"] = aborts["producer_id"]
        entries["first_offset"] = aborts["first_offset"]
        entries["last_offset"] = aborts["offset"]
        # The first transaction that ends later is the one that holds the last stable offset back.
        oldest = np.searchsorted(ends, aborts["offset"], side="right")
        firsts = np.append(ended["first_offset"], _NEVER)[oldest]
        entries["last_stable_offset"] = np.minimum(firsts, aborts["offset"] + 1)
        owners = np.searchsorted(bases, aborts["offset"], side="right") - 1
        for number in np.unique(owners).tolist():
            yield bases[number], entries[owners == number].tobytes()

    def notes(self) -> dict[str, Any]:
        """For the manifest: the transactions of the log."""
        ended = self._transactions()
        still_open = sorted(self._spans.open.items(), key=lambda each: each[1])
        unmarked = _inside(self._lost_aborts, ended)
        return {
            "abortedTransactions": int((ended["type"] == ABORT).sum()),
            "openTransactions": {
                "count": len(still_open),
                "transactions": [
                    {"producerId": producer_id, "firstOffset": first}
                    for producer_id, first in still_open[:MAX_NOTED]
                ],
            },
            "lostAbortMarkers": {
                "count": len(unmarked),
                "markers": [
                    {"producerId": producer_id, "offset": offset}
                    for producer_id, offset in unmarked[:MAX_NOTED]
                ],
            },
        }

    def _transactions(self) -> NDArray[Any]:
        """Those with data in the log by their first offset; open ones end at ``_NEVER``."""
        still_open = np.zeros(len(self._spans.open), ENDED)
        still_open["producer_id"] = list(self._spans.open)
        still_open["first_offset"] = list(self._spans.open.values())
        still_open["offset"], still_open["type"] = _NEVER, NO_TYPE
        ended = np.concatenate([*self._ended, still_open])
        ended = ended[ended["first_offset"] != NONE]
        in_order: NDArray[Any] = ended[np.argsort(ended["first_offset"], kind="stable")]
        return in_order

    def _reach(self, offset: int) -> None:
        """Before the batch at an offset: where batches are missing, a snapshot says more."""
        first = offset if self._reached is None else self._reached
        self._is_whole = first == offset and (self._is_whole or offset == 0)
        if self._is_whole:
            return
        stop = int(np.searchsorted(self._snapshots, offset, side="right"))
        start = int(np.searchsorted(self._snapshots, first))
        for at in self._snapshots[start:stop][::-1].tolist():
            entries = _fullest_snapshot(self._copies, at)
            if entries is not None:
                self._producers.begin(entries, is_complete=True)
                self._spans.open = {
                    each.producer_id: each.current_transaction_first_offset
                    for each in entries
                    if each.current_transaction_first_offset != NONE
                }
                self._is_whole = at == offset
                return

    def _note_epochs(self, run: BatchRun) -> None:
        rows = np.flatnonzero(run.magic == 2)
        if not len(rows):
            return
        epochs = run.leader_epoch[rows]
        firsts = np.flatnonzero(np.append(True, epochs[1:] != epochs[:-1]))
        lasts = np.append(firsts[1:], len(rows)) - 1
        begun = zip(epochs[firsts].tolist(), run.base_offset[rows[firsts]].tolist(), strict=True)
        self._epochs = self._epochs.assign_all(each for each in begun if each[0] >= 0)
        ends = run.last_offset[rows[lasts]] + 1
        self._epoch_ends.update(zip(epochs[lasts].tolist(), ends.tolist(), strict=True))

    def _agrees(self, epoch: int, start: int) -> bool:
        """Whether older epochs end before this one begins, and newer batches follow."""
        before = (end for each, end in self._epoch_ends.items() if each < epoch)
        after = (e.start_offset for e in self._epochs.entries if e.leader_epoch >= epoch)
        return max(before, default=0) <= start <= min(after, default=_NEVER)


def _inside(
    lost_aborts: Iterable[tuple[int, int]], transactions: NDArray[Any]
) -> list[tuple[int, int]]:
    """Markers past which a transaction of their producer goes on, because they are lost."""
    by_producer = transactions[np.argsort(transactions["producer_id"], kind="stable")]
    producers, firsts = by_producer["producer_id"], by_producer["first_offset"]
    found = []
    for producer_id, offset in sorted(lost_aborts):
        start, stop = np.searchsorted(producers, [producer_id, producer_id + 1])
        before = start + np.searchsorted(firsts[start:stop], offset) - 1
        if before >= start and offset < by_producer["offset"][before]:
            found.append((producer_id, offset))
    return found


def _snapshot_offsets(copies: Iterable[PartitionDirectory]) -> Iterator[int]:
    for copy in copies:
        try:
            yield from producer_snapshot_offsets(copy)
        except LocatedError:  # the salvage reports a directory that cannot be listed
            continue


def _fullest_snapshot(
    copies: Iterable[PartitionDirectory], offset: int
) -> tuple[ProducerSnapshotEntry, ...] | None:
    """The producers in the snapshots of an offset: a broker may have begun with an empty one."""
    found: tuple[ProducerSnapshotEntry, ...] | None = None
    for copy in copies:
        try:
            content = read_producer_snapshot(copy.path, offset, context=copy.context)
            if content is None:
                continue
            where = LogPosition(shown(producer_snapshot_path(copy.path, offset)))
            entries = parse_producer_snapshot(content, where)
        except LocatedError:  # a finding of verify; another copy may have it
            continue
        if found is None or len(entries) > len(found):
            found = entries
    return found


def _leader_epochs(copy: PartitionDirectory) -> tuple[LeaderEpochEntry, ...]:
    try:
        rows = read_leader_epochs(copy.path, context=copy.context)
    except LocatedError:  # a finding of verify; the batches still speak for themselves
        return ()
    return LeaderEpochCache.loaded(rows or ()).entries
