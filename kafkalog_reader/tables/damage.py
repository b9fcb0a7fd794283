"""What a table does at damage: raise, warn or be silent, as the request's mode says."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkalog_reader.errors import (
    CorruptRecordError,
    KafkaLogError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.tables.batch_scan import BatchRun, ScanEnd, SegmentScan
from kafkalog_reader.tables.request import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.tables.segment_unit import SegmentPiece
    from kafkalog_reader.tables.table import Progress

logger = logging.getLogger(__name__)


def tolerate(error: KafkaLogError, mode: Mode) -> None:
    """Go on in spite of damage, where the mode allows it.

    Raises:
        KafkaLogError: ``error``, in FAILFAST.
    """
    if mode is Mode.FAILFAST:
        raise error
    if mode is Mode.PERMISSIVE:
        logger.warning("%s", error)


class TolerantScan:
    """The batches of a segment for tables that describe it: what ends them early is no surprise.

    A torn batch at the end of the last segment ends the log, with a warning; zeros there are
    preallocated. Everything else that ends a scan before the file does is damage.

    Attributes:
        end_position: the first byte that belongs to no batch; 0 until the scan is over.
        is_readable: whether everything before ``end_position`` was seen, and why it ends is known.
    """

    def __init__(
        self, piece: SegmentPiece, mode: Mode, progress: Progress, *, check_crc: bool
    ) -> None:
        self.end_position = 0
        self.is_readable = True
        self._piece = piece
        self._mode = mode
        self._progress = progress
        self._check_crc = check_crc

    def __iter__(self) -> Iterator[BatchRun]:
        """Yield the runs of batches.

        Raises:
            KafkaLogError: in FAILFAST, at what ended the scan early.
        """
        path = self._piece.segment.path("log")
        scan = SegmentScan(path, check_crc=self._check_crc, progress=self._progress)
        try:
            yield from scan
        except KafkaLogError as error:
            self.is_readable = False
            tolerate(error, self._mode)
        self.end_position = scan.end_position
        if scan.end is ScanEnd.COMPLETE:
            return
        where = LogPosition(shown(path), scan.end_position, scan.next_offset)
        if self._piece.is_last and scan.end in (ScanEnd.TORN, ScanEnd.ZEROS):
            if scan.end is ScanEnd.TORN:
                logger.warning("%s: %s: the log ends here", where, scan.problem)
            return
        self.is_readable = False
        is_foreign = scan.end in (ScanEnd.LEGACY_MAGIC, ScanEnd.UNKNOWN_MAGIC)
        kind = UnsupportedFormatError if is_foreign else CorruptRecordError
        tolerate(kind(scan.problem, where), self._mode)
