"""How the transaction of each batch ended: the next marker of its producer decides.

Source: Kafka 4.0, ProducerStateManager, UnifiedLog#collectAbortedTransactions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNDECIDED: Final = -1
NO_TRANSACTION: Final = -2
CONTROL_BATCH: Final = -3
_FIRST_WITH_TRANSACTIONS: Final = 2


class BatchColumns(Protocol):
    """The header columns that decide; a ``BatchRun`` has them."""

    @property
    def attributes(self) -> NDArray[np.int16]: ...
    @property
    def magic(self) -> NDArray[np.int8]: ...
    @property
    def producer_id(self) -> NDArray[np.int64]: ...
    @property
    def last_offset(self) -> NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Transaction markers by producer id, then offset.

    Attributes:
        producer_id: who wrote the transaction.
        offset: of the marker.
        type: ``ABORT`` or ``COMMIT``.
    """

    producer_id: NDArray[np.int64]
    offset: NDArray[np.int64]
    type: NDArray[np.int16]

    @classmethod
    def in_order(
        cls,
        producer_id: NDArray[np.int64],
        offset: NDArray[np.int64],
        type: NDArray[np.int16],  # noqa: A002  Kafka's word
    ) -> Markers:
        """The markers, sorted."""
        order = np.lexsort((offset, producer_id))
        return cls(producer_id[order], offset[order], type[order])

    def outcomes(self, batches: BatchColumns) -> NDArray[np.int16]:
        """For each batch ``COMMIT``, ``ABORT``, ``UNDECIDED`` or ``NO_TRANSACTION``."""
        return self.outcomes_by(self.deciding(batches))

    def outcomes_by(self, markers: NDArray[np.int64]) -> NDArray[np.int16]:
        """The same, by what ``deciding`` found."""
        outcomes = markers.astype(np.int16, casting="unsafe")
        is_decided = markers >= 0
        outcomes[is_decided] = self.type[markers[is_decided]]
        return outcomes

    def deciding(self, batches: BatchColumns) -> NDArray[np.int64]:
        """For each batch the number of the marker that decides its transaction.

        ``UNDECIDED`` without one, ``NO_TRANSACTION`` outside of transactions.
        """
        found = np.full(len(batches.attributes), NO_TRANSACTION, np.int64)
        is_data = (batches.attributes & (CONTROL_BIT | TRANSACTIONAL_BIT)) == TRANSACTIONAL_BIT
        rows = np.flatnonzero(is_data & (batches.magic >= _FIRST_WITH_TRANSACTIONS))
        for producer_id in np.unique(batches.producer_id[rows]).tolist():
            own = rows[batches.producer_id[rows] == producer_id]
            start = np.searchsorted(self.producer_id, producer_id)
            stop = np.searchsorted(self.producer_id, producer_id, side="right")
            marker = np.searchsorted(self.offset[start:stop], batches.last_offset[own]) + start
            found[own] = np.where(marker < stop, marker, UNDECIDED)
        return found
