"""Batches of a replica in rising offset order; what stands in nobody's order is left out.

Base offsets lie outside of the CRC: a batch with a sound CRC can still claim any offset. One that
was given an offset far ahead must not hide everything behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.selected_batches import batch_position, sound_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import PartitionDirectory
    from kafkalog_reader.tables.batch_scan import BatchRun
    from kafkalog_reader.tables.damage import Damage
    from kafkalog_reader.tables.log_unit import SegmentSlice
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Progress

HIGHEST_OFFSET = 2**63 - 1


class OrderedBatches:
    """Iterates over the sound batches of a replica whose offsets rise.

    Args:
        directory: the replica.
        request: what is asked for of it.
        damage: told of what is not sound and of offsets out of order.
        progress: told the bytes read.

    Attributes:
        next_offset: behind the last batch yielded.
    """

    def __init__(
        self,
        directory: PartitionDirectory,
        request: ReadRequest,
        damage: Damage,
        progress: Progress,
    ) -> None:
        self.next_offset = 0
        self._directory = directory
        self._request = request
        self._damage = damage
        self._progress = progress

    def __iter__(self) -> Iterator[tuple[SegmentSlice, BatchRun]]:
        """Yield runs with the slice that they are of; their windows are valid until the next."""
        pieces = list(slices_of(self._directory, self._request))
        bases = [piece.segment.base_offset for piece in pieces]
        for number, piece in enumerate(pieces):
            behind = next((base for base in bases[number:] if base > bases[number]), HIGHEST_OFFSET)
            self.next_offset = max(self.next_offset, piece.segment.base_offset)
            for run in sound_runs(piece, self._request, self._damage, self._progress):
                rows = self._rows_in_order(run, behind, piece)
                kept = run if rows is None else run.taken(rows)
                if kept.count:
                    self.next_offset = int(kept.last_offset[-1]) + 1
                    yield piece, kept

    def _rows_in_order(
        self, run: BatchRun, behind: int, piece: SegmentSlice
    ) -> NDArray[np.intp] | None:
        """The batches to keep; None is all of them, which is the rule."""
        base, last = run.base_offset, run.last_offset
        fits = (base >= self.next_offset) & (last >= base) & (last < behind)
        if fits.all() and (base[1:] > last[:-1]).all():
            return None
        kept: list[int] = []
        following = self.next_offset
        candidates = np.flatnonzero(fits).tolist()
        for at, row in enumerate(candidates):
            if base[row] < following:
                fits[row] = False
                continue
            after = candidates[at + 1] if at + 1 < len(candidates) else None
            if after is not None and following <= base[after] <= last[row]:
                fits[row] = False  # the next one goes on where this one should have
                continue
            kept.append(row)
            following = int(last[row]) + 1
        for row in np.flatnonzero(~fits).tolist():
            self._damage.left_out(
                CorruptRecordError(
                    f"offsets {base[row]} to {last[row]} are out of order",
                    batch_position(piece, run, row),
                )
            )
        return np.array(kept, np.intp)
