"""KL-603 to KL-606: follows the sequence numbers of idempotent producers through one replica.

A leader accepts a batch only if it continues the sequence of its producer, and drops one that it
has. Only logs are followed that no cleaner has touched (T05), without damage and gaps, and without
what a broker may have forgotten (T22). Source: Kafka 4.4, ProducerAppendInfo#checkSequence.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.catalogue.producer_rules import (
    IDEMPOTENT_DUPLICATE,
    PRODUCER_EPOCH_REGRESSION,
    SEQUENCE_GAP,
    SEQUENCE_REGRESSION,
)
from kafkalog_reader.audits.integrity.producer_check import ProducerCheck
from kafkalog_reader.format.batch_fields import CONTROL_BIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.scan.batch_run import BatchRun

_SEQUENCES: Final = 1 << 31
_REMEMBERED: Final = 5
"""Batches of a producer that a broker compares with (ProducerStateEntry.NUM_BATCHES_TO_RETAIN)."""
_EXPIRED_MS: Final = 24 * 60 * 60 * 1000
"""``producer.id.expiration.ms``: afterwards a broker accepts any sequence."""
_PROBLEMS: Final = {
    IDEMPOTENT_DUPLICATE: "has the sequence of an earlier batch: stored twice",
    SEQUENCE_GAP: "leaves out sequence numbers: records before it are missing",
    SEQUENCE_REGRESSION: "goes back in the sequence",
    PRODUCER_EPOCH_REGRESSION: "has a lower producer epoch than the batch before it",
}


@dataclass(slots=True)
class _Producer:
    """The state of one producer id.

    Attributes:
        furthest: the greatest last sequence of this epoch.
        stray: how many records went back in the sequence since; their own numbers are unknown.
        recent: base and last sequence of the newest batches.
    """

    epoch: int
    last: int
    furthest: int
    timestamp: int
    last_offset: int
    stray: int = 0
    recent: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class SequenceCheck(ProducerCheck[_Producer]):
    """Follows the producers of one replica from segment to segment."""

    def __init__(self, replica: Replica) -> None:
        super().__init__(replica, _PROBLEMS)

    def _follow(self, run: BatchRun) -> None:
        if run.summary.greatest_producer_epoch < 0:
            return
        is_ours = (run.producer_id >= 0) & (run.base_sequence >= 0)
        is_ours &= run.attributes & CONTROL_BIT == 0
        rows = np.flatnonzero(is_ours)
        if not len(rows):
            return
        rows = rows[np.argsort(run.producer_id[rows], kind="stable")]
        producers = run.producer_id[rows]
        first = run.base_sequence[rows].astype(np.int64)
        last = (first + run.last_offset_delta[rows]) % _SEQUENCES
        epochs = run.producer_epoch[rows]
        goes_on = np.zeros(len(rows), np.bool_)
        goes_on[1:] = (
            (producers[1:] == producers[:-1])
            & (epochs[1:] == epochs[:-1])
            & (first[1:] == (last[:-1] + 1) % _SEQUENCES)
        )
        for start, stop in _stretches(goes_on):
            self._take(run, rows[start:stop], int(first[start]), int(last[stop - 1]))

    def _take(self, run: BatchRun, rows: NDArray[np.intp], first: int, last: int) -> None:
        """Take batches of one producer that continue each other."""
        row, final = int(rows[0]), int(rows[-1])
        producer_id, epoch = int(run.producer_id[row]), int(run.producer_epoch[row])
        known = self._producers.get(producer_id)
        if known is not None and epoch < known.epoch:
            self._note(PRODUCER_EPOCH_REGRESSION, run, row, known.epoch)
        elif known is not None and epoch == known.epoch and not self._is_forgotten(known, run, row):
            self._compare(known, run, row, first)
        if known is None or epoch != known.epoch:
            known = _Producer(epoch, last, last, 0, 0)
            self._producers[producer_id] = known
        known.last = last
        if (last - known.furthest) % _SEQUENCES < _SEQUENCES // 2:
            known.furthest, known.stray = last, 0
        known.timestamp = int(run.max_timestamp[final])
        known.last_offset = int(run.last_offset[final])
        for each in rows[-_REMEMBERED:].tolist():
            base = int(run.base_sequence[each])
            known.recent.append((base, (base + int(run.last_offset_delta[each])) % _SEQUENCES))

    def _is_forgotten(self, known: _Producer, run: BatchRun, row: int) -> bool:
        """Whether a broker may have forgotten the producer: it was silent, or its records gone."""
        silent = int(run.max_timestamp[row]) - known.timestamp
        return silent >= _EXPIRED_MS or known.last_offset < self._replica.log_start_offset

    def _compare(self, known: _Producer, run: BatchRun, row: int, first: int) -> None:
        after = known.furthest + 1
        if first in {each % _SEQUENCES for each in (known.last + 1, after, after + known.stray)}:
            return
        delta = int(run.last_offset_delta[row])
        if (first, (first + delta) % _SEQUENCES) in known.recent:
            self._note(IDEMPOTENT_DUPLICATE, run, row, known.last)
        elif (first - after) % _SEQUENCES < _SEQUENCES // 2:
            self._note(SEQUENCE_GAP, run, row, known.last)
        else:
            known.stray += delta + 1
            self._note(SEQUENCE_REGRESSION, run, row, known.last)

    def _note(self, code: str, run: BatchRun, row: int, before: int) -> None:
        name = "epochBefore" if code == PRODUCER_EPOCH_REGRESSION else "lastSequence"
        self._noted.note(code, self._file, run, row, **{name: before})


def _stretches(goes_on: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Ranges of rows of which each, but the first, continues the one before."""
    starts = np.flatnonzero(~goes_on).tolist()
    return zip(starts, [*starts[1:], len(goes_on)], strict=True)
