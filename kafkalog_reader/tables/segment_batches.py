"""The batches of one segment for the tables that describe files, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import (
    CorruptRecordError,
    UnreadableFileError,
    UnsupportedFormatError,
)
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.scan.scan import HEADERS, TOLERANT, Scan
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.scan.damage import Mode
    from kafkalog_reader.scan.hidden_records import HiddenRecords
    from kafkalog_reader.scan.segment_slice import SegmentSlice


_NO_DAMAGE: Final = 2**63 - 1


class SegmentBatches:
    """The batches of a segment for tables that describe it, including those after damage.

    A torn batch at the end of the last segment ends the log, with a warning; zeros there are
    preallocated. All other bytes that belong to no batch are damage.

    Args:
        segment_slice: what to read.
        mode: what to do at damage.
        progress: called with the number of bytes read since its last call.
        check_crc: whether checksums are verified.
        start: position of the first batch to read.
        is_end_known: the caller has scanned the tail and reported a torn batch there.
        hidden: receives what is left out.

    Attributes:
        end_position: the first byte that belongs to no batch; 0 until the scan is over.
        is_readable: False where the log is damaged.
        damaged_from: the offset expected at the first damage; above all offsets if there is none.
    """

    def __init__(
        self,
        segment_slice: SegmentSlice,
        mode: Mode,
        progress: Progress,
        *,
        check_crc: bool,
        start: int = 0,
        is_end_known: bool = False,
        hidden: HiddenRecords | None = None,
    ) -> None:
        self.end_position = 0
        self.is_readable = True
        self.damaged_from = _NO_DAMAGE
        self._segment_slice = segment_slice
        self._damage = Damage(mode, hidden=hidden)
        self._progress = progress
        self._check_crc = check_crc
        self._start = start
        self._is_end_known = is_end_known

    def __iter__(self) -> Iterator[BatchRun]:
        """Yield the runs of batches.

        Raises:
            LocatedError: in FAILFAST, at what ended the scan early.
        """
        scan = Scan(
            self._segment_slice.segment,
            TOLERANT if self._check_crc else HEADERS,
            self._start,
            progress=self._progress,
            context=self._segment_slice.directory.context,
        )
        try:
            for found in scan:
                if isinstance(found, UnreadableRegion):
                    self._report(found)
                elif isinstance(found, BatchRun):
                    yield found
        except UnreadableFileError as error:
            self._damaged(scan.end_position, scan.next_offset)
            self._damage.left_out(error)
        self.end_position = scan.end_position

    def _damaged(self, position: int, offset: int | None) -> None:
        if self.is_readable:
            self.is_readable, self.end_position = False, position
            self.damaged_from = (
                self._segment_slice.segment.base_offset if offset is None else offset
            )

    def _report(self, region: UnreadableRegion) -> None:
        if self._segment_slice.is_log_end and region.is_unfinished:
            if region.end is ScanEnd.TORN and not self._is_end_known:
                self._damage.log_ends(region)
            return
        self._damaged(region.start, region.first_offset)
        is_foreign = region.end is ScanEnd.UNKNOWN_MAGIC
        kind = UnsupportedFormatError if is_foreign else CorruptRecordError
        next_offset = region.next_offset
        self._damage.left_out(
            kind(region.description, region.where),
            next_offset=self._segment_slice.next_base if next_offset is None else next_offset,
        )
