"""Replays the producer state from the batches of a log, and compares it with snapshots.

Only producers in both the snapshot and the batches are compared: a broker forgets producers that
were silent (T22), and retention and compaction remove batches (T05). Source: Kafka 4.0,
ProducerStateManager, ProducerAppendInfo, ProducerStateEntry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types, coordinator_epochs
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun

NONE: Final = -1
_SEQUENCES: Final = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerState:
    """The state of one producer after the batches so far; -1 means none.

    Attributes:
        timestamp: of its last batch or marker, milliseconds since 1970 UTC.
        coordinator_epoch: of its last marker.
        marker_offset: of its last marker; brokers before 1.1 store it as the last offset.
        is_whole: whether its open transaction is completely known, not only from some offset on.
    """

    producer_epoch: int
    last_sequence: int = NONE
    last_offset: int = NONE
    offset_delta: int = 0
    timestamp: int = NONE
    coordinator_epoch: int = NONE
    transaction_first_offset: int = NONE
    marker_offset: int = NONE
    is_whole: bool = True

    @classmethod
    def of(cls, entry: ProducerSnapshotEntry) -> ProducerState:
        """The state in a snapshot."""
        return cls(
            producer_epoch=entry.producer_epoch,
            last_sequence=entry.last_sequence,
            last_offset=entry.last_offset,
            offset_delta=entry.offset_delta,
            timestamp=entry.timestamp,
            coordinator_epoch=entry.coordinator_epoch,
            transaction_first_offset=entry.current_transaction_first_offset,
        )


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One producer of one snapshot, and what differs from the replay.

    Attributes:
        field: the column in the table ``producers``.
        stored, replayed: the two values.
    """

    producer_id: int
    field: str
    stored: int
    replayed: int

    @property
    def is_grave(self) -> bool:
        """Whether it changes which batches are accepted, or what a read_committed consumer sees."""
        return self.field in ("lastSequence", "currentTransactionFirstOffset")


