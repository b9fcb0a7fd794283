"""A part of a segment that one worker reads, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LogPosition
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.expected_end import ExpectedEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSlice:
    """A byte range of one segment that starts and ends at a record-batch border.

    Attributes:
        start, stop: positions in the segment file.
        from_offset, to_offset: the requested records; half-open, None means unbounded.
        is_log_end: nothing of the replica follows, so that a torn batch at the end is not damage.
        expected_end: where other files prove that the log ends; None if they do not.
        next_base: base offset of the segment that follows; None after the last one.
        begins_log: whether it is the first segment of the log.
        may_be_cleaned: whether compaction may have left gaps between offsets.
        is_replaced: whether the next start deletes it, because ``.swap`` files take its place.
    """

    directory: PartitionDirectory
    segment: SegmentFiles
    start: int
    stop: int
    from_offset: int = 0
    to_offset: int | None = None
    is_log_end: bool = False
    expected_end: ExpectedEnd | None = None
    next_base: int | None = None
    begins_log: bool = False
    may_be_cleaned: bool = True
    is_replaced: bool = False

    @classmethod
    def whole(
        cls, directory: PartitionDirectory, segment: SegmentFiles, *, is_log_end: bool = False
    ) -> SegmentSlice:
        """All of a segment."""
        return cls(
            directory=directory,
            segment=segment,
            start=0,
            stop=segment.log_size or 0,
            from_offset=segment.from_offset,
            to_offset=segment.to_offset,
            is_log_end=is_log_end,
        )

    @property
    def path(self) -> str:
        """The segment file."""
        return self.segment.path("log")


def batch_position(segment_slice: SegmentSlice, run: BatchRun, batch: int) -> LogPosition:
    """The place of one batch of a run."""
    return LogPosition(
        shown(segment_slice.path), int(run.position[batch]), int(run.base_offset[batch])
    )
