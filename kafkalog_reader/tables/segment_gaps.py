"""Finds what a consumer does not get of one segment, from the headers of its batches.

Only batches with fewer records than offsets are decoded, and only their offsets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, control_types
from kafkalog_reader.decode.record_decoder import RecordDecoder
from kafkalog_reader.errors import LimitReachedError
from kafkalog_reader.format.batch_fields import CODEC_MASK, MAGIC
from kafkalog_reader.format.compression import unknown_codec_text
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.scan import Scan
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.offset_spans import Fate, OffsetSpans, joined
from kafkalog_reader.tables.transaction_outcomes import CONTROL_BATCH, UNDECIDED
from kafkalog_reader.tables.transaction_states import TransactionStates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.io.segment_files import SegmentFiles

_MOVED: Final = "its base offset, which no checksum covers, does not fit to its neighbours"
NO_BATCH: Final = -1
"""In the place of a batch's position, for compacted records whose whole batch is gone."""


class _UndecodableBatches(Damage):
    """Notes batches whose records cannot be decoded, by position."""

    def __init__(self) -> None:
        super().__init__(Mode.DROPMALFORMED)
        self.problems: dict[int, str] = {}

    def left_out(
        self, error: LocatedError, *, batches: int = 1, next_offset: int | None = None
    ) -> None:
        del batches, next_offset
        if isinstance(error, LimitReachedError):  # not damage: what is in there is unknown
            raise error
        if error.where.position is not None:
            self.problems[error.where.position] = error.problem


class SegmentGaps:
    """Iterates over the spans of one segment: together they cover it without holes.

    Args:
        directory: the replica.
        segment: a segment of it that has a log file.
        first_offset: where to begin; spans below it are left out.
        last_stable_offset: from here on nothing is visible to read_committed; None is unknown.
        progress: receives the bytes read.

    Attributes:
        notes: descriptions of damage, by number.
        reached: one past the last span.
        end: the unreadable region that ends the segment; None if a whole batch does.
        unread: damage after the last span: its position and description.
        end_position: where the last span ends in the file.
    """

    def __init__(
        self,
        directory: PartitionDirectory,
        segment: SegmentFiles,
        first_offset: int,
        last_stable_offset: int | None,
        progress: Progress,
    ) -> None:
        self.notes: list[str] = []
        self.reached = first_offset
        self.end: UnreadableRegion | None = None
        self.unread: tuple[int, str] | None = None
        self.end_position = 0
        self._last_stable_offset = last_stable_offset
        self._slice = SegmentSlice.whole(directory, segment)
        self._states = TransactionStates(self._slice)
        self._scan = Scan(segment, progress=progress, context=directory.context)

    @property
    def log_end(self) -> int:
        """One past the last batch, damaged or not."""
        return max(self.reached, self._scan.next_offset or 0)

    def __iter__(self) -> Iterator[OffsetSpans]:
        """Yield the spans, a window at a time.

        Raises:
            LimitReachedError: a batch that must be decoded is too large.
            UnreadableFileError: the file cannot be read.
        """
        for found in self._scan:
            self.end = found if isinstance(found, UnreadableRegion) else None
            if isinstance(found, BatchRun):
                yield self._spans(found)
            elif self.end is not None and not self.end.is_unfinished:
                self.unread = self.unread or (self.end.start, self.end.description)

    def note(self, text: str) -> list[int]:
        """The facts of damage with this description."""
        self.notes.append(text)
        return [len(self.notes) - 1, 0]

    def _spans(self, run: BatchRun) -> OffsetSpans:
        fates, facts = self._fates(run)
        is_sound = run.crc_valid & run.has_known_codec
        is_control = fates == Fate.CONTROL
        count = run.records_count
        is_full = ~run.is_wrapper & (count == run.last_offset - run.base_offset + 1)
        is_whole = is_sound & (count > 0) & (is_control | is_full)
        whole = np.flatnonzero(is_whole)
        sparse = np.flatnonzero(is_sound & (count != 0) & ~is_whole)
        first, stop, of_batch, problems = self._decoded(run, sparse)
        damaged = np.flatnonzero(~is_sound)
        if problems:
            positions = np.array(list(problems), np.int64)
            damaged = np.union1d(damaged, np.searchsorted(run.position, positions))
        rows = np.concatenate((whole, of_batch))
        first = np.concatenate((run.base_offset[whole], first))
        stop = np.concatenate((run.last_offset[whole] + 1, stop))
        order = np.lexsort((first, rows))
        rows = rows[order]
        present = OffsetSpans(
            first[order], stop[order], fates[rows], run.position[rows], facts[rows]
        )
        moved = _moved(present, self.reached)
        if len(moved):
            problems |= {int(run.position[row]): _MOVED for row in rows[moved]}
            damaged = np.union1d(damaged, rows[moved])
            is_kept = np.ones(len(rows), np.bool_)
            is_kept[moved] = False
            rows, present = rows[is_kept], present.taken(is_kept)
        found = self._covered(run, rows, present, damaged, problems)
        if len(found):
            self.reached = int(found.next[-1])
            self.end_position = int(run.position[-1]) + int(run.size_in_bytes[-1])
        return found.merged()

    def _fates(self, run: BatchRun) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """The fate of the records of each batch, and its facts."""
        outcomes, markers = self._states.with_markers(run)
        fates = np.full(run.count, Fate.VISIBLE, np.int8)
        is_open = outcomes == UNDECIDED
        if self._last_stable_offset is not None:
            is_open |= run.base_offset >= self._last_stable_offset
        fates[is_open] = Fate.OPEN
        fates[outcomes == ABORT] = Fate.ABORTED
        fates[outcomes == CONTROL_BATCH] = Fate.CONTROL
        facts = np.zeros((run.count, 2), np.int64)
        hidden = fates != Fate.VISIBLE
        facts[hidden, 0] = run.producer_id[hidden]
        facts[is_open, 0] = -1
        facts[is_open, 1] = -1 if self._last_stable_offset is None else self._last_stable_offset
        is_aborted = fates == Fate.ABORTED
        facts[is_aborted] = np.stack((run.producer_id, markers), axis=1)[is_aborted]
        control = np.flatnonzero((fates == Fate.CONTROL) & run.crc_valid)
        facts[control] = np.stack((run.producer_id[control], control_types(run, control)), axis=1)
        return fates, facts

    def _decoded(
        self, run: BatchRun, sparse: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp], dict[int, str]]:
        """Spans of the records in some batches, their batches, and problems by position."""
        nothing = np.empty(0, np.int64)
        if not len(sparse):
            return nothing, nothing, nothing.astype(np.intp), {}
        damage = _UndecodableBatches()
        decoder = RecordDecoder(frozenset({"offset"}), self._slice, damage)
        firsts, stops, batches = [nothing], [nothing], [nothing.astype(np.intp)]
        part = run.taken(sparse)
        for decoded in (*decoder.add(part), *decoder.flush()):
            offsets = decoded.columns.offset
            position = decoded.of_records(decoded.of_batches("position"))
            begins = (np.diff(offsets) != 1) | (np.diff(position) != 0)
            starts = np.concatenate(([0], np.flatnonzero(begins) + 1))
            ends = np.concatenate((starts[1:], [len(offsets)])) - 1
            firsts.append(offsets[starts].copy())
            stops.append(offsets[ends] + 1)
            batches.append(np.searchsorted(run.position, position[starts]))
        return (
            np.concatenate(firsts), np.concatenate(stops), np.concatenate(batches), damage.problems
        )  # fmt: skip

    def _covered(
        self,
        run: BatchRun,
        rows: NDArray[np.intp],
        present: OffsetSpans,
        damaged: NDArray[np.intp],
        problems: dict[int, str],
    ) -> OffsetSpans:
        """The spans that are present, and those between them, from ``reached`` on."""
        previous = np.maximum.accumulate(np.concatenate(([self.reached], present.next)))
        row_before = np.concatenate(([-1], rows))
        is_hole = present.first > previous[:-1]
        numbers = np.flatnonzero(is_hole)
        span = previous[numbers], present.first[numbers]
        holes = _compacted(run, span, row_before[numbers], rows[numbers])
        seen = np.searchsorted(damaged, row_before, side="right")
        for hole in np.flatnonzero(np.diff(seen)[numbers]).tolist():
            row = int(damaged[seen[numbers[hole]]])
            self._mark(holes, hole, int(run.position[row]), _problem(run, row, problems))
        if self.unread is not None and len(present):
            if len(numbers) and numbers[0] == 0:
                self._mark(holes, 0, *self.unread)
            self.unread = None
        last = row_before[-1]
        later = damaged[damaged > last]
        if len(later) and self.unread is None:
            row = int(later[0])
            self.unread = int(run.position[row]), _problem(run, row, problems)
        together = joined((holes, present))
        order = np.lexsort((together.first, np.concatenate((numbers, np.arange(len(present))))))
        return together.taken(order).above(self.reached)

    def _mark(self, holes: OffsetSpans, number: int, position: int, problem: str) -> None:
        holes.fate[number] = Fate.DAMAGED
        holes.position[number] = position
        holes.facts[number] = self.note(problem)


