"""The batches of one segment for the tables that describe files, and what a bad end of it means."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkalog_reader.errors import (
    CorruptRecordError,
    LocatedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.tables.batch_scan import BatchRun, ScanEnd, SegmentScan
from kafkalog_reader.tables.damage import Damage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.tables.request import Mode
    from kafkalog_reader.tables.segment_unit import SegmentPiece
    from kafkalog_reader.tables.table import Progress

logger = logging.getLogger(__name__)


class TolerantScan:
    """The batches of a segment for tables that describe it: what ends them early is no surprise.

    A torn batch at the end of the last segment ends the log, with a warning; zeros there are
    preallocated. Everything else that ends a scan before the file does is damage.

    Attributes:
        end_position: the first byte that belongs to no batch; 0 until the scan is over.
        is_readable: whether everything before ``end_position`` was seen, and why it ends is known.
    """

    def __init__(
        self,
        piece: SegmentPiece,
        mode: Mode,
        progress: Progress,
        *,
        check_crc: bool,
        start: int = 0,
    ) -> None:
        self.end_position = 0
        self.is_readable = True
        self._piece = piece
        self._damage = Damage(mode)
        self._progress = progress
        self._check_crc = check_crc
        self._start = start

    def __iter__(self) -> Iterator[BatchRun]:
        """Yield the runs of batches.

        Raises:
            LocatedError: in FAILFAST, at what ended the scan early.
        """
        path = self._piece.segment.path("log")
        scan = SegmentScan(path, self._start, check_crc=self._check_crc, progress=self._progress)
        try:
            yield from scan
        except LocatedError as error:
            self.is_readable = False
            self._damage.left_out(error)
        self.end_position = scan.end_position
        if scan.end is ScanEnd.COMPLETE:
            return
        where = LogPosition(shown(path), scan.end_position, scan.next_offset)
        if self._piece.is_last and scan.end in (ScanEnd.TORN, ScanEnd.ZEROS):
            if scan.end is ScanEnd.TORN:
                logger.warning("%s: %s: the log ends here", where, scan.problem)
            return
        self.is_readable = False
        is_foreign = scan.end is ScanEnd.UNKNOWN_MAGIC
        kind = UnsupportedFormatError if is_foreign else CorruptRecordError
        self._damage.left_out(kind(scan.problem, where))
