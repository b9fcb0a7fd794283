"""Finds the batches of a segment with doubtful offsets: those that other evidence contradicts.

The CRC does not cover base offsets: a batch with a correct CRC can still claim any offset. Batches
vouch for each other where offsets go on without a gap; so do the names of segment files and the
offset index. Of batches whose offsets fall or repeat, the heaviest rising selection is believed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT, MAGIC
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.index_file import read_entries
from kafkalog_reader.tables.restored_offsets import restored_offsets
from kafkalog_reader.tables.rising_selection import heaviest_rising

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.segment_slice import SegmentSlice

HIGHEST_OFFSET: Final = 2**63 - 1
MAX_ABOVE_BASE: Final = 2**31 - 1
_FALLS: Final = "KL-110"
_JUMPED: Final = "KL-111"
_BEYOND_AN_INDEX: Final = "KL-114"
_BELOW_ITS_SEGMENT: Final = "KL-401"
_INTO_THE_NEXT: Final = "KL-402"
_ONE_BIT: Final = "KL-119"
CODES: Final = (_FALLS, _JUMPED, _BEYOND_AN_INDEX, _BELOW_ITS_SEGMENT, _INTO_THE_NEXT, _ONE_BIT)
"""Codes of findings that ``DoubtfulBatches`` carry."""
_FEW: Final = 3
_BATCHES_A_JUMP: Final = 20
"""Lone jumps more frequent than one in this many batches are taken for compaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulBatches:
    """Adjacent batches of one segment with doubtful offsets.

    Attributes:
        position, end_position: the byte range of the segment file that they lie in.
        first_offset, last_offset: as their headers have them, from the first to the last batch.
        likely_offset: set if their neighbours leave exactly enough room; else None.
        problem: why, in words.
        code: of the finding that ``kafkalog verify`` has there.
    """

    position: int
    end_position: int
    first_offset: int
    last_offset: int
    likely_offset: int | None
    problem: str
    code: str

    @property
    def is_proven(self) -> bool:
        """Whether it is one batch, and one bit of its base offset makes it ``likely_offset``."""
        return self.code == _ONE_BIT


@dataclass(slots=True)
class _Chain:
    """Adjacent batches with consecutive offsets."""

    position: int
    end_position: int
    base_offset: int
    last_offset: int
    batches: int

    @property
    def offsets(self) -> int:
        return self.last_offset - self.base_offset + 1


@dataclass(slots=True)
class SegmentOffsets:
    """The offsets of one segment, gathered run by run; 50 bytes a chain, not a batch.

    Attributes:
        segment_slice: the segment.
        behind: base offset of the segment that follows, ``HIGHEST_OFFSET`` for the last.
        begins_log: whether it is the first segment. A follower that began inside a batch names that
            segment after its leader's log start (KAFKA-6975).
        shows_cleaning: whether a batch has fewer records than offsets, or a delete horizon.
    """

    segment_slice: SegmentSlice
    behind: int
    begins_log: bool = False
    shows_cleaning: bool = False
    _chains: list[_Chain] = field(default_factory=list)

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
            chain = _Chain(*values)
            before = self._chains[-1] if self._chains else None
            if before is not None and _goes_on(before, chain):
                before.end_position, before.last_offset = chain.end_position, chain.last_offset
                before.batches += chain.batches
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
        votes = _IndexVotes(self.segment_slice)
        found: list[DoubtfulBatches] = []
        chains = self._chains
        if not self._is_rising():
            batches = _OffsetColumns.of(again())
            found += self._restored(batches)
            kept = self._believed(batches, votes)
            found += self._omitted(batches, kept)
            chains = batches.chains(kept)
        jumps = self._lone_jumps(chains, votes, may_be_cleaned or self.shows_cleaning)
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
        highest = self.segment_slice.segment.base_offset + MAX_ABOVE_BASE + 1
        return min(self.behind, highest)

    def _believed(self, batches: _OffsetColumns, votes: _IndexVotes) -> NDArray[np.bool_]:
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
            _Chain(*values)
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

    def _restored(self, batches: _OffsetColumns) -> list[DoubtfulBatches]:
        """Correct the batches in which one bit of the base offset is wrong, and that is proven."""
        stop = None if self.behind == HIGHEST_OFFSET else self.behind
        found = []
        for row, stored, due in batches.restored(self._lowest, stop):
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
                    code=_ONE_BIT,
                )
            )
        return found

    def _omitted(self, batches: _OffsetColumns, kept: NDArray[np.bool_]) -> list[DoubtfulBatches]:
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
            return _BELOW_ITS_SEGMENT
        if last < self._limit:
            return _FALLS
        return _INTO_THE_NEXT if self._limit == self.behind else _BEYOND_AN_INDEX

    def _lone_jumps(
        self, chains: list[_Chain], votes: _IndexVotes, may_be_cleaned: bool
    ) -> list[DoubtfulBatches]:
        """Batches after a gap that no evidence supports, in a log that was not compacted."""
        if may_be_cleaned:
            return []
        found = []
        first, final = self._lowest, len(chains) - 1
        for number, chain in enumerate(chains):
            before = chains[number - 1] if number else None
            due = first if before is None else before.last_offset + 1
            is_behind = chain.position == (0 if before is None else before.end_position)
            if is_behind and chain.base_offset == due:
                continue
            jumped = is_behind and chain.base_offset > due
            vote = votes.of(chain)
            if chain.batches > 1 or vote > 0:
                if not jumped or vote >= 0:
                    continue
                why = "and the offset index names other offsets for these positions"
            else:
                if number < final:
                    after = chains[number + 1]
                    jumped |= after.position == chain.end_position
                elif self.behind != HIGHEST_OFFSET:
                    if chain.last_offset + 1 == self.behind:
                        continue
                    jumped |= chain.end_position == self.segment_slice.stop
                if not jumped:
                    continue
                why = "and nothing after it goes on from there"
            found.append((chain, due, why))
        batches = sum(chain.batches for chain in chains)
        if len(found) > _FEW and len(found) * _BATCHES_A_JUMP > batches:
            return []
        return [
            DoubtfulBatches(
                position=chain.position,
                end_position=chain.end_position,
                first_offset=chain.base_offset,
                last_offset=chain.last_offset,
                likely_offset=None,
                problem=f"jump from offset {due} to {chain.base_offset}, {why}",
                code=_JUMPED,
            )
            for chain, due, why in found
        ]


