"""The requested sound batches of a slice; the rest is pruned or reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.errors import (
    CorruptRecordError,
    LocatedError,
    LogPosition,
    UnreadableFileError,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    CONTROL_BIT,
    LAST_CODEC,
)
from kafkalog_reader.format.compression import unknown_codec_text
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import metrics_of
from kafkalog_reader.io.window import current_size
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.expected_end import missing_records
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan, ScanPolicy
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.segment_slice import batch_position
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.scan.unscanned_batches import UnscannedBatches
from kafkalog_reader.tables.offset_watch import UNKNOWN, OffsetWatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.request import ReadRequest


_MAX_TOLD: Final = 100
"""Maximum places of one window that are reported one by one; the rest are counted."""


class SelectedBatches:
    """Iterates over the requested batches of a slice.

    Bytes that break their chain are reported and left out; reading continues with the next sound
    batch.

    Args:
        segment_slice: the slice.
        request: the requested offsets and leader epochs; for sound batches also times and kinds.
        damage: decides on damage.
        progress: receives the bytes read.
        sound_only: leave out and report batches with a wrong CRC or an unknown codec.
        offer_windows: yield bytes before they are scanned, as ``ScanPolicy`` says, where nothing
            has to be pruned. The caller that decodes them applies the slice's offsets and
            ``include_control_records``.

    Raises:
        LocatedError: damage, or a file that cannot be read, in mode ``FAILFAST``; the batches
            before it are yielded first.
    """

    def __init__(
        self,
        segment_slice: SegmentSlice,
        request: ReadRequest,
        damage: Damage,
        progress: Progress,
        *,
        sound_only: bool = True,
        offer_windows: bool = False,
    ) -> None:
        self._segment_slice = segment_slice
        self._request = request
        self._damage = damage
        self._sound_only = sound_only
        self._metrics = metrics_of(progress)
        prunes = (request.min_leader_epoch, request.max_leader_epoch, request.from_timestamp)
        self._scan = Scan(
            segment_slice.segment,
            ScanPolicy(offer_windows=offer_windows and prunes == (None, None, None)),
            segment_slice.start,
            segment_slice.stop,
            progress=progress,
            context=segment_slice.directory.context,
        )
        self._watch = OffsetWatch(segment_slice, damage) if sound_only else None

    @property
    def next_offset(self) -> int:
        """See ``OffsetWatch``."""
        return UNKNOWN if self._watch is None else self._watch.next_offset

    @property
    def may_skip(self) -> bool:
        """See ``OffsetWatch``."""
        return self._watch is None or self._watch.may_skip

    @property
    def may_fall(self) -> bool:
        """See ``OffsetWatch``."""
        return self._watch is None or self._watch.may_fall

    def pass_over(self, stop: int, last_offset: int) -> None:
        """Leave batches that were offered out of the runs that follow: see ``Scan``."""
        self._scan.pass_over(stop, last_offset)
        if self._watch is not None:
            self._watch.pass_over(last_offset)

    def __iter__(self) -> Iterator[BatchRun | UnscannedBatches]:
        segment_slice, request = self._segment_slice, self._request
        found_in_file = iter(self._scan)
        while True:
            try:
                found = next(found_in_file, None)
            except UnreadableFileError as error:
                _report_unreadable(error, self._damage)
                return
            if found is None:
                if self._watch is not None:
                    self._watch.conclude()
                _check_end(segment_slice, self._scan.next_offset, self._damage)
                return
            if isinstance(found, UnscannedBatches):
                yield found
                continue
            if isinstance(found, UnreadableRegion):
                report_region(found, segment_slice, self._damage)
                continue
            if self._watch is not None:
                self._watch.look(found)
            run = _pruned(found, segment_slice, request)
            self._metrics.batches_pruned += found.count - run.count
            if self._sound_only:
                yield from self._sound(run)
            else:
                yield run
            if (
                segment_slice.to_offset is not None
                and found.base_offset[-1] >= segment_slice.to_offset
            ):
                return  # offsets rise

    def runs(self) -> Iterator[BatchRun]:
        """Only the batches of windows that are not offered."""
        return (found for found in self if isinstance(found, BatchRun))

    def _sound(self, run: BatchRun) -> Iterator[BatchRun]:
        unsound = np.flatnonzero(~run.crc_valid | ~run.has_known_codec)
        if not len(unsound):
            yield self._wanted(run)
            return
        if self._damage.mode is Mode.FAILFAST and unsound[0]:
            yield self._wanted(run.taken(slice(0, int(unsound[0]))))
        report_batches(run, unsound, self._segment_slice, self._damage)
        if len(unsound) < run.count:
            is_sound = np.ones(run.count, np.bool_)
            is_sound[unsound] = False
            yield self._wanted(run.taken(np.flatnonzero(is_sound)))

    def _wanted(self, run: BatchRun) -> BatchRun:
        kept = _wanted_of_sound(run, self._request)
        self._metrics.batches_pruned += run.count - kept.count
        return kept


def _report_unreadable(error: UnreadableFileError, damage: Damage) -> None:
    """A file that is gone, as retention removes it, is missing records; else it is damage."""
    if isinstance(error.__cause__, FileNotFoundError):
        problem = "the file has vanished since the read was planned"
        damage.missing(UnreadableFileError(problem, error.where))
    else:
        damage.left_out(error)


def _check_end(segment_slice: SegmentSlice, next_offset: int | None, damage: Damage) -> None:
    """Report a file that has shrunk since it was planned, and records that must be in it."""
    size = current_size(segment_slice.path, context=segment_slice.directory.context)
    if size is not None and size < segment_slice.stop:
        problem = (
            f"the file is {size} bytes long, but was {segment_slice.stop} when the read was planned"
        )
        damage.missing(
            UnreadableFileError(problem, LogPosition(shown(segment_slice.path), size, next_offset))
        )
        return
    expected = segment_slice.expected_end
    if expected is None:
        return
    error = missing_records(
        expected,
        segment_slice.path,
        _reached_before(segment_slice) if next_offset is None else next_offset,
        (segment_slice.from_offset, segment_slice.to_offset),
        segment=segment_slice.segment,
        context=segment_slice.directory.context,
    )
    if error is not None:
        damage.missing(error, expected.next_offset)


def _reached_before(segment_slice: SegmentSlice) -> int:
    """The offset after the last batch before a slice."""
    reached = segment_slice.segment.base_offset
    if segment_slice.start:
        context = segment_slice.directory.context
        scan = Scan(
            segment_slice.segment, CHAIN_OF_HEADERS, 0, segment_slice.start, context=context
        )
        for run in scan.runs():
            reached = int(run.last_offset[-1]) + 1 if run.count else reached
    return reached


def report_batches(
    run: BatchRun, unsound: NDArray[np.intp], segment_slice: SegmentSlice, damage: Damage
) -> None:
    """Report batches that cannot be read: adjacent ones together, and too many as a number."""
    is_wrong = ~run.crc_valid[unsound]
    goes_on = (np.diff(unsound) == 1) & is_wrong[1:] & is_wrong[:-1]
    firsts = np.flatnonzero(np.concatenate(([True], ~goes_on)))[: _MAX_TOLD + 1]
    borders = [*firsts[1:].tolist(), len(unsound)]
    for first, stop in zip(firsts.tolist(), borders, strict=True):
        error = _batch_error(run, int(unsound[first]), segment_slice)
        if stop > first + 1:
            last = int(run.last_offset[unsound[stop - 1]])
            problem = f"{error.problem}; and {stop - first - 1:,} more up to offset {last}"
            error = type(error)(problem, error.where)
        last_offset = int(run.last_offset[unsound[stop - 1]])
        damage.left_out(error, batches=stop - first, next_offset=last_offset + 1)


def _pruned(run: BatchRun, segment_slice: SegmentSlice, request: ReadRequest) -> BatchRun:
    keep: NDArray[np.bool_] | None = None
    if run.last_offset.min() < segment_slice.from_offset:
        keep = run.last_offset >= segment_slice.from_offset
    if segment_slice.to_offset is not None and run.base_offset.max() >= segment_slice.to_offset:
        keep = _both(keep, run.base_offset < segment_slice.to_offset)
    if request.min_leader_epoch is not None:
        keep = _both(keep, run.leader_epoch >= request.min_leader_epoch)
    if request.max_leader_epoch is not None:
        keep = _both(keep, run.leader_epoch <= request.max_leader_epoch)
    return run if keep is None or keep.all() else run.taken(np.flatnonzero(keep))


def _wanted_of_sound(run: BatchRun, request: ReadRequest) -> BatchRun:
    """The batches that are wanted by what only a valid checksum proves: time and control bit."""
    keep: NDArray[np.bool_] | None = None
    if request.from_timestamp is not None:
        keep = run.max_timestamp >= request.from_timestamp
    if not request.include_control_records:
        keep = _both(keep, (run.attributes & CONTROL_BIT) == 0)
    return run if keep is None or keep.all() else run.taken(np.flatnonzero(keep))


def _both(one: NDArray[np.bool_] | None, other: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return other if one is None else one & other


def _batch_error(run: BatchRun, batch: int, segment_slice: SegmentSlice) -> LocatedError:
    where = batch_position(segment_slice, run, batch)
    if not run.crc_valid[batch]:
        return CorruptRecordError(
            f"CRC is wrong: stored 0x{int(run.crc[batch]):08x}, "
            f"computed 0x{int(run.crc_computed[batch]):08x}",
            where,
        )
    codec = int(run.attributes[batch]) & CODEC_MASK
    kind = CorruptRecordError if codec <= LAST_CODEC else UnsupportedFormatError
    return kind(unknown_codec_text(codec, int(run.magic[batch])), where)


def report_region(region: UnreadableRegion, segment_slice: SegmentSlice, damage: Damage) -> None:
    if segment_slice.is_log_end and region.is_unfinished:
        damage.log_ends(region)
        return
    next_offset = segment_slice.next_base if region.next_offset is None else region.next_offset
    kind = UnsupportedFormatError if region.end is ScanEnd.UNKNOWN_MAGIC else CorruptRecordError
    damage.left_out(kind(region.description, region.where), next_offset=next_offset)
