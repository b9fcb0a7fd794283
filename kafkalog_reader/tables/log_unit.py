"""Units of work for the tables that read segments: byte ranges cut at record-batch borders."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, TypeVar

from kafkalog_reader.errors import LocatedError, UnreadableFileError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.expected_end import ExpectedEnd, ExpectedEnds, missing_records
from kafkalog_reader.scan.log_tail import batch_starts_at, scan_tail
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kafkalog_reader.io.evidence import PartitionDirectory, SegmentFiles
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.tables.request import ReadRequest

LOG_START_CHECKPOINT = "log-start-offset-checkpoint"
MAX_SLICES: Final = 1000
"""Maximum slices of a unit: thousands of tiny partitions are work for many workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogUnit(Unit):
    """Slices that one worker reads one after another."""

    slices: tuple[SegmentSlice, ...]

    @property
    def opened(self) -> int:
        return len(self.slices)


def log_units(
    directories: Iterable[PartitionDirectory],
    request: ReadRequest,
    bounded: Callable[[PartitionDirectory], ReadRequest] | None = None,
    expected: ExpectedEnds | None = None,
) -> Iterator[LogUnit]:
    """Cut replicas into units of about ``request.max_partition_bytes``.

    Small segments share a unit, large ones are split. Segments that end before the first offset
    asked for, or begin after the last, are left out.

    Args:
        directories: the replicas.
        request: the request for all of them.
        bounded: makes the request for one of them, if its offsets depend on its log.
        expected: checks that no records are missing between segments and at the end of a log.

    Raises:
        MissingRecordsError: where planning shows it already, in mode ``FAILFAST``.
        LocatedError: a directory cannot be listed, or a file that is needed for the plan is
            unreadable or damaged; other modes than ``FAILFAST`` do without.
    """
    damage = request.damage

    def asked_parts() -> Iterator[Iterator[SegmentSlice]]:
        for directory in directories:
            whole = request if bounded is None else bounded(directory)
            for asked in _spans(directory, whole):
                yield slices_of(directory, asked, damage, expected)

    may_share = request.max_records_per_unit is None
    parts = [chain.from_iterable(asked_parts())] if may_share else asked_parts()
    for part in parts:
        yield from packed(part, request.max_partition_bytes)


def packed(slices: Iterable[SegmentSlice], max_bytes: int) -> Iterator[LogUnit]:
    """Put neighbouring slices into units of so many bytes of log; one larger slice is a unit."""
    for size, together in grouped(slices, lambda each: each.stop - each.start, max_bytes):
        yield LogUnit(size_in_bytes=size, slices=together)


ItemT = TypeVar("ItemT")


def grouped(
    items: Iterable[ItemT], size_of: Callable[[ItemT], int], max_bytes: int
) -> Iterator[tuple[int, tuple[ItemT, ...]]]:
    """Yield neighbours together, up to so many bytes and ``MAX_SLICES``, and their size."""
    gathered: list[ItemT] = []
    size = 0
    for each in items:
        length = size_of(each)
        if gathered and (size + length > max_bytes or len(gathered) == MAX_SLICES):
            yield size, tuple(gathered)
            gathered, size = [], 0
        gathered.append(each)
        size += length
    if gathered:
        yield size, tuple(gathered)


def _spans(directory: PartitionDirectory, request: ReadRequest) -> Iterator[ReadRequest]:
    """The request, in parts of ``max_records_per_unit`` offsets where that is requested."""
    span = request.max_records_per_unit
    if span is None:
        yield request
        return
    found = [each.base_offset for each in segments(directory) if each.log_size is not None]
    lower, upper = request.offsets_of(directory.topic, directory.partition)
    end = scan_tail(directory).next_offset
    end = end if upper is None else min(end, upper)
    start = min(found, default=0)
    if request.log_range_only:
        start = log_start_offset(directory, start)
    for first in range(max(lower, start), end, span):
        yield replace(request, from_offset=first, to_offset=min(first + span, end))


def log_start_offset(directory: PartitionDirectory, first_base_offset: int) -> int:
    """The first offset that consumers see: the checkpointed one if it is higher."""
    key = (directory.topic or "", -1 if directory.partition is None else directory.partition)
    checkpointed = checkpointed_offsets(directory.log_directory, LOG_START_CHECKPOINT)
    return max(first_base_offset, checkpointed.get(key, 0))


