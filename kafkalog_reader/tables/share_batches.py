"""Delivery states of the records of a share partition, combined from several records.

Source: Kafka 4.4, PersisterStateBatchCombiner, RecordState (KIP-932).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATES: Final = ("available", "acquired", "acknowledged", "archiving", "archived")


class StateBatch(NamedTuple):
    """Records with one delivery state; both offsets belong to it."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int

    @property
    def state_name(self) -> str:
        """Its delivery state in words, or the number of one that no release has."""
        state = self.delivery_state
        return _STATES[state] if state in range(len(_STATES)) else str(state)


def combined(batches: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """The batches from ``start_offset`` on, without overlaps.

    Of batches that overlap, the one delivered more often holds, then the greater state.
    """
    waiting = sorted(
        each._replace(first_offset=max(each.first_offset, start_offset))
        for each in batches
        if each.last_offset >= max(each.first_offset, start_offset)
    )
    found: list[StateBatch] = []
    here: list[tuple[int, int, int]] = []  # of batches at the position: (-count, -state, last)
    place, position = 0, start_offset
    while place < len(waiting) or here:
        if not here:
            position = waiting[place].first_offset
        while place < len(waiting) and waiting[place].first_offset <= position:
            batch = waiting[place]
            heappush(here, (-batch.delivery_count, -batch.delivery_state, batch.last_offset))
            place += 1
        while here and here[0][2] < position:
            heappop(here)
        if not here:
            continue
        count, state, last = here[0]
        if place < len(waiting):
            last = min(last, waiting[place].first_offset - 1)
        _append(found, StateBatch(position, last, -state, -count))
        position = last + 1
    return found


def _append(found: list[StateBatch], batch: StateBatch) -> None:
    """Append a batch, or extend the last one if it has the same state and ends right before."""
    if found and (found[-1].last_offset + 1, *found[-1][2:]) == (batch.first_offset, *batch[2:]):
        found[-1] = found[-1]._replace(last_offset=batch.last_offset)
    else:
        found.append(batch)
