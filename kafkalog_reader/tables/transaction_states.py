"""The outcomes of the transactions in one slice of a log, and where read_committed ends.

Markers come after what they decide, maybe in a later segment: reading continues until the last
transaction of the slice is decided. If damage hides markers, the transaction index helps.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.decode.arrow_arrays import texts
from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types
from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan import Scan
from kafkalog_reader.tables.index_file import read_entries
from kafkalog_reader.tables.open_transactions import replay_transactions
from kafkalog_reader.tables.transaction_outcomes import (
    CONTROL_BATCH,
    NO_TRANSACTION,
    UNDECIDED,
    Markers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.transaction_outcomes import BatchColumns

logger = logging.getLogger(__name__)

_NAMES: Final = {
    COMMIT: "committed", ABORT: "aborted", UNDECIDED: "open", NO_TRANSACTION: "none",
    CONTROL_BATCH: None,
}  # fmt: skip


class TransactionStates:
    """The transactions of one slice; nothing is read until a transactional batch is requested.

    Args:
        segment_slice: the slice.
        markers: all from the slice on, if they are known; then nothing is read.
    """

    def __init__(self, segment_slice: SegmentSlice, markers: Markers | None = None) -> None:
        self._segment_slice = segment_slice
        self._known = markers

    def of(self, batches: BatchColumns) -> NDArray[np.int16]:
        """For each batch what ``Markers.outcomes`` says, or ``CONTROL_BATCH``."""
        return self.with_markers(batches)[0]

    def with_markers(self, batches: BatchColumns) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """The same, and the offset of the marker that decides each batch; -1 without one."""
        count = len(batches.attributes)
        outcomes = np.full(count, NO_TRANSACTION, np.int16)
        offsets = np.full(count, -1, np.int64)
        if np.any(batches.attributes & TRANSACTIONAL_BIT):
            deciding = self._markers.deciding(batches)
            outcomes = self._markers.outcomes_by(deciding)
            is_decided = deciding >= 0
            offsets[is_decided] = self._markers.offset[deciding[is_decided]]
        outcomes[(batches.attributes & CONTROL_BIT) != 0] = CONTROL_BATCH
        return outcomes, offsets

    def committed(self, run: BatchRun) -> BatchRun:
        """The batches that a read_committed consumer sees."""
        outcomes = self.of(run)
        keep = (outcomes == COMMIT) | (outcomes == NO_TRANSACTION)
        return run if keep.all() else run.taken(np.flatnonzero(keep))

    @cached_property
    def _markers(self) -> Markers:
        if self._known is not None:
            return self._known
        found = _Gathered(self._segment_slice)
        found.read()
        return found.markers()


def state_names(outcomes: NDArray[np.int16]) -> pa.StringArray:
    """The outcomes as the column ``transactionState`` has them."""
    codes = sorted(_NAMES)
    return texts(tuple(_NAMES[code] for code in codes), np.searchsorted(codes, outcomes))


class _Gathered:
    """The markers from a slice on, as far as needed to decide its transactions."""

    def __init__(self, segment_slice: SegmentSlice) -> None:
        self._segment_slice = segment_slice
        self._found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]]] = []
        self._pending: dict[int, int] = {}
        self._is_damaged = False

    def read(self) -> None:
        """Read the slice, then on until every transaction in it is decided or known to be open."""
        directory, first = self._segment_slice.directory, self._segment_slice.segment
        following = [
            segment
            for segment in segments(directory)
            if segment.log_size is not None and segment.base_offset > first.base_offset
        ]
        self._scan(first, self._segment_slice.start, self._segment_slice.stop, has_data=True)
        if self._pending:
            self._forget_open(directory)
        reached = [first]
        if self._pending and self._segment_slice.stop < (first.log_size or 0):
            self._scan(first, self._segment_slice.stop, None, has_data=False)
        for segment in following:
            if not self._pending:
                break
            reached.append(segment)
            self._scan(segment, 0, None, has_data=False)
        if self._is_damaged:
            logger.warning(
                "%s: damaged, here or in a later segment: where a marker is lost, the outcome of a "
                "transaction is that of the transaction index, or of the producer's next "
                "transaction",
                shown(self._segment_slice.path),
            )
            self._add_indexed_aborts(reached)

    def markers(self) -> Markers:
        """All of them, in order."""
        if not self._found:
            return Markers(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int16))
        ids, offsets, types = (
            np.concatenate(columns) for columns in zip(*self._found, strict=True)
        )
        return Markers.in_order(ids, offsets, types)

    def _scan(self, segment: SegmentFiles, start: int, stop: int | None, *, has_data: bool) -> None:
        links = self._segment_slice.directory.context
        try:
            scan = Scan(segment, start=start, stop=stop, context=links)
            for run in self._runs(scan):
                self._take(run, has_data=has_data)
                if not has_data and not self._pending:
                    return
        except UnreadableFileError:  # the reader of those records reports it
            self._is_damaged = True

    def _runs(self, scan: Scan) -> Iterator[BatchRun]:
        for found in scan:
            if isinstance(found, BatchRun):
                yield found
            else:
                self._is_damaged = True

    def _take(self, run: BatchRun, *, has_data: bool) -> None:
        in_transaction = (run.attributes & TRANSACTIONAL_BIT) != 0
        is_control = (run.attributes & CONTROL_BIT) != 0
        valid = run.crc_valid
        self._is_damaged |= not bool(valid.all())
        if has_data:
            rows = np.flatnonzero(in_transaction & ~is_control)
            for producer_id in np.unique(run.producer_id[rows]).tolist():
                own = rows[run.producer_id[rows] == producer_id]
                self._pending[producer_id] = int(run.last_offset[own].max())
        rows = np.flatnonzero(is_control & valid)
        types = control_types(run, rows)
        decides = (types == ABORT) | (types == COMMIT)
        rows, types = rows[decides], types[decides]
        if not len(rows):
            return
        self._found.append((run.producer_id[rows].copy(), run.base_offset[rows].copy(), types))
        for producer_id in np.unique(run.producer_id[rows]).tolist():
            last = int(run.base_offset[rows[run.producer_id[rows] == producer_id]].max())
            if self._pending.get(producer_id, last) < last:
                del self._pending[producer_id]

    def _forget_open(self, directory: PartitionDirectory) -> None:
        """Transactions that are open at the log end have no markers to look for."""
        log_end = scan_tail(directory).next_offset
        state = replay_transactions(
            directory, decided_from=log_end, log_end=log_end, mode=Mode.DROPMALFORMED,
            progress=no_progress,
        )  # fmt: skip
        for producer_id, first_offset in state.open.items():
            if first_offset <= self._pending.get(producer_id, -1):
                del self._pending[producer_id]

    def _add_indexed_aborts(self, reached: Iterable[SegmentFiles]) -> None:
        known = {int(offset) for _, offsets, _ in self._found for offset in offsets}
        for segment in reached:
            if not segment.transaction_index_size:
                continue
            try:
                for _, entries in read_entries(
                    segment.path("txnindex"),
                    TRANSACTION_INDEX_ENTRY,
                    no_progress,
                    self._segment_slice.directory.context,
                ):
                    sound = entries[entries["version"] == 0]
                    lost = sound[~np.isin(sound["last_offset"], list(known))]
                    self._found.append((
                        lost["producer_id"].astype(np.int64),
                        lost["last_offset"].astype(np.int64),
                        np.full(len(lost), ABORT, np.int16),
                    ))  # fmt: skip
            except UnreadableFileError as error:
                logger.warning("%s", error)