def _moved(present: OffsetSpans, reached: int) -> NDArray[np.intp]:
    """Numbers of spans whose offsets contradict their neighbours: no checksum covers base offsets.

    Of two that fall, the first is wrong if the second fits to what is before both.
    """
    falls = np.flatnonzero(present.first[1:] < present.next[:-1])
    before = np.where(falls > 0, present.next[falls - 1], reached)
    return np.unique(np.where(present.first[falls + 1] >= before, falls, falls + 1))


def _compacted(
    run: BatchRun,
    span: tuple[NDArray[np.int64], NDArray[np.int64]],
    before: NDArray[np.intp],
    after: NDArray[np.intp],
) -> OffsetSpans:
    """Spans between records, with the batch that each was in if it is left."""
    first, stop = span
    is_sparse = run.magic == MAGIC
    in_next = is_sparse[after] & (first >= run.base_offset[after])
    in_last = (before >= 0) & is_sparse[before] & (first <= run.last_offset[before])
    is_emptied = (before >= 0) & (after - before > 1)
    batch = np.select([in_next, in_last, is_emptied], [after, before, before + 1], -1)
    held, room = run.records_count[batch], run.last_offset_delta[batch].astype(np.int64) + 1
    facts = np.stack((held.astype(np.int64), room), axis=1)
    facts[batch < 0] = NO_BATCH
    position = run.position[np.where(batch < 0, after, batch)]
    return OffsetSpans(first, stop, np.full(len(first), Fate.COMPACTED, np.int8), position, facts)


def _problem(run: BatchRun, row: int, problems: dict[int, str]) -> str:
    """What is wrong with a damaged batch."""
    if not run.crc_valid[row]:
        stored, computed = int(run.crc[row]), int(run.crc_computed[row])
        return f"CRC stored 0x{stored:08x}, computed 0x{computed:08x}"
    known = problems.get(int(run.position[row]))
    codec, magic = int(run.attributes[row]) & CODEC_MASK, int(run.magic[row])
    return known or unknown_codec_text(codec, magic)