class ProducerReplay:
    """The producers of a log while its batches are replayed.

    ``is_complete``: whether the replay began at the first record or at a snapshot, so that a
    producer it does not have has written nothing.
    """

    def __init__(self) -> None:
        self._states: dict[int, ProducerState] = {}
        self.is_complete = False

    def begin(self, entries: Iterable[ProducerSnapshotEntry], *, is_complete: bool) -> None:
        """Reset the state to that of a snapshot, or to none."""
        self._states = {entry.producer_id: ProducerState.of(entry) for entry in entries}
        self.is_complete = is_complete

    def apply(self, run: BatchRun, first: int, stop: int) -> None:
        """Replay the batches ``first`` to ``stop`` of a run, while its window is valid."""
        rows = np.flatnonzero(run.producer_id[first:stop] >= 0) + first
        if not len(rows):
            return
        attributes = run.attributes[rows]
        is_control = (attributes & CONTROL_BIT) != 0
        is_marker = np.zeros(len(rows), np.bool_)
        if is_control.any():
            types = control_types(run, rows[is_control])
            is_marker[is_control] = (types == ABORT) | (types == COMMIT)
            rows, is_marker = (each[is_marker | ~is_control] for each in (rows, is_marker))
        self._apply_stretches(run, rows, is_marker)

    def entries(self) -> list[ProducerSnapshotEntry]:
        """The state as a snapshot has it, by producer id."""
        return [
            ProducerSnapshotEntry(
                producer_id=producer_id,
                producer_epoch=state.producer_epoch,
                last_sequence=state.last_sequence,
                last_offset=state.last_offset,
                offset_delta=state.offset_delta,
                timestamp=state.timestamp,
                coordinator_epoch=state.coordinator_epoch,
                current_transaction_first_offset=state.transaction_first_offset,
            )
            for producer_id, state in sorted(self._states.items())
        ]

    def disagreements(self, entries: Iterable[ProducerSnapshotEntry]) -> list[Disagreement]:
        """Differences from a snapshot, for producers that both have, by producer id."""
        found = []
        for entry in sorted(entries, key=lambda each: each.producer_id):
            replayed = self._states.get(entry.producer_id)
            if replayed is not None:
                found += _differences(entry.producer_id, ProducerState.of(entry), replayed)
        return found

    def _apply_stretches(
        self, run: BatchRun, rows: NDArray[np.intp], is_marker: NDArray[np.bool_]
    ) -> None:
        """Replay stretches of batches; only the last ones of a producer determine its state.

        A stretch is a marker, or all of a producer's batches between two markers. Everything before
        the marker that precedes its last stretch of batches is overwritten.
        """
        if not len(rows):
            return
        order = np.argsort(run.producer_id[rows], kind="stable")
        rows, is_marker = rows[order], is_marker[order]
        producers = run.producer_id[rows]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (producers[1:] != producers[:-1]) | is_marker[1:] | is_marker[:-1]
        starts = np.flatnonzero(begins)
        owner = np.cumsum(np.append(False, np.diff(producers[starts]) != 0))
        stretches = np.arange(len(starts))
        batches = np.where(is_marker[starts], -1, stretches)
        last = np.maximum.reduceat(batches, np.flatnonzero(np.diff(owner, prepend=-1)))
        left = np.flatnonzero(stretches >= last[owner] - 1)
        numbers = np.arange(len(rows))
        numbers[(run.attributes[rows] & TRANSACTIONAL_BIT) == 0] = len(rows)
        firsts = np.minimum.reduceat(numbers, starts)
        stops = np.append(starts[1:], len(rows))
        columns = (each[left].tolist() for each in (starts, stops, firsts))
        for start, stop, first in zip(*columns, strict=True):
            producer_id = int(producers[start])
            if is_marker[start]:
                self._apply_marker(run, int(rows[start]), producer_id)
            else:
                began = int(run.base_offset[rows[first]]) if first < stop else NONE
                self._apply_data(run, int(rows[stop - 1]), producer_id, began)

    def _apply_data(self, run: BatchRun, row: int, producer_id: int, began: int) -> None:
        """Apply the last batch of a stretch, and the start of its first transactional one."""
        known = self._states.get(producer_id)
        first = NONE if known is None else known.transaction_first_offset
        base_sequence = int(run.base_sequence[row])
        delta = int(run.last_offset_delta[row])
        self._states[producer_id] = ProducerState(
            producer_epoch=int(run.producer_epoch[row]),
            last_sequence=(NONE if base_sequence < 0 else (base_sequence + delta) % _SEQUENCES),
            last_offset=int(run.last_offset[row]),
            offset_delta=delta,
            timestamp=int(run.max_timestamp[row]),
            coordinator_epoch=NONE if known is None else known.coordinator_epoch,
            transaction_first_offset=began if first == NONE else first,
            is_whole=self.is_complete if known is None else known.is_whole,
        )

    def _apply_marker(self, run: BatchRun, row: int, producer_id: int) -> None:
        producer_epoch = int(run.producer_epoch[row])
        known = self._states.get(producer_id)
        if known is None or known.producer_epoch != producer_epoch:
            known = ProducerState(producer_epoch=producer_epoch)
        self._states[producer_id] = replace(
            known,
            timestamp=int(run.max_timestamp[row]),
            coordinator_epoch=int(coordinator_epochs(run, np.array([row], np.intp))[0]),
            transaction_first_offset=NONE,
            marker_offset=int(run.base_offset[row]),
            is_whole=True,
        )


def _differences(
    producer_id: int, stored: ProducerState, replayed: ProducerState
) -> list[Disagreement]:
    fields = {
        "producerEpoch": (stored.producer_epoch, replayed.producer_epoch),
        "lastSequence": (stored.last_sequence, replayed.last_sequence),
    }
    if replayed.marker_offset == NONE or stored.last_offset != replayed.marker_offset:
        fields["lastOffset"] = (stored.last_offset, replayed.last_offset)
        fields["offsetDelta"] = (stored.offset_delta, replayed.offset_delta)
    if replayed.is_whole:
        fields["currentTransactionFirstOffset"] = (
            stored.transaction_first_offset, replayed.transaction_first_offset
        )  # fmt: skip
    return [
        Disagreement(producer_id, name, *values)
        for name, values in fields.items()
        if values[0] != values[1]
    ]