def _goes_on(before: _Chain, chain: _Chain) -> bool:
    return chain.position == before.end_position and chain.base_offset == before.last_offset + 1


class _IndexVotes:
    """What the offset index of a segment says about batches; read on first use."""

    def __init__(self, segment_slice: SegmentSlice) -> None:
        self._segment = segment_slice.segment
        self._context = segment_slice.directory.context
        self._entries: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def of(self, chain: _Chain) -> int:
        """1 if an entry confirms the offsets, -1 if all entries contradict them, else 0."""
        positions, offsets = self._read()
        first, stop = np.searchsorted(positions, [chain.position, chain.end_position])
        if first == stop:
            return 0
        named = offsets[first:stop]
        inside = (named >= chain.base_offset) & (named <= chain.last_offset)
        return 1 if bool(inside.any()) else -1

    def _read(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self._entries is None:
            parts: list[NDArray[Any]] = []
            if self._segment.offset_index_size:
                try:
                    path = self._segment.path("index")
                    read = read_entries(path, OFFSET_INDEX_ENTRY, no_progress, self._context)
                    parts = [entries for _, entries in read]
                except UnreadableFileError:  # the other votes stay as they are
                    parts = []
            entries = np.concatenate(parts) if parts else np.empty(0, OFFSET_INDEX_ENTRY.dtype)
            positions = entries["position"].astype(np.int64)
            offsets = entries["relative_offset"].astype(np.int64) + self._segment.base_offset
            order = np.argsort(positions, kind="stable")
            self._entries = positions[order], offsets[order]
        return self._entries


def _last_offsets(run: BatchRun) -> NDArray[np.int64]:
    """As the headers have them, also where the base offset is negative."""
    return np.where(
        run.magic < MAGIC, run.last_offset, run.base_offset + run.last_offset_delta.astype(np.int64)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _OffsetColumns:
    """Every batch of a segment, 29 bytes each."""

    position: NDArray[np.int64]
    size: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    magic: NDArray[np.int8]

    @classmethod
    def of(cls, runs: Iterable[BatchRun]) -> _OffsetColumns:
        parts = [
            (r.position.copy(), r.size_in_bytes.astype(np.int64), r.base_offset.copy(),
             _last_offsets(r), r.magic.copy())
            for r in runs
        ]  # fmt: skip
        position, size, base, last, magic = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )
        return cls(position=position, size=size, base_offset=base, last_offset=last, magic=magic)

    def restored(self, start: int, stop: int | None) -> list[tuple[int, int, int]]:
        """See ``restored_offsets``; of messages, the stored offset may be that of the last one."""
        if self.magic.min() < MAGIC:
            return []
        return restored_offsets(self.base_offset, self.last_offset, start, stop)

    def chains(self, kept: NDArray[np.bool_]) -> list[_Chain]:
        """The chains of the batches that are kept."""
        found: list[_Chain] = []
        rows = np.flatnonzero(kept)
        for row in rows.tolist():
            end = int(self.position[row] + self.size[row])
            chain = _Chain(
                int(self.position[row]), end, int(self.base_offset[row]),
                int(self.last_offset[row]), 1,
            )  # fmt: skip
            if found and _goes_on(found[-1], chain):
                found[-1].end_position, found[-1].last_offset = end, chain.last_offset
                found[-1].batches += 1
            else:
                found.append(chain)
        return found
