"""The batches of one copy whose checksum is wrong: how many, where, and who has them intact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kafkalog_reader.audits.log.batch_place import EXAMPLES
from kafkalog_reader.format.batch_fields import CONTROL_BIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.batch_place import BatchPlace
    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.audits.log.replica import Replica

MAX: Final = 1_000_000
"""Rows kept for one copy, 28 bytes each; in a hostile copy every batch is damaged."""


class DamagedRows(NamedTuple):
    """Damaged batches as columns.

    Attributes:
        first_offset, next_offset: the offsets [first, next) of each batch.
        records: number of client records by the batch header; 0 for a transaction marker.
        intact_on: indexes into ``DamagedBatches.holders``.
    """

    first_offset: NDArray[np.int64]
    next_offset: NDArray[np.int64]
    records: NDArray[np.int64]
    intact_on: NDArray[np.int32]


class DamagedBatches:
    """The damaged batches of one copy, collected while copies are compared.

    Attributes:
        count: number of damaged batches.
        alone: number of damaged batches that no copy has intact.
        places: where the first ones are.
        left_out: number of batches beyond the maximum of rows.
        holders: sets of replicas that have a batch intact; rows refer to them by index.
    """

    def __init__(self) -> None:
        self.count = 0
        self.alone = 0
        self.left_out = 0
        self.places: list[BatchPlace] = []
        self.holders: list[tuple[Replica, ...]] = []
        self._parts: list[DamagedRows] = []
        self._rows = 0

    def __eq__(self, other: object) -> bool:
        """Compare without regard to the order of ``holders``."""
        if not isinstance(other, DamagedBatches):
            return NotImplemented
        return self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]  # it grows

    def _content(self) -> tuple[object, ...]:
        first_offset, next_offset, records, intact_on = (each.tolist() for each in self.rows())
        holders = [self.holders[number] for number in intact_on]
        counts = self.count, self.alone, self.left_out
        return *counts, self.places, first_offset, next_offset, records, holders

    def add(
        self,
        stream: BatchStream,
        ahead: NDArray[np.intp],
        holders: Sequence[tuple[Replica, ...]],
        intact_on: NDArray[np.int32],
    ) -> None:
        """Add damaged batches of a stream.

        Args:
            stream: the batches of the copy.
            ahead: indexes of its damaged batches, counted from the current one, ascending.
            holders: sets of replicas that have a batch intact.
            intact_on: for each batch, the index into ``holders``.
        """
        if not len(ahead):
            return
        self.count += len(ahead)
        is_alone = np.array([not each for each in holders])[intact_on]
        self.alone += int(np.count_nonzero(is_alone))
        most = EXAMPLES - len(self.places)
        for each, number in zip(ahead[:most].tolist(), intact_on[:most].tolist(), strict=True):
            self.places.append(stream.place(each, holders[number]))
        room = MAX - self._rows
        if room < len(ahead):
            self.left_out += len(ahead) - room
            ahead, intact_on = ahead[:room], intact_on[:room]
            if not room:
                return
        numbers = [self._number_of(each) for each in holders]
        rows = _rows(stream, ahead, np.array(numbers, np.int32)[intact_on])
        self._parts.append(rows)
        self._rows += len(rows.records)

    def alone_below(self, offset: int) -> int:
        """How many of the batches that no copy has intact begin below an offset."""
        rows = self.rows()
        is_alone = np.array([not each for each in self.holders], np.bool_)
        above = rows.intact_on[rows.first_offset >= offset]
        return self.alone - int(np.count_nonzero(is_alone[above])) if len(above) else self.alone

    def rows(self) -> DamagedRows:
        """All rows that were kept, in log order."""
        if len(self._parts) != 1:
            columns = zip(*self._parts, strict=True) if self._parts else [()] * 4
            kinds = (np.int64, np.int64, np.int64, np.int32)
            self._parts = [
                DamagedRows(*(
                    np.concatenate([np.empty(0, kind), *column])
                    for kind, column in zip(kinds, columns, strict=True)
                ))
            ]  # fmt: skip
        return self._parts[0]

    def _number_of(self, holders: tuple[Replica, ...]) -> int:
        if holders not in self.holders:
            self.holders.append(holders)
        return self.holders.index(holders)


def _rows(
    stream: BatchStream, ahead: NDArray[np.intp], intact_on: NDArray[np.int32]
) -> DamagedRows:
    run, at = stream.run, stream.index + ahead
    first, following = run.base_offset[at], run.last_offset[at] + 1
    held = run.held_records(slice(int(at[0]), int(at[-1]) + 1))[at - at[0]]
    records = np.where(run.attributes[at] & CONTROL_BIT, 0, held)
    return DamagedRows(first, following, records, intact_on)
