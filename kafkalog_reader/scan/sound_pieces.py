"""Pieces of one segment, scanned side by side by threads that have nothing else to do.

Where a batch begins is known when the one before it was read. But the offset index names batches
all over the segment, and a piece from one of these to another counts as soon as the piece before
it ends exactly there: lengths and checksums prove it, the index only proposes.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.read_rate import rate_limit
from kafkalog_reader.io.window import Windows
from kafkalog_reader.scan.sound_scan import SoundScan
from kafkalog_reader.scan.sparse_index import ENTRY_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import SegmentFiles
    from kafkalog_reader.io.threads import Threads
    from kafkalog_reader.scan.batch_scan import BatchRun

_MAX_INDEX: Final = 64 << 20
"""Bytes; ``segment.index.bytes`` is 10 MiB, and an entry stands for 4 KiB of log."""
_ALL_WINDOWS: Final = 64 << 20
_MIN_WINDOW: Final = 1 << 20
_MAX_WINDOW: Final = 16 << 20
_ALONE: Final = 64 << 20
"""Bytes until it is asked again whether a thread can help."""


class SoundPieces:
    """Iterates over the batches of a segment up to the first piece that is not sound.

    Sound is what every reader would take for it: batches of magic 2 with valid checksums, one
    behind the other. What comes behind ``end_position`` is somebody else's to judge. Without an
    index, and behind its last entry, one thread scans alone.

    Args:
        segment: the segment.
        start, stop: a part of it, from a batch border on.
        threads: those that may help.
        columns_only: see ``SoundScan``.

    Attributes:
        end_position: the first byte behind what came out.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """

    def __init__(
        self,
        segment: SegmentFiles,
        start: int,
        stop: int,
        *,
        threads: Threads,
        columns_only: bool,
        follow_links: bool = False,
    ) -> None:
        self.end_position = start
        self._segment = segment
        self._stop = stop
        self._threads = threads
        self._columns_only = columns_only
        self._follow_links = follow_links
        self._window_size = max(_MIN_WINDOW, min(_MAX_WINDOW, _ALL_WINDOWS // (2 * threads.count)))
        self._next_start = start
        self._positions: NDArray[np.int64]

    def __iter__(self) -> Iterator[BatchRun]:
        """Yield the runs of the pieces, in file order."""
        self._positions = _positions(self._segment, follow_links=self._follow_links)
        ahead: deque[_Piece] = deque()
        try:
            while self.end_position < self._stop:
                self._look_ahead(ahead)
                piece = ahead.popleft() if ahead else self._piece(self.end_position, self._stop)
                for run in piece.sound_runs(ahead):
                    self.end_position = int(run.position[-1]) + int(run.size_in_bytes[-1])
                    yield run
                if self.end_position != piece.stop:
                    return
        finally:
            for piece in ahead:
                piece.claim()

    def _look_ahead(self, ahead: deque[_Piece]) -> None:
        """Have one piece for this thread, and two for each that can help."""
        helpers = min(self._threads.idle, self._threads.count - 1)
        while len(ahead) < 1 + 2 * helpers:
            piece = self._next_piece(self._window_size if helpers else _ALONE)
            if piece is None:
                return
            if ahead:
                piece.offer_to(self._threads)
            ahead.append(piece)

    def _next_piece(self, size: int) -> _Piece | None:
        """A piece between positions that the index names; none begins with the last of them."""
        if rate_limit() is not None:
            return None
        start = self._next_start
        number = int(np.searchsorted(self._positions, start + size, "right")) - 1
        stop = int(self._positions[number]) if number >= 0 else 0
        if not start < stop <= min(start + size, self._stop):
            return None
        self._next_start = stop
        return self._piece(start, stop)

    def _piece(self, start: int, stop: int) -> _Piece:
        scan = SoundScan(
            self._segment.path("log"),
            start,
            stop,
            columns_only=self._columns_only,
            window_size=self._window_size,
            follow_links=self._follow_links,
        )
        return _Piece(scan, stop)


class _Piece:
    """A part of a segment that may consist of whole batches; one thread scans it."""

    def __init__(self, scan: SoundScan, stop: int) -> None:
        self.stop = stop
        self._scan = scan
        self._is_claimed = False
        self._runs: Future[list[BatchRun]] | list[BatchRun] | None = None

    def offer_to(self, threads: Threads) -> None:
        """Have another thread scan it: it fits into one window, which all of its runs keep."""
        self._runs = threads.offer(self._all_runs)

    def claim(self) -> bool:
        """Take it back, unless somebody scans it or did."""
        if self._is_claimed or not (isinstance(self._runs, Future) and self._runs.cancel()):
            return False
        self._is_claimed = True
        return True

    def sound_runs(self, ahead: deque[_Piece]) -> Iterator[BatchRun]:
        """Yield its batches; while another thread scans it, scan what comes later."""
        if self._runs is None or self.claim():
            return iter(self._scan)
        while isinstance(self._runs, Future) and not self._runs.done():
            later = next((piece for piece in ahead if piece.claim()), None)
            if later is None:
                break
            later._runs = later._all_runs()
        return iter(self._runs if isinstance(self._runs, list) else self._runs.result())

    def _all_runs(self) -> list[BatchRun]:
        """Its batches; none where it is not sound, for then the window has been used again."""
        runs: list[BatchRun] = []
        with suppress(LocatedError):  # the real reading reports it
            runs.extend(self._scan)
        return runs if self._scan.end_position == self.stop else []


def _positions(segment: SegmentFiles, *, follow_links: bool) -> NDArray[np.int64]:
    """Where batches begin, as the offset index says; nothing where it cannot be read."""
    nothing = np.empty(0, np.int64)
    if not segment.offset_index_size or segment.offset_index_size > _MAX_INDEX:
        return nothing
    try:
        with Windows(
            segment.path("index"), size=segment.offset_index_size, follow_links=follow_links
        ) as windows:
            content = windows.read(0)
    except LocatedError:
        return nothing
    entries = np.frombuffer(content, ">i4", len(content) // ENTRY_SIZE * 2)
    positions = entries[1::2].astype(np.int64)
    used = np.flatnonzero(positions)  # what was preallocated is zeros
    return positions[: int(used[-1]) + 1] if used.size else nothing
