"""KL-705, KL-706 and KL-711: follows transactions and their markers through one replica.

A leader refuses each of these batches, unless it has lost the state of its producers. Only logs are
followed that no cleaner has touched (T05), without damage and gaps. Source: Kafka 4.4,
ProducerAppendInfo#checkProducerEpoch, #checkCoordinatorEpoch and #appendDataBatch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.catalogue.transaction_rules import (
    DATA_AFTER_MARKER,
    PLAIN_WRITE_IN_TRANSACTION,
    ZOMBIE_MARKER,
)
from kafkalog_reader.audits.integrity.producer_check import ProducerCheck
from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types, coordinator_epochs
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.scan.batch_run import BatchRun

_NONE: Final = -1
_PROBLEMS: Final = {
    DATA_AFTER_MARKER: "has a lower producer epoch than a marker before it",
    PLAIN_WRITE_IN_TRANSACTION: "is not transactional, but its producer has an open transaction",
    ZOMBIE_MARKER: "is a marker with a lower epoch than a marker of its producer before it",
}


@dataclass(frozen=True, slots=True)
class _Producer:
    """What is known of a producer after the batches so far; -1 without a marker."""

    marker_epoch: int
    coordinator_epoch: int
    is_open: bool


_UNKNOWN: Final = _Producer(_NONE, _NONE, is_open=False)


class MarkerCheck(ProducerCheck[_Producer]):
    """Follows the transactions of one replica from segment to segment."""

    def __init__(self, replica: Replica) -> None:
        super().__init__(replica, _PROBLEMS)
        self._open: set[int] = set()

    def lose_track(self) -> None:
        super().lose_track()
        self._open.clear()

    def _follow(self, run: BatchRun) -> None:
        if not (run.summary.attributes & TRANSACTIONAL_BIT or self._open):
            return
        is_ours = (run.attributes & TRANSACTIONAL_BIT != 0) & (run.producer_id >= 0)
        ours = {*np.unique(run.producer_id[is_ours]).tolist(), *self._open}
        is_ours |= np.isin(run.producer_id, np.array(list(ours), np.int64))
        rows = np.flatnonzero(is_ours)
        if not len(rows):
            return
        rows = rows[np.argsort(run.producer_id[rows], kind="stable")]
        starts = np.flatnonzero(np.diff(run.producer_id[rows], prepend=_NONE - 1))
        is_control = run.attributes[rows] & CONTROL_BIT != 0
        is_marker = np.zeros(len(rows), np.bool_)
        types = control_types(run, rows[is_control])
        is_marker[is_control] = (types == ABORT) | (types == COMMIT)
        coordinators = np.full(len(rows), _NONE, np.int64)
        coordinators[is_marker] = coordinator_epochs(run, rows[is_marker])
        batches = _Batches(
            rows=rows,
            first=np.repeat(starts, np.diff(starts, append=len(rows))),
            is_marker=is_marker,
            is_plain=~is_control & (run.attributes[rows] & TRANSACTIONAL_BIT == 0),
            is_data=~is_control & (run.attributes[rows] & TRANSACTIONAL_BIT != 0),
            epochs=run.producer_epoch[rows].astype(np.int64),
            coordinators=coordinators,
        )
        known = [
            self._producers.get(each, _UNKNOWN) for each in run.producer_id[rows[starts]].tolist()
        ]
        self._judge(run, batches, starts, known)

    def _judge(
        self, run: BatchRun, batches: _Batches, starts: NDArray[np.intp], known: list[_Producer]
    ) -> None:
        owner = np.searchsorted(starts, batches.first)
        carried = np.array([(e.marker_epoch, e.coordinator_epoch, e.is_open) for e in known])
        before, through = batches.last(batches.is_marker)
        epoch = np.where(before < 0, carried[owner, 0], batches.epochs[before])
        coordinator = np.where(before < 0, carried[owner, 1], batches.coordinators[before])
        decides, ends = batches.last(batches.is_marker | batches.is_data)
        is_open = np.where(decides < 0, carried[owner, 2] != 0, batches.is_data[decides])
        falls = (batches.coordinators < coordinator) & (batches.coordinators >= 0)
        for code, wrong in (
            (DATA_AFTER_MARKER, batches.is_data & (batches.epochs < epoch)),
            (PLAIN_WRITE_IN_TRANSACTION, batches.is_plain & is_open),
            (ZOMBIE_MARKER, batches.is_marker & ((batches.epochs < epoch) | falls)),
        ):
            found = np.flatnonzero(wrong)
            if not len(found):
                continue
            first = int(found[np.argmin(batches.rows[found])])
            evidence = {"markerEpoch": int(epoch[first])}
            if code == ZOMBIE_MARKER:
                evidence["coordinatorEpoch"] = int(batches.coordinators[first])
                evidence["coordinatorEpochBefore"] = int(coordinator[first])
            row = int(batches.rows[first])
            self._noted.note(code, self._file, run, row, count=len(found), **evidence)
        self._remember(run, batches, starts, carried, through, ends)

    def _remember(
        self,
        run: BatchRun,
        batches: _Batches,
        starts: NDArray[np.intp],
        carried: NDArray[np.int64],
        through: NDArray[np.intp],
        ends: NDArray[np.intp],
    ) -> None:
        """Keep what is known of each producer after its last batch of the window."""
        lasts = np.append(starts[1:], len(batches.rows)) - 1
        marker, decides = through[lasts], ends[lasts]
        epoch = np.where(marker < 0, carried[:, 0], batches.epochs[marker])
        coordinator = np.where(marker < 0, carried[:, 1], batches.coordinators[marker])
        is_open = np.where(decides < 0, carried[:, 2] != 0, batches.is_data[decides])
        producers = run.producer_id[batches.rows[starts]]
        columns = (each.tolist() for each in (producers, epoch, coordinator, is_open))
        for producer_id, of_marker, of_coordinator, stays_open in zip(*columns, strict=True):
            self._producers[producer_id] = _Producer(of_marker, of_coordinator, stays_open)
            (self._open.add if stays_open else self._open.discard)(producer_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batches:
    """Batches of a window by producer, each producer's in log order.

    Attributes:
        rows: their rows of the run.
        first: number of the first batch of the same producer.
        coordinators: coordinator epochs of markers; -1 for others.
    """

    rows: NDArray[np.intp]
    first: NDArray[np.intp]
    is_marker: NDArray[np.bool_]
    is_plain: NDArray[np.bool_]
    is_data: NDArray[np.bool_]
    epochs: NDArray[np.int64]
    coordinators: NDArray[np.int64]

    def last(self, kind: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For each batch the last one of a kind of its producer before it, and up to it; or -1."""
        numbers = np.arange(len(kind))
        through = np.maximum.accumulate(np.where(kind, numbers, _NONE))
        before = np.append(_NONE, through[:-1])
        return (
            np.where(before < self.first, _NONE, before),
            np.where(through < self.first, _NONE, through),
        )
