"""A segment and its indexes, written as a broker of 3.9.1 or later writes and closes them.

By the rules of the format reference 4.1, 4.2 and 7.5, over columns of batches.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.io.names import segment_file_name

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

INDEX_INTERVAL: Final = 4096
"""``index.interval.bytes`` as brokers have it by default."""
MAX_INT: Final = 2**31 - 1
"""Of a position and of an offset relative to the base."""


class SegmentFile:
    """One segment that is being written.

    Attributes:
        names: of the files made.
        size: bytes of batches so far.
    """

    def __init__(self, folder: Path, base_offset: int) -> None:
        self.base_offset = base_offset
        self.size = 0
        self.names = [
            segment_file_name(base_offset, kind) for kind in ("log", "index", "timeindex")
        ]
        self._files = ExitStack()
        self._log, self._offsets, self._times = (
            self._files.enter_context((folder / name).open("xb")) for name in self.names
        )
        self._indexed_at = 0
        self._newest = (-1, 0)
        self._newest_indexed = -1

    def room_for(self, last_offset: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
        """How many of these batches still fit: offsets and positions have 31 bits in an index."""
        by_offset = np.searchsorted(last_offset - self.base_offset, MAX_INT, side="right")
        by_size = np.searchsorted(np.cumsum(sizes) + self.size, MAX_INT, side="right")
        return int(min(by_offset, by_size))

    def append(
        self,
        content: NDArray[np.uint8],
        sizes: NDArray[np.int64],
        last_offset: NDArray[np.int64],
        max_timestamp: NDArray[np.int64],
    ) -> None:
        """Write the adjacent batches of ``content``, and their index entries."""
        self._log.write(content.data)
        positions = self.size + np.cumsum(sizes) - sizes
        relative = last_offset - self.base_offset
        rows = self._indexed_rows(positions)
        entries = np.empty(len(rows), dtype=[("offset", ">i4"), ("position", ">i4")])
        entries["offset"], entries["position"] = relative[rows], positions[rows]
        self._offsets.write(entries.tobytes())
        self._append_times(rows, max_timestamp, relative)
        self.size += int(sizes.sum())

    def close(self) -> None:
        """Write the last entry of the time index, and close the files."""
        timestamp, relative = self._newest
        _write_times(self._times, [timestamp], [relative], self._newest_indexed)
        self._files.close()

    def _indexed_rows(self, positions: NDArray[np.int64]) -> NDArray[np.intp]:
        """Batches before which more than an interval went by without an entry."""
        rows: list[int] = []
        while True:
            row = int(np.searchsorted(positions, self._indexed_at + INDEX_INTERVAL, side="right"))
            if row == len(positions):
                return np.array(rows, np.intp)
            rows.append(row)
            self._indexed_at = int(positions[row])

    def _append_times(
        self,
        rows: NDArray[np.intp],
        max_timestamp: NDArray[np.int64],
        relative: NDArray[np.int64],
    ) -> None:
        """Write, for each index entry, the newest timestamp so far and the first batch with it."""
        timestamps = np.append(self._newest[0], max_timestamp)
        newest = np.maximum.accumulate(timestamps)
        is_newer = np.append(True, newest[1:] > newest[:-1])
        first = np.maximum.accumulate(np.where(is_newer, np.arange(len(newest)), 0))
        offsets = np.append(self._newest[1], relative)[first]
        _write_times(self._times, newest[rows + 1], offsets[rows + 1], self._newest_indexed)
        if len(rows):
            self._newest_indexed = max(self._newest_indexed, int(newest[rows[-1] + 1]))
        self._newest = (int(newest[-1]), int(offsets[-1]))


def _write_times(file: IO[bytes], timestamps: Any, relative: Any, before: int) -> None:  # noqa: ANN401  arrays or lists
    timestamps = np.asarray(timestamps, np.int64)
    if not len(timestamps):
        return
    is_newer = timestamps > np.append(before, timestamps[:-1])
    entries = np.empty(int(is_newer.sum()), dtype=[("timestamp", ">i8"), ("offset", ">i4")])
    entries["timestamp"] = timestamps[is_newer]
    entries["offset"] = np.asarray(relative, np.int64)[is_newer]
    file.write(entries.tobytes())
