"""What a start removes: byte ranges of segments, and the sound records in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.log.held_records import (
    HeldRecords,
    count_records,
    in_region,
    sum_of,
)
from kafkalog_reader.errors import (
    CorruptLogError,
    LimitReachedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import Scan
from kafkalog_reader.scan.unreadable_region import UnreadableRegion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.segment import LoadingSegment
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBytes:
    """Bytes of one segment that a start removes.

    Attributes:
        first_offset: the one expected where they begin.
    """

    files: SegmentFiles
    start: int
    stop: int
    context: ReadContext
    first_offset: int

    @classmethod
    def of(cls, segment: LoadingSegment) -> LostBytes:
        """All of a segment."""
        return cls.after(segment, segment.start, segment.base_offset)

    @classmethod
    def after(cls, segment: LoadingSegment, start: int, first_offset: int) -> LostBytes:
        """A segment from a position on, and the offset expected there."""
        return cls(
            files=segment.files,
            start=start,
            stop=segment.stop,
            context=segment.context,
            first_offset=first_offset,
        )

    @property
    def size_in_bytes(self) -> int:
        return self.stop - self.start

    def records(
        self,
        progress: Progress,
        known: ReadSegment | None = None,
        next_base: int | None = None,
    ) -> HeldRecords:
        """Client records of its batches, also after damage, and those that damage may hide.

        Args:
            progress: receives the number of bytes read.
            known: the result of an earlier reading; what it counted is not read again.
            next_base: base offset of the next segment; None if there is none.

        Raises:
            UnreadableFileError: a file cannot be opened or read.
        """
        stop, counted = self.stop, HeldRecords(0, 0)
        if known is not None and known.size_in_bytes == self.stop:
            stop, counted = known.records_since(self.start) or (stop, counted)
        if stop == self.start:
            return counted
        return sum_of((counted, *self._parts(stop, progress, next_base)))

    def _parts(self, stop: int, progress: Progress, next_base: int | None) -> Iterator[HeldRecords]:
        expected = self.first_offset
        for found in self._scan(stop, progress):
            if isinstance(found, UnreadableRegion):
                yield in_region(found, expected, next_base if stop == self.stop else None)
            elif isinstance(found, BatchRun):
                yield self._records(found)
                expected = (
                    max(expected, int(found.last_offset[-1]) + 1) if found.count else expected
                )

    def records_outside(self, first_offset: int, next_offset: int, progress: Progress) -> int:
        """Client records of its sound batches whose base offset is outside a range.

        Raises:
            UnreadableFileError: a file cannot be opened or read.
        """
        found = 0
        for run in self._scan(self.stop, progress).runs():
            base = run.base_offset
            is_outside = (base < first_offset) | (base >= next_offset)
            found += self._records(run.taken(np.flatnonzero(is_outside))).sound
        return found

    def _scan(self, stop: int, progress: Progress) -> Scan:
        return Scan(
            self.files,
            start=self.start,
            stop=stop,
            progress=progress,
            context=self.context,
        )

    def _records(self, run: BatchRun) -> HeldRecords:
        wrappers = np.flatnonzero(
            run.crc_valid & (run.attributes & CONTROL_BIT == 0) & run.is_wrapper
        )
        inside = sum(self._inside(run, batch) for batch in wrappers.tolist())
        return sum_of((count_records(run), HeldRecords(inside, 0)))

    def _inside(self, run: BatchRun, batch: int) -> int:
        """How many messages a compressed one wraps; 1 if unknown."""
        from kafkalog_reader.format.message import parse_message  # slow to import
        from kafkalog_reader.format.message_set import parse_message_set

        position = int(run.position[batch])
        start = position - run.window_position
        content = bytes(run.buffer[start : start + int(run.size_in_bytes[batch])])
        where = LogPosition(shown(self.files.path("log")), position)
        try:
            return parse_message_set(parse_message(content, where), where).count
        except (CorruptLogError, LimitReachedError, UnsupportedFormatError):
            return 1
