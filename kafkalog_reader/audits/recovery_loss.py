"""What goes with a start: byte ranges of segments, and the records that are sound there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery_batches import BatchWalk
from kafkalog_reader.tables.batch_scan import batch_starts_at
from kafkalog_reader.tables.sparse_index import SparseIndex

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery_segment import LoadingSegment
    from kafkalog_reader.io.evidence import SegmentFiles
    from kafkalog_reader.tables.table import Progress

_MOST_RESUMPTIONS: Final = 64
"""How often a count goes on behind damage that hides where the next batch begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRange:
    """Bytes of one segment that a start removes."""

    files: SegmentFiles
    start: int
    stop: int
    follow_links: bool

    @classmethod
    def of(cls, segment: LoadingSegment, start: int | None = None) -> LostRange:
        """A segment from a position in its file on; by default all of it."""
        return cls(
            files=segment.files,
            start=segment.start if start is None else start,
            stop=segment.stop,
            follow_links=segment.follow_links,
        )

    @property
    def size_in_bytes(self) -> int:
        return self.stop - self.start

    def records(self, progress: Progress) -> int:
        """Records of the sound batches in it: what could have been saved.

        Behind damage that hides where the next batch begins, the count goes on at the next entry
        of the offset index that a sound batch confirms; without one it ends there.

        Raises:
            UnreadableFileError: a file cannot be opened or read.
        """
        records, position = 0, self.start
        for _ in range(_MOST_RESUMPTIONS):
            walk = BatchWalk(
                self.files.path("log"),
                position,
                self.stop,
                check_crc=True,
                progress=progress,
                follow_links=self.follow_links,
            )
            for batches in walk:
                records += int(batches.records[batches.is_sound].sum())
            following = None if not walk.problem else self._indexed_after(walk.end_position)
            if following is None:
                return records
            position = following
        return records

    def _indexed_after(self, position: int) -> int | None:
        if not self.files.offset_index_size:
            return None
        with SparseIndex(self.files, follow_links=self.follow_links) as index:
            for number in range(index.last_up_to_position(position) + 1, len(index)):
                following = index[number][1]
                if following >= self.stop:
                    return None
                if batch_starts_at(self.files, following, follow_links=self.follow_links):
                    return following
        return None
