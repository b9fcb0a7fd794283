"""Every batch of a replica that can be read, in file order, sound or repaired."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.log.torn_batch import whole_records
from kafkalog_reader.errors import LocatedError, UnreadableFileError
from kafkalog_reader.io.exchanged_logs import with_right_names
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.salvage.repair import repaired_flip, repaired_header, repaired_offset
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import Scan
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.log_unit import log_start_offset
from kafkalog_reader.tables.selected_batches import (
    report_batches,
    report_region,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.torn_batch import RepairedBatch
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.salvage.left_out import NotedDamage
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)

MAX_TRIES: Final = 10_000
"""Limit of repair attempts per segment: hostile input could ask for any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableRun:
    """Batches of one segment; the window is valid until the next run is requested.

    Attributes:
        repair: how the one batch of the run was repaired; None for unchanged batches.
    """

    segment_slice: SegmentSlice
    run: BatchRun
    repair: RepairedBatch | None = None


class ReadableBatches:
    """Iterates over the readable batches of one replica; the segments are listed once.

    Args:
        directory: the replica.
        request: its offsets limit the range; with ``log_range_only`` the log start does, too.
        damage: handles a log start offset that cannot be read.
        whole_log: read all segments, also those outside the requested range.

    Attributes:
        from_offset, to_offset: the requested range, half-open.
        log_start: the first offset that consumers were shown; 0 if it cannot be read.
        slices: the segments, whole; each carries the offsets asked for.
        base_offsets: of all segments, rising.
        found_batches: whole batches that the last reading met, sound or not.
        outside: of these, damaged ones outside the requested offsets.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """

    def __init__(
        self,
        directory: PartitionDirectory,
        request: ReadRequest,
        damage: NotedDamage,
        *,
        whole_log: bool,
    ) -> None:
        self.found_batches = 0
        self.outside = 0
        listed = segments(directory)
        named = with_right_names(listed, directory.context)
        if named != listed:
            logger.warning(
                "%s: log files have each other's names, as their offsets show, and are read in the "
                "order of these",
                shown(directory.path),
            )
        found = [segment for segment in named if segment.log_size is not None]
        self.from_offset, self.to_offset = request.offsets_of(directory.topic, directory.partition)
        self.log_start = 0
        try:
            self.log_start = log_start_offset(directory, found[0].base_offset) if found else 0
        except LocatedError as error:  # more is kept then than consumers were shown
            if request.log_range_only:
                damage.left_out(error)
        if request.log_range_only:
            self.from_offset = max(self.from_offset, self.log_start)
        self.base_offsets = [segment.base_offset for segment in found]
        self.slices = [
            SegmentSlice(
                directory=directory,
                segment=segment,
                start=0,
                stop=segment.log_size or 0,
                from_offset=self.from_offset,
                to_offset=self.to_offset,
                is_log_end=segment is found[-1],
            )
            for segment in found
        ]
        if not whole_log:
            self.slices = [
                segment_slice
                for number, segment_slice in enumerate(self.slices)
                if (segment_slice.is_log_end or found[number + 1].base_offset > self.from_offset)
                and (self.to_offset is None or segment_slice.segment.base_offset < self.to_offset)
            ]
        self._tries: dict[str, int] = {}
        self._right_offsets: dict[str, Mapping[int, int]] = {}

    def read(self, progress: Progress, damage: NotedDamage) -> Iterator[ReadableRun]:
        """Yield the batches; ``damage`` receives what cannot be read in that range."""
        self.found_batches = self.outside = 0
        for segment_slice in self.slices:
            yield from self.read_slice(segment_slice, progress, damage)

    def read_slice(
        self, segment_slice: SegmentSlice, progress: Progress, damage: NotedDamage
    ) -> Iterator[ReadableRun]:
        """Yield the batches of one segment."""
        self._tries[segment_slice.path] = 0
        scan = Scan(
            segment_slice.segment, progress=progress, context=segment_slice.directory.context
        )
        try:
            for found in scan:
                if isinstance(found, UnreadableRegion):
                    yield from self._of_region(found, segment_slice, damage)
                elif isinstance(found, BatchRun):
                    self.found_batches += found.count
                    yield from self._of_run(found, segment_slice, damage)
        except UnreadableFileError as error:
            damage.stretch_left_out(error)

    def correct(self, segment_slice: SegmentSlice, right_offsets: Mapping[int, int]) -> None:
        """From now on give batches of a segment, by position, their right base offsets."""
        self._right_offsets[segment_slice.path] = right_offsets

    def is_asked(self, run: BatchRun) -> NDArray[np.bool_]:
        """Which batches hold an offset in the range, as their headers have it."""
        asked: NDArray[np.bool_] = run.last_offset >= self.from_offset
        if self.to_offset is not None:
            asked &= run.base_offset < self.to_offset
        return asked

    def _of_region(
        self, region: UnreadableRegion, segment_slice: SegmentSlice, damage: NotedDamage
    ) -> Iterator[ReadableRun]:
        repair = None
        if region.end is not ScanEnd.ZEROS and self._may_try(segment_slice):
            repair = repaired_header(region, segment_slice)
            if repair is None and region.end is ScanEnd.TORN:
                repair = whole_records(region, segment_slice)
        if repair is not None:
            self.found_batches += 1
            yield ReadableRun(segment_slice=segment_slice, run=repair.run, repair=repair)
            return
        is_unfinished_end = segment_slice.is_log_end and region.is_unfinished
        if not is_unfinished_end and self._is_outside(region):
            return
        with damage.of_stretches():
            report_region(region, segment_slice, damage)

    def _of_run(
        self, run: BatchRun, segment_slice: SegmentSlice, damage: NotedDamage
    ) -> Iterator[ReadableRun]:
        is_unsound = ~run.crc_valid | ~run.has_known_codec
        unsound = np.flatnonzero(is_unsound)
        right_offsets = self._right_offsets.get(segment_slice.path, {})
        moved = np.flatnonzero(np.isin(run.position, [*right_offsets]) & ~is_unsound)
        if not len(unsound) and not len(moved):
            yield ReadableRun(segment_slice=segment_slice, run=run)
            return
        repairs: list[tuple[int, RepairedBatch]] = []
        for row in unsound[~run.crc_valid[unsound]].tolist():
            if not self._may_try(segment_slice):
                break
            repair = repaired_flip(run, row, segment_slice)
            if repair is not None:
                repairs.append((row, repair))
        for row in moved.tolist():
            due = right_offsets[int(run.position[row])]
            repair = repaired_offset(run, row, segment_slice, due)
            if repair is not None:
                repairs.append((row, repair))
                is_unsound[row] = True
        repairs.sort(key=itemgetter(0))
        left = np.setdiff1d(unsound, [row for row, _ in repairs]).astype(np.intp)
        left_in_range = left[self.is_asked(run)[left]]
        if len(left_in_range):
            report_batches(run, left_in_range, segment_slice, damage)
        self.outside += len(left) - len(left_in_range)
        first = 0
        for row, repair in [*repairs, (run.count, None)]:
            sound = np.flatnonzero(~is_unsound[first:row]) + first
            if len(sound):
                yield ReadableRun(segment_slice=segment_slice, run=run.taken(sound))
            if repair is not None:
                yield ReadableRun(segment_slice=segment_slice, run=repair.run, repair=repair)
            first = row + 1

    def _is_outside(self, region: UnreadableRegion) -> bool:
        """Whether the sound batches on both sides show that nothing asked for can be in it."""
        if region.next_offset is not None and region.next_offset <= self.from_offset:
            return True
        first = region.first_offset
        return self.to_offset is not None and first is not None and first >= self.to_offset

    def _may_try(self, segment_slice: SegmentSlice) -> bool:
        self._tries[segment_slice.path] += 1
        return self._tries[segment_slice.path] <= MAX_TRIES
