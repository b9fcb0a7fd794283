"""What goes with a start: byte ranges of segments, and the records that are sound there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.audits.recovery_batches import BatchWalk
from kafkalog_reader.io.window import Windows
from kafkalog_reader.tables.batch_scan import HEADER_SIZE
from kafkalog_reader.tables.log_tail import batch_starts_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.audits.recovery_segment import LoadingSegment
    from kafkalog_reader.io.evidence import SegmentFiles
    from kafkalog_reader.tables.table import Progress

_WINDOW: Final = 1 << 20
_MOST_SEARCHED: Final = 64 << 20
"""Bytes in which the next batch is looked for, in one range."""
_MOST_TRIES: Final = 1000
"""CRCs that are computed for it: hostile bytes may look like batches everywhere."""


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

        Behind damage that hides where the next batch begins, the count goes on at the next place
        where a sound batch lies, as far as a bounded search finds one.

        Raises:
            UnreadableFileError: a file cannot be opened or read.
        """
        records, position = 0, self.start
        search = _Search(self.files, self.stop, follow_links=self.follow_links)
        while position < self.stop:
            walk = BatchWalk(
                self.files.path("log"),
                position,
                self.stop,
                check_crc=True,
                progress=progress,
                follow_links=self.follow_links,
            )
            for batches in walk:
                sound = np.flatnonzero(batches.is_sound)
                if len(sound):
                    records += int(batches.records[sound].sum())
                    position = int(batches.position[sound[-1]] + batches.size_in_bytes[sound[-1]])
            # A length that lies may have led astray before the walk noticed.
            following = search.after(position) if walk.problem else None
            if following is None:
                break
            position = following
        return records


class _Search:
    """Looks for sound batches in bytes that are no chain of them, up to a limit of work."""

    def __init__(self, files: SegmentFiles, stop: int, *, follow_links: bool) -> None:
        self._files = files
        self._stop = stop
        self._follow_links = follow_links
        self._bytes_left = _MOST_SEARCHED
        self._tries_left = _MOST_TRIES

    def after(self, position: int) -> int | None:
        """The first sound batch that begins behind ``position``; None: none was found."""
        at = position + 1
        with Windows(
            self._files.path("log"), at, self._stop, size=_WINDOW, follow_links=self._follow_links
        ) as windows:
            while self._stop - at >= HEADER_SIZE and self._bytes_left > 0:
                window = windows.read(at, HEADER_SIZE)
                self._bytes_left -= len(window)
                for candidate in self._candidates(window, at):
                    if self._tries_left == 0:
                        return None
                    self._tries_left -= 1
                    if batch_starts_at(self._files, candidate, follow_links=self._follow_links):
                        return candidate
                at += len(window) - HEADER_SIZE + 1
        return None

    def _candidates(self, window: memoryview, origin: int) -> list[int]:
        """Where magic, length and offset are those of a batch of this segment that fits."""
        content = np.frombuffer(window, np.uint8)
        starts = np.flatnonzero(content[16 : len(content) - HEADER_SIZE + 17] == 2)
        lengths = _big_endian(content, starts + 8, 4)
        offsets = _big_endian(content, starts, 8) - self._files.base_offset
        fits = (lengths >= HEADER_SIZE - 12) & (lengths + 12 <= self._stop - origin - starts)
        fits &= (offsets >= 0) & (offsets < 2**31)
        return [int(start) + origin for start in starts[fits]]


def _big_endian(content: NDArray[np.uint8], starts: NDArray[np.intp], size: int) -> Any:  # noqa: ANN401  int64s
    values = np.zeros(len(starts), np.int64)
    for byte in range(size):
        values = (values << 8) | content[starts + byte]
    return values
