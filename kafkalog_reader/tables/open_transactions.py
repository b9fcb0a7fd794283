"""Finds the transactions that hold back the LSO: open, or decided only above the high watermark.

They are replayed from the newest producer snapshot that is old enough. Only transactional batches
are examined one by one. Source: Kafka 4.0, ProducerStateManager, UnifiedLog#fetchLastStableOffset.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types
from kafkalog_reader.errors import (
    CorruptCheckpointError,
    CorruptRecordError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.scan.log_tail import batch_starts_at
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.tables.producers import read_producers
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import whole_segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.damage import Mode
    from kafkalog_reader.scan.hidden_records import HiddenRecords
    from kafkalog_reader.scan.segment_slice import SegmentSlice

logger = logging.getLogger(__name__)

_DATA: Final = -2
"""In the place of a control type, for batches that are not control batches."""


@dataclass(slots=True)
class OpenTransactions:
    """State of the transactions of one replica at the end of its log.

    Attributes:
        open: first offset of the open transaction of each producer.
        decided: first offset and marker's offset of those decided at or above the low end of the
            high watermark.
        is_known: whether every batch in question could be read.
    """

    open: dict[int, int] = field(default_factory=dict)
    decided: list[tuple[int, int]] = field(default_factory=list)
    is_known: bool = True

    def last_stable_offset(self, high_watermark: int, log_start: int) -> int | None:
        """Where a read_committed consumer has to stop; None where damage hides it.

        Never below the log start, which a request to delete records can move into a transaction.
        """
        if not self.is_known:
            return None
        undecided = [first for first, marker in self.decided if marker >= high_watermark]
        return max(log_start, min([high_watermark, *self.open.values(), *undecided]))


def stable_up_to(directory: PartitionDirectory, offset: int, mode: Mode) -> int | None:
    """The last stable offset if the high watermark is ``offset``; None: damage hides it.

    Raises:
        KafkaLogError: damage in a batch that may belong to a transaction, in FAILFAST.
    """
    transactions = replay_transactions(
        directory, decided_from=offset, log_end=offset, mode=mode, progress=no_progress
    )
    return transactions.last_stable_offset(offset, 0)


def replay_transactions(
    directory: PartitionDirectory,
    *,
    decided_from: int,
    log_end: int,
    mode: Mode,
    progress: Progress,
    hidden: HiddenRecords | None = None,
) -> OpenTransactions:
    """Replay the transactions of a replica up to its log end.

    Args:
        directory: the replica.
        decided_from: transactions decided below this offset no longer matter.
        log_end: batches from here on are left out.
        mode: what to do at a damaged batch; if reading continues, the outcome is unknown.
        progress: receives the bytes read.
        hidden: receives what is damaged.

    Raises:
        KafkaLogError: damage in a batch that may belong to a transaction, in FAILFAST.
    """
    slices = [
        p for p in whole_segments(directory, live_only=True) if p.segment.log_size is not None
    ]
    if not slices:
        return OpenTransactions()
    state, start = _state_before(directory, slices[0].segment.base_offset, decided_from)
    for segment_slice, following in zip(slices, [*slices[1:], None], strict=True):
        if following is not None and following.segment.base_offset <= start:
            continue
        if start >= log_end:
            break
        _replay_segment(state, segment_slice, range(start, log_end), mode, progress, hidden)
    state.decided = [decided for decided in state.decided if decided[1] >= decided_from]
    return state


def _state_before(
    directory: PartitionDirectory, first_base: int, decided_from: int
) -> tuple[OpenTransactions, int]:
    """The state by the newest sound snapshot up to ``decided_from``, and the offset it is for."""
    for offset in reversed(producer_snapshot_offsets(directory)):
        if not first_base <= offset <= decided_from:
            continue
        try:
            producers = read_producers(directory, offset)
        except (CorruptCheckpointError, UnsupportedFormatError) as error:
            logger.warning("%s: an older one is used, as a broker does", error)
            continue
        if producers is None:  # what it says about open transactions is in the log, too
            continue
        is_open = producers["current_transaction_first_offset"] >= 0
        ids = producers["producer_id"][is_open].tolist()
        first_offsets = producers["current_transaction_first_offset"][is_open].tolist()
        return OpenTransactions(open=dict(zip(ids, first_offsets, strict=True))), offset
    return OpenTransactions(), first_base


def _replay_segment(
    state: OpenTransactions,
    segment_slice: SegmentSlice,
    offsets: range,
    mode: Mode,
    progress: Progress,
    hidden: HiddenRecords | None,
) -> None:
    start = position_before(segment_slice, offsets.start)
    scan = SegmentBatches(
        segment_slice, mode, progress, check_crc=True, start=start, is_end_known=True,
        hidden=hidden,
    )  # fmt: skip
    for run in scan:
        in_range = (run.base_offset >= offsets.start) & (run.base_offset < offsets.stop)
        wrong = in_range & ~run.crc_valid
        if wrong.any():
            row = int(np.argmax(wrong))
            state.is_known = False
            path = shown(segment_slice.segment.path("log"))
            where = LogPosition(path, int(run.position[row]), int(run.base_offset[row]))
            Damage(mode, hidden=hidden).left_out(
                CorruptRecordError("wrong CRC: transactions cannot be replayed", where),
                next_offset=int(run.last_offset[row]) + 1,
            )
        rows = np.flatnonzero(
            in_range & ~wrong & ((run.attributes & TRANSACTIONAL_BIT) != 0) & (run.producer_id >= 0)
        )
        if len(rows):
            _apply(state, run, rows)
    state.is_known &= scan.is_readable


def _apply(state: OpenTransactions, run: BatchRun, rows: NDArray[np.intp]) -> None:
    types = np.full(len(rows), _DATA, dtype=np.int16)
    is_control = (run.attributes[rows] & CONTROL_BIT) != 0
    types[is_control] = control_types(run, rows[is_control])
    for kind, producer_id, base_offset in zip(
        types.tolist(),
        run.producer_id[rows].tolist(),
        run.base_offset[rows].tolist(),
        strict=True,
    ):
        if kind == _DATA:
            state.open.setdefault(producer_id, base_offset)
        elif kind in (ABORT, COMMIT):
            first_offset = state.open.pop(producer_id, None)
            if first_offset is not None:  # a marker alone: nothing was written, or it is compacted
                state.decided.append((first_offset, base_offset))


def position_before(segment_slice: SegmentSlice, offset: int) -> int:
    """Where to begin, by a confirmed index entry, to read everything from ``offset`` on."""
    segment = segment_slice.segment
    if offset <= segment.base_offset or not segment.offset_index_size:
        return 0
    context = segment_slice.directory.context
    with SparseIndex(segment, context=context) as index:
        number = index.last_below_offset(offset)
        position = index[number][1] if number >= 0 else 0
    is_before = batch_starts_at(segment, position, context=context, up_to_offset=offset)
    return position if is_before else 0
