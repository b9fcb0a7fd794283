"""How the transactions of a replica ended, so that its batches no longer need the markers.

Source: Kafka 4.0, ProducerStateManager; the next marker of a producer decides what it wrote before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.tables.transaction_outcomes import Markers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun


_Markers = tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.int16]", str]
"""Producer ids, offsets, types, and the segment file with the markers."""


class TransactionOutcomes:
    """Markers of a replica: all are collected before the first lookup, 18 bytes of memory each.

    Attributes:
        markers: all of them, once they are settled.
        lost_aborts: producer ids and offsets of abort markers that could not be read.
    """

    def __init__(self) -> None:
        self._gathered: list[_Markers] = []
        self.lost_aborts: set[tuple[int, int]] = set()
        self.markers = Markers(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int16))

    def gather(self, run: BatchRun, path: str) -> None:
        """Collect the markers of a run of one segment, while its window is valid."""
        rows = np.flatnonzero((run.attributes & CONTROL_BIT) != 0)
        if not len(rows):
            return
        types = control_types(run, rows)
        decides = (types == ABORT) | (types == COMMIT)
        rows = rows[decides]
        self._gathered.append((run.producer_id[rows], run.base_offset[rows], types[decides], path))

    def forget(self, path: str) -> None:
        """Discard the markers of one segment."""
        self._gathered = [markers for markers in self._gathered if markers[3] != path]

    def join(self, other: TransactionOutcomes) -> None:
        """Add the markers of another copy; duplicates do no harm."""
        self._gathered += other._gathered

    def abort(self, producer_id: int, offset: int) -> None:
        """Add an abort that is known although its marker could not be read."""
        self.lost_aborts.add((producer_id, offset))
        self._gathered.append(
            (np.array([producer_id]), np.array([offset]), np.array([ABORT], np.int16), "")
        )

    def settle(self) -> None:
        """Sort the markers; use ``markers`` and ``of`` only afterwards."""
        if self._gathered:
            ids, offsets, types = (
                np.concatenate([markers[column] for markers in self._gathered])
                for column in range(3)
            )
            order = np.lexsort((offsets, ids))
            self.markers = Markers(ids[order], offsets[order], types[order])
        self._gathered.clear()

    def of(self, run: BatchRun) -> NDArray[np.int16]:
        """For each batch ``COMMIT``, ``ABORT``, ``UNDECIDED`` or ``NO_TRANSACTION``."""
        return self.markers.outcomes(run)