def slices_of(
    directory: PartitionDirectory,
    request: ReadRequest,
    damage: Damage = Damage(Mode.FAILFAST),  # noqa: B008  its counts are not used
    expected: ExpectedEnds | None = None,
) -> Iterator[SegmentSlice]:
    """Yield one replica's byte ranges in order; see ``log_units``."""
    if expected is not None:
        expected.prepare(directory.log_directory)
    try:
        found = [segment for segment in segments(directory) if segment.log_size is not None]
    except UnreadableFileError as error:
        damage.left_out(error)
        return
    lower, upper = request.offsets_of(directory.topic, directory.partition)
    if request.log_range_only:
        try:
            first_offset = found[0].base_offset if found else 0
            lower = max(lower, log_start_offset(directory, first_offset))
        except LocatedError as error:  # more is shown then than consumers are
            damage.left_out(error)
    if expected is not None and not found:
        end = expected.of_log(directory)
        _check_without_batches(directory.path, 0, end, (lower, upper), damage, directory.context)
    for number, segment in enumerate(found):
        is_last = number == len(found) - 1
        if upper is not None and segment.base_offset >= upper:
            return
        if not is_last and found[number + 1].base_offset <= lower:
            continue
        try:
            cuts = list(_cuts(segment, lower, upper, request.max_partition_bytes, directory))
        except UnreadableFileError as error:
            damage.left_out(error)
            continue
        end = None if expected is None else expected.of_segment(directory, found, number)
        if not cuts:
            path = segment.path("log")
            _check_without_batches(
                path, segment.base_offset, end, (lower, upper), damage, directory.context
            )
        for start, stop in pairwise(cuts):
            yield SegmentSlice(
                directory=directory,
                segment=segment,
                start=start,
                stop=stop,
                from_offset=lower,
                to_offset=upper,
                is_log_end=is_last and stop == segment.log_size,
                expected_end=end if stop == segment.log_size else None,
            )


def _check_without_batches(
    path: str,
    reached: int,
    expected: ExpectedEnd | None,
    asked: tuple[int, int | None],
    damage: Damage,
    context: ReadContext,
) -> None:
    """Check segments without bytes and logs without segments, which have no slices to check."""
    if expected is None:
        return
    error = missing_records(expected, path, reached, asked, context=context)
    if error is not None:
        damage.missing(error)


def _cuts(
    segment: SegmentFiles,
    lower: int,
    upper: int | None,
    size: int,
    directory: PartitionDirectory,
) -> Iterator[int]:
    """Positions at which to cut a segment, with the first and last requested position."""
    end = segment.log_size or 0
    is_small = end <= size
    wants_all = lower <= segment.base_offset and upper is None
    if end == 0 or (is_small and wants_all):
        yield from (0, end) if end else ()
        return
    context = directory.context
    with ExitStack() as opened:
        index = None
        if segment.offset_index_size:
            index = opened.enter_context(SparseIndex(segment, context=context))
        start = _entry(index, index.last_below_offset(lower)) if index is not None else 0
        if not batch_starts_at(segment, start, context=context, up_to_offset=lower):
            start = 0
        yield start
        while end - start > size + size // 8:  # a little more costs less than another unit
            share = max(1, (end - start) // -(-(end - start) // size))  # equal parts
            cut = None if index is None else _indexed_cut(segment, index, start, share, context)
            if cut is None:
                cut = _scanned_cut(segment, start, start + share, context=context)
            if cut is None or cut >= end:
                break
            yield cut
            start = cut
    yield end


def _entry(index: SparseIndex, number: int) -> int:
    return index[number][1] if number >= 0 else 0


def _indexed_cut(
    segment: SegmentFiles, index: SparseIndex, start: int, share: int, context: ReadContext
) -> int | None:
    """A batch border up to ``share`` bytes after ``start`` that the index names."""
    for quarters in (4, 3, 2, 1):
        position = _entry(index, index.last_up_to_position(start + share * quarters // 4))
        if position > start and batch_starts_at(segment, position, context=context):
            return position
    return None


def _scanned_cut(
    segment: SegmentFiles, start: int, target: int, *, context: ReadContext
) -> int | None:
    """The first batch border at or after ``target``, by the chain of headers from ``start``."""
    scan = Scan(segment, CHAIN_OF_HEADERS, start, context=context)
    for run in scan.runs():
        ends = run.position + run.size_in_bytes
        if ends[-1] >= target:
            return int(ends[ends.searchsorted(target)])
    return None
