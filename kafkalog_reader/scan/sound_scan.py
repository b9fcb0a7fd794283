"""The sound batches that a segment begins with: what every reader would take for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.scan.batch_scan import SegmentScan
from kafkalog_reader.scan.column_scan import ColumnScan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.scan.batch_scan import BatchRun

_ATTEMPTS: Final = 2
"""Without a batch, until no further is made: where it is cold, or markers are in every window."""


class SoundScan:
    """Iterates over batches of magic 2 with valid checksums, one behind the other.

    Args:
        path: the segment file.
        start, stop: a part that starts at a batch border.
        columns_only: the bytes of plain batches are not needed: see ``ColumnScan``.
        window_size: bytes held at once, unless one batch is larger.

    Attributes:
        end_position: the first byte behind what came out.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """

    def __init__(
        self,
        path: str,
        start: int,
        stop: int,
        *,
        columns_only: bool,
        window_size: int,
        follow_links: bool = False,
    ) -> None:
        self.end_position = start
        self._path = path
        self._stop = stop
        self._columns_only = columns_only
        self._window_size = window_size
        self._follow_links = follow_links

    def __iter__(self) -> Iterator[BatchRun]:
        """Yield runs up to the first with a batch that is not sound."""
        attempts = _ATTEMPTS if self._columns_only else 0
        while self.end_position < self._stop:
            start = self.end_position
            if attempts:
                columns = ColumnScan(self._path, start, self._stop, follow_links=self._follow_links)
                for run in columns:
                    self.end_position = columns.end_position
                    yield run
                attempts = _ATTEMPTS if self.end_position > start else attempts - 1
                start = self.end_position
            windows = SegmentScan(
                self._path,
                start,
                self._stop,
                window_size=self._window_size,
                follow_links=self._follow_links,
            )
            for run in windows:
                if not (run.all_valid and run.summary.least_magic == MAGIC):
                    return
                self.end_position = windows.end_position
                yield run
                if attempts:  # the next may be plain again
                    break
            if self.end_position == start:
                return
