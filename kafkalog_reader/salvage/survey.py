"""The first reading of a replica: what exists, what can be decoded, which offsets are reliable."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.decode.record_decoder import RecordDecoder
from kafkalog_reader.io.compaction import may_be_compacted
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.salvage.counts import Tally, record_counts
from kafkalog_reader.salvage.left_out import NotedDamage
from kafkalog_reader.salvage.manifest import RepairNote, SalvagedPartition
from kafkalog_reader.salvage.offset_coverage import OffsetCoverage
from kafkalog_reader.salvage.transaction_outcomes import TransactionOutcomes
from kafkalog_reader.tables.offset_order import SegmentOffsets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.salvage.readable_batches import ReadableBatches, ReadableRun
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.doubtful_batches import DoubtfulBatches


@dataclass(slots=True)
class Survey:
    """The results of a first reading.

    Attributes:
        found: every complete batch that was read, and the records that could be decoded.
        unreadable: positions of batches whose records cannot be decoded, by displayed file name.
        doubtful: batches with doubtful offsets, by displayed file name.
        outcomes: how transactions ended.
        read: the offsets of the other batches.
    """

    found: Tally = field(default_factory=Tally)
    unreadable: dict[str, set[int]] = field(default_factory=dict)
    doubtful: dict[str, list[DoubtfulBatches]] = field(default_factory=dict)
    outcomes: TransactionOutcomes = field(default_factory=TransactionOutcomes)
    read: OffsetCoverage = field(default_factory=OffsetCoverage)
    may_be_cleaned: bool = False

    def is_doubtful(self, segment_slice: SegmentSlice, run: BatchRun) -> NDArray[np.bool_]:
        """Which batches of a run have doubtful offsets."""
        ranges = self.doubtful.get(shown(segment_slice.path))
        if not ranges:
            return np.zeros(run.count, np.bool_)
        starts = np.array([each.position for each in ranges])
        ends = np.array([each.end_position for each in ranges])
        number = np.searchsorted(starts, run.position, side="right") - 1
        inside: NDArray[np.bool_] = (number >= 0) & (run.position < ends[number])
        return inside

    def is_unreadable(self, segment_slice: SegmentSlice, run: BatchRun) -> NDArray[np.bool_]:
        """Which batches of a run are not decoded to their end."""
        positions = self.unreadable.get(shown(segment_slice.path))
        if not positions:
            return np.zeros(run.count, np.bool_)
        return np.isin(run.position, list(positions))


def survey(
    source: ReadableBatches, salvaged: SalvagedPartition, damage: NotedDamage, progress: Progress
) -> Survey:
    """Read everything once; repairs and doubts are noted in ``salvaged``."""
    found = Survey(unreadable=damage.positions)
    found.may_be_cleaned = may_be_compacted(salvaged.directory)
    judged: list[SegmentOffsets] = []
    for readable in source.read(progress, damage):
        segment_slice, run = readable.segment_slice, readable.run
        if not judged or judged[-1].segment_slice is not segment_slice:
            judged.append(_offsets_of(segment_slice, source))
        judged[-1].add(run)
        found.outcomes.gather(run, segment_slice.path)
        _decode(readable, np.flatnonzero(source.is_asked(run)), damage)
        counts = record_counts(readable)
        counts[found.is_unreadable(segment_slice, run)] = 0
        found.found.records += int(counts.sum())
        if readable.repair is not None:
            salvaged.repairs.append(RepairNote.of(segment_slice, readable.repair))
    found.found.batches = source.found_batches
    found.may_be_cleaned |= any(segment.shows_cleaning for segment in judged)
    for segment in judged:
        doubts = segment.doubtful(
            partial(_again, source, segment.segment_slice),
            may_be_cleaned=found.may_be_cleaned,
        )
        proven = {
            each.position: each.likely_offset
            for each in doubts
            if each.is_proven and each.likely_offset is not None
        }
        if doubts:
            source.correct(segment.segment_slice, proven)
            left = [each for each in doubts if each.position not in proven]
            found.doubtful[shown(segment.segment_slice.path)] = left
            salvaged.doubtful += [(segment.segment_slice, each) for each in left]
            _look_again(found, source, segment.segment_slice, salvaged, damage)
        found.read.add(*segment.believed())
    return found


def _look_again(
    found: Survey,
    source: ReadableBatches,
    segment_slice: SegmentSlice,
    salvaged: SalvagedPartition,
    damage: NotedDamage,
) -> None:
    """Markers at doubtful offsets decide nothing, and ranges do not apply to those offsets.

    Batches whose right base offsets are proven are at these now, and noted as repaired.
    """
    found.outcomes.forget(segment_slice.path)
    for readable in source.read_slice(segment_slice, no_progress, NotedDamage.silent()):
        run = readable.run
        if readable.repair is not None and readable.repair.kind == "baseOffset":
            salvaged.repairs.append(RepairNote.of(segment_slice, readable.repair))
        is_doubtful = found.is_doubtful(segment_slice, run)
        found.outcomes.gather(run.taken(np.flatnonzero(~is_doubtful)), segment_slice.path)
        new = is_doubtful & ~source.is_asked(run)
        if new.any():
            _decode(readable, np.flatnonzero(new), damage)
            gone = new & found.is_unreadable(segment_slice, run)
            found.found.records -= int(record_counts(readable)[gone].sum())


def _decode(readable: ReadableRun, rows: NDArray[np.intp], damage: NotedDamage) -> None:
    """Decode only to see whether records can be decoded; damage is noted."""
    decoder = RecordDecoder(frozenset({"offset"}), readable.segment_slice, damage)
    for _ in (*decoder.add(readable.run.taken(rows)), *decoder.flush()):
        pass


def _again(source: ReadableBatches, segment_slice: SegmentSlice) -> Iterator[BatchRun]:
    for readable in source.read_slice(segment_slice, no_progress, NotedDamage.silent()):
        yield readable.run


def _offsets_of(segment_slice: SegmentSlice, source: ReadableBatches) -> SegmentOffsets:
    base = segment_slice.segment.base_offset
    next_base = next((b for b in source.base_offsets if b > base), None)
    return SegmentOffsets(segment_slice, next_base, begins_log=base == source.base_offsets[0])
