"""Batches of a log that begin below the end of the one before, gathered window by window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.log.batch_place import EXAMPLES, Regression
from kafkalog_reader.errors import LogPosition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun


class OffsetFalls:
    """The places at which the offsets of one log decrease.

    Attributes:
        first: the first of them.
        count: how many there are.
        unexplained: how many of these no corrected base offset explains.
        rises: whether the offsets of the last window rise.
    """

    def __init__(self) -> None:
        self.first: list[Regression] = []
        self.count = 0
        self.unexplained = 0
        self.rises = True
        self._in_window: NDArray[np.bool_]

    def look(self, run: BatchRun, path: str, due: int | None) -> None:
        """Take the next window.

        Args:
            run: its batches.
            path: of its segment file, as shown.
            due: one past the offsets before the window; None if it begins the log.
        """
        if run.is_row and (due is None or run.base_offset[0] >= due):
            self._in_window = np.zeros(run.count, np.bool_)
            self.rises = True
            return
        previous_last = np.empty(run.count, dtype=np.int64)
        previous_last[0] = -1 if due is None else due - 1
        previous_last[1:] = run.last_offset[:-1]
        falls = run.base_offset <= previous_last
        falls[1:] &= run.crc_valid[:-1]  # the end of a damaged batch is unknown
        if due is None:
            falls[0] = False
        falling = np.flatnonzero(falls)
        self._in_window = falls
        self.rises = run.summary.offsets_rise
        self.count += len(falling)
        self.unexplained += len(falling)
        for index in falling[: max(0, EXAMPLES - len(self.first))]:
            where = LogPosition(path, int(run.position[index]), int(run.base_offset[index]))
            self.first.append(
                Regression(where=where, previous_last_offset=int(previous_last[index]))
            )

    def explain(self, index: int, *, is_explained: bool) -> None:
        """Note whether a corrected base offset explains the fall at a batch of the window."""
        if self._in_window[index] and is_explained:
            self._in_window[index] = False
            self.unexplained -= 1
