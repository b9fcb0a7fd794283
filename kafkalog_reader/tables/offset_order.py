"""Finds the batches of a segment with doubtful offsets: those that other evidence contradicts.

The CRC does not cover base offsets: a batch with a correct CRC can still claim any offset. Batches
vouch for each other where offsets go on without a gap; so do the names of segment files and the
offset index. Of batches whose offsets fall or repeat, the heaviest rising selection is believed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.offset_limits import segment_limit
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.tables.doubtful_batches import (
    BELOW_ITS_SEGMENT,
    BEYOND_AN_INDEX,
    FALLS,
    INTO_THE_NEXT,
    ONE_BIT,
    DoubtfulBatches,
)
from kafkalog_reader.tables.index_votes import IndexVotes
from kafkalog_reader.tables.lone_jumps import lone_jumps
from kafkalog_reader.tables.offset_chain import (
    OffsetChain,
    OffsetColumns,
)
from kafkalog_reader.tables.rising_selection import heaviest_rising

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.segment_slice import SegmentSlice


@dataclass(slots=True)
class SegmentOffsets:
    """The offsets of one segment, gathered run by run; 50 bytes a chain, not a batch.

    Attributes:
        segment_slice: the segment.
        next_base: base offset of the segment that follows; None for the last.
        begins_log: whether it is the first segment. A follower that began inside a batch names that
            segment after its leader's log start (KAFKA-6975).
        shows_cleaning: whether a batch has fewer records than offsets, or a delete horizon.
    """

    segment_slice: SegmentSlice
    next_base: int | None
    begins_log: bool = False
    shows_cleaning: bool = False
    _chains: list[OffsetChain] = field(default_factory=list)

    def add(self, run: BatchRun) -> None:
        """Take the batches of a run that can be read."""
        if not run.count:
            return
        is_new = run.magic == 2
        sparse = is_new & (run.records_count < run.last_offset_delta + 1)
        cleaned = sparse | (is_new & ((run.attributes & DELETE_HORIZON_BIT) != 0))
        self.shows_cleaning |= bool(cleaned.any())
        ends = run.position + run.size_in_bytes
        goes_on = run.position[1:] == ends[:-1]
        goes_on &= run.base_offset[1:] == run.last_offset[:-1] + 1
        firsts = np.concatenate(([0], np.flatnonzero(~goes_on) + 1))
        lasts = np.append(firsts[1:], run.count) - 1
        columns = zip(
            run.position[firsts].tolist(),
            ends[lasts].tolist(),
            run.base_offset[firsts].tolist(),
            run.last_offset[lasts].tolist(),
            (lasts - firsts + 1).tolist(),
            strict=True,
        )
        for values in columns:
            chain = OffsetChain(*values)
            before = self._chains[-1] if self._chains else None
            if before is not None and before.is_continued_by(chain):
                before.extend(chain)
            else:
                self._chains.append(chain)

    def doubtful(
        self, again: Callable[[], Iterable[BatchRun]], *, may_be_cleaned: bool
    ) -> list[DoubtfulBatches]:
        """Judge the segment.

        Args:
            again: reads its batches once more; called if offsets fall or repeat.
            may_be_cleaned: compaction may have left gaps.
        """
        if not self._chains:
            return []
        votes = IndexVotes(self.segment_slice)
        found: list[DoubtfulBatches] = []
        chains = self._chains
        if not self._is_rising():
            batches = OffsetColumns.of(again())
            found += self._restored(batches)
            kept = self._believed(batches, votes)
            found += self._omitted(batches, kept)
            chains = batches.chains(kept)
        jumped: set[int] = set()
        if not (may_be_cleaned or self.shows_cleaning):
            jumps = lone_jumps(
                chains,
                votes,
                lowest=self._lowest,
                end_position=self.segment_slice.stop,
                next_base=self.next_base,
            )
            found += jumps
            jumped = {each.position for each in jumps}
        self._chains = [chain for chain in chains if chain.position not in jumped]
        return sorted(found, key=lambda each: each.position)

    def believed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last offsets of the batches that are not doubtful, in rising order.

        A batch whose base offset is proven wrong has the right one here.
        """
        bases = np.array([chain.base_offset for chain in self._chains], np.int64)
        return bases, np.array([chain.last_offset for chain in self._chains], np.int64)

    def _is_rising(self) -> bool:
        due = self._lowest
        for chain in self._chains:
            if not due <= chain.base_offset <= chain.last_offset < self._limit:
                return False
            due = chain.last_offset + 1
        return True

    @property
    def _lowest(self) -> int:
        """The lowest offset that a batch of this segment can have."""
        base = self.segment_slice.segment.base_offset
        first = self._chains[0]
        if self.begins_log and first.base_offset < base <= first.last_offset:
            return max(first.base_offset, 0)
        return base

    @property
    def _limit(self) -> int:
        """One above the highest offset that a batch of this segment can have."""
        return segment_limit(self.segment_slice.segment.base_offset, self.next_base)

    def _believed(self, batches: OffsetColumns, votes: IndexVotes) -> NDArray[np.bool_]:
        """Which batches belong to the heaviest selection whose offsets rise."""
        base, last = batches.base_offset, batches.last_offset
        own_base = self._lowest
        fits = (base >= own_base) & (last >= base) & (last < self._limit)
        rows = np.flatnonzero(fits)
        kept = np.zeros(len(base), np.bool_)
        if not len(rows):
            return kept
        ends = [chain.last_offset + 1 for chain in self._chains]
        borders = np.unique(np.array([chain.base_offset for chain in self._chains] + ends))
        goes_on = (rows[1:] == rows[:-1] + 1) & (base[rows[1:]] == last[rows[:-1]] + 1)
        goes_on &= ~np.isin(base[rows[1:]], borders)
        firsts = np.concatenate(([0], np.flatnonzero(~goes_on) + 1))
        lasts = np.append(firsts[1:], len(rows)) - 1
        nodes = [
            OffsetChain(*values)
            for values in zip(
                batches.position[rows[firsts]].tolist(),
                (batches.position + batches.size)[rows[lasts]].tolist(),
                base[rows[firsts]].tolist(),
                last[rows[lasts]].tolist(),
                (lasts - firsts + 1).tolist(),
                strict=True,
            )
        ]
        chosen = heaviest_rising(
            [(node.base_offset, node.last_offset) for node in nodes],
            [4 * node.batches + votes.of(node) for node in nodes],
            start=own_base,
            stop=self._limit,
        )
        for number in chosen:
            kept[rows[firsts[number]] : rows[lasts[number]] + 1] = True
        return kept

    def _restored(self, batches: OffsetColumns) -> list[DoubtfulBatches]:
        """Correct the batches in which one bit of the base offset is wrong, and that is proven."""
        found = []
        for row, stored, due in batches.restored(self._lowest, self.next_base):
            last = stored + int(batches.last_offset[row]) - due
            bit = (stored ^ due).bit_length() - 1
            found.append(
                DoubtfulBatches(
                    position=int(batches.position[row]),
                    end_position=int(batches.position[row] + batches.size[row]),
                    first_offset=stored,
                    last_offset=last,
                    likely_offset=due,
                    problem=f"{self._contradiction(stored, last, due)}; bit {bit} of the base "
                    f"offset was flipped: with {due} it joins the batches before and after it",
                    code=ONE_BIT,
                )
            )
        return found

    def _omitted(self, batches: OffsetColumns, kept: NDArray[np.bool_]) -> list[DoubtfulBatches]:
        rows = np.flatnonzero(~kept)
        if not len(rows):
            return []
        found = []
        base, last = batches.base_offset, batches.last_offset
        for group in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1):
            before, after = int(group[0]) - 1, int(group[-1]) + 1
            due = int(last[before]) + 1 if before >= 0 else self._lowest
            following = int(base[after]) if after < len(base) else None
            span = int((last[group] - base[group] + 1).sum())
            found.append(
                DoubtfulBatches(
                    position=int(batches.position[group[0]]),
                    end_position=int((batches.position + batches.size)[group[-1]]),
                    first_offset=int(base[group[0]]),
                    last_offset=int(last[group[-1]]),
                    likely_offset=due if following == due + span else None,
                    problem=self._contradiction(int(base[group[0]]), int(last[group[-1]]), due),
                    code=self._code(group[0] == 0, int(base[group[0]]), int(last[group[-1]])),
                )
            )
        return found

    def _contradiction(self, first: int, last: int, due: int) -> str:
        claimed = offsets_words(first, last + 1)
        own_base = self._lowest
        if first < own_base:
            return f"claims {claimed}, below the segment, which begins at {own_base}"
        if last >= self._limit:
            return f"claims {claimed}, above the segment, whose offsets are below {self._limit}"
        if first < due:
            return f"claims {claimed}, where {due} is due: offsets fall or repeat"
        return f"claims {claimed}, where {due} is due and the batches after it go on below"

    def _code(self, is_first: bool, first: int, last: int) -> str:
        if is_first and first < self._lowest:
            return BELOW_ITS_SEGMENT
        if last < self._limit:
            return FALLS
        return INTO_THE_NEXT if self._limit == self.next_base else BEYOND_AN_INDEX
