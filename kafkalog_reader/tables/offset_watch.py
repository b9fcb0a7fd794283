"""Notices batches with doubtful offsets while a slice is read.

Sound logs cost no second reading: of each window, only the offsets of its batches are compared.
Where they fall, repeat, leave the segment or jump, the headers of the segment are read once more,
and ``SegmentOffsets`` says which batches are doubtful: the same evidence as that of
``kafkalog salvage``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.format.offset_limits import MAX_OFFSET, segment_limit
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.scan import Scan, ScanPolicy
from kafkalog_reader.tables.offset_order import SegmentOffsets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.doubtful_batches import DoubtfulBatches

UNKNOWN: Final = -1
_COLUMNS: Final = ScanPolicy(keep_bytes=False)
_ONE_BATCH: Final = ScanPolicy(tolerant=False, window_size=32 << 10)


class OffsetWatch:
    """Follows the offsets of a slice, batch by batch; reports doubtful ones once.

    Args:
        segment_slice: the slice.
        damage: takes the reports.

    Attributes:
        next_offset: one past the last batch; ``UNKNOWN`` at the start of a slice within a segment.
        may_skip, may_fall: whether a batch may begin above it, or below it, without a report.
    """

    def __init__(self, segment_slice: SegmentSlice, damage: Damage) -> None:
        base = segment_slice.segment.base_offset
        self.next_offset = base if segment_slice.start == 0 else UNKNOWN
        self.may_skip = segment_slice.may_be_cleaned
        self.may_fall = False
        self._slice = segment_slice
        self._damage = damage
        self._limit = segment_limit(base, segment_slice.next_base)

    def look(self, run: BatchRun) -> None:
        """Take the batches of a run; those with a wrong CRC show nothing."""
        if self.may_fall or not run.count:
            return
        base, last = run.base_offset, run.last_offset
        if not run.all_valid:
            base, last = base[run.crc_valid], last[run.crc_valid]
            if not len(base):
                return
        due = np.empty(len(base), np.int64)
        due[0] = base[0] if self.next_offset == UNKNOWN else self.next_offset
        np.add(last[:-1], 1, out=due[1:])
        is_odd = (base < due) | (last < base) | (last >= self._limit)
        if not self.may_skip:
            is_odd |= base > due
        self.next_offset = min(int(last[-1]), MAX_OFFSET - 1) + 1
        if is_odd.any():
            self._judge()

    def pass_over(self, last_offset: int) -> None:
        """Take batches that a decoder took because they follow without a fall."""
        self.next_offset = min(last_offset, MAX_OFFSET - 1) + 1
        if last_offset >= self._limit and not self.may_fall:
            self._judge()

    def conclude(self) -> None:
        """Compare the end of the slice with the batch after it, which another reader gets."""
        segment_slice = self._slice
        if self.may_fall or self.next_offset == UNKNOWN:
            return
        if segment_slice.stop < (segment_slice.segment.log_size or 0):
            scan = Scan(
                segment_slice.segment, _ONE_BATCH, segment_slice.stop,
                context=segment_slice.directory.context,
            )  # fmt: skip
            run = next(scan.runs(), None)
            if run is not None and run.count:
                self.look(run.taken(slice(0, 1)))

    def _judge(self) -> None:
        """Read the headers of the segment again, and report its doubtful batches in the slice."""
        self.may_skip = self.may_fall = True
        start, stop = self._slice.start, self._slice.stop
        for each in doubtful_batches(self._slice):
            if each.position <= stop and each.end_position >= start:
                where = LogPosition(shown(self._slice.path), each.position, each.first_offset)
                does = "corrects them" if each.is_proven else "keeps these records apart"
                self._damage.doubtful(
                    f"{where}: {each.code}: doubtful offsets: {each.problem}; "
                    f"`kafkalog salvage` {does}"
                )


def doubtful_batches(segment_slice: SegmentSlice) -> list[DoubtfulBatches]:
    """The batches of the whole segment of a slice whose offsets other evidence contradicts."""
    judged = SegmentOffsets(
        segment_slice, segment_slice.next_base, begins_log=segment_slice.begins_log
    )
    try:
        for run in _readable(segment_slice):
            judged.add(run)
        return judged.doubtful(
            lambda: _readable(segment_slice), may_be_cleaned=segment_slice.may_be_cleaned
        )
    except UnreadableFileError:  # reading the slice reports it
        return []


def _readable(segment_slice: SegmentSlice) -> Iterator[BatchRun]:
    scan = Scan(segment_slice.segment, _COLUMNS, context=segment_slice.directory.context)
    for run in scan.runs():
        is_readable = run.crc_valid & run.has_known_codec
        yield run if is_readable.all() else run.taken(np.flatnonzero(is_readable))
