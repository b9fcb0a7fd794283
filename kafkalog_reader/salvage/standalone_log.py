"""A log for another cluster, which nothing ties to the producers and coordinators of the old one.

Of transactions, only committed records are kept, as plain records; markers, and what was aborted or
never decided, are left out: no open transaction can hold back the last stable offset over there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.decode.control_type import ABORT
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.format.checkpoint import LeaderEpochEntry
from kafkalog_reader.salvage.counts import Reason
from kafkalog_reader.salvage.standalone_batches import standalone_batches
from kafkalog_reader.tables.transaction_outcomes import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry
    from kafkalog_reader.salvage.counts import Tally
    from kafkalog_reader.salvage.transaction_outcomes import TransactionOutcomes
    from kafkalog_reader.scan.batch_run import BatchRun


class StandaloneLog:
    """The content of a log without producers.

    Args:
        leader_epoch: of every batch.
        outcomes: how transactions ended; settled.
        left_out: what is left out is counted there.
    """

    is_in_place: Final = False

    def __init__(
        self, leader_epoch: int, outcomes: TransactionOutcomes, left_out: dict[Reason, Tally]
    ) -> None:
        self._leader_epoch = leader_epoch
        self._outcomes = outcomes
        self._left_out = left_out
        self._without_producer = 0

    def kept(self, run: BatchRun, records: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The batches that are not of a transaction, or of a committed one."""
        outcomes = self._outcomes.of(run)
        is_marker = (run.attributes & CONTROL_BIT) != 0
        reasons = {
            Reason.MARKER: is_marker,
            Reason.ABORTED: ~is_marker & (outcomes == ABORT),
            Reason.UNDECIDED: ~is_marker & (outcomes == UNDECIDED),
        }
        kept = np.ones(run.count, np.bool_)
        for reason, rows in reasons.items():
            self._left_out[reason].add(int(rows.sum()), int(records[rows].sum()))
            kept &= ~rows
        return kept

    def content(self, run: BatchRun) -> NDArray[np.uint8]:
        """The batches of a run one after another, rewritten."""
        content, stripped = standalone_batches(run, self._leader_epoch)
        self._without_producer += stripped
        return content

    def producers(self, offset: int) -> list[ProducerSnapshotEntry]:
        """None."""
        del offset
        return []

    def leader_epochs(self, first_offset: int) -> tuple[LeaderEpochEntry, ...]:
        """The one leader epoch."""
        return (LeaderEpochEntry(leader_epoch=self._leader_epoch, start_offset=first_offset),)

    def transaction_indexes(self, bases: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """No transaction is left."""
        del bases
        return iter(())

    def notes(self) -> dict[str, Any]:
        """For the manifest: what became of transactions and producers."""
        return {
            "batchesWithoutProducerNow": self._without_producer,
            "abortedBatches": self._left_out[Reason.ABORTED].batches,
            "undecidedBatches": self._left_out[Reason.UNDECIDED].batches,
            "markers": self._left_out[Reason.MARKER].batches,
        }
