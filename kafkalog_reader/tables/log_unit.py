"""Units of work for the tables that read segments: byte ranges cut at record-batch borders."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError, UnreadableFileError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.compaction import may_be_compacted
from kafkalog_reader.io.names import LOG_START_CHECKPOINT
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.expected_end import ExpectedEnd, ExpectedEnds, missing_records
from kafkalog_reader.scan.log_tail import batch_starts_at, scan_tail
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.tables.log_shares import Borders, Stretch, grouped, is_one_share, shares
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.tables.request import ReadRequest

_NOT_WORTH_CUTTING: Final = 256 << 10
"""Bytes that are read sooner than the index that says which of them are needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogUnit(Unit):
    """Slices that one worker reads one after another."""

    slices: tuple[SegmentSlice, ...]

    @property
    def opened(self) -> int:
        return len(self.slices)

    def parts(self) -> Sequence[LogUnit]:
        return tuple(
            LogUnit(size_in_bytes=each.stop - each.start, slices=(each,)) for each in self.slices
        )


def log_units(
    directories: Iterable[PartitionDirectory],
    request: ReadRequest,
    bounded: Callable[[PartitionDirectory], ReadRequest] | None = None,
    expected: ExpectedEnds | None = None,
) -> Iterator[LogUnit]:
    """Cut replicas into units of about ``request.max_partition_bytes``.

    A replica is cut into equal units, also within segments; small ones share a unit. Opening a
    segment counts, too. What lies before the first offset asked for, or after the last, is left
    out, as far as indexes show.

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

    def asked_parts() -> Iterator[Iterator[tuple[SegmentSlice, ...]]]:
        for directory in directories:
            whole = request if bounded is None else bounded(directory)
            for asked in _spans(directory, whole):
                yield _shares_of(directory, asked, damage, expected)

    may_share = request.max_records_per_unit is None
    parts = [chain.from_iterable(asked_parts())] if may_share else asked_parts()
    for part in parts:
        for size, together in grouped(part, _measure, request.max_partition_bytes):
            yield LogUnit(size_in_bytes=size, slices=tuple(chain.from_iterable(together)))


def packed(slices: Iterable[SegmentSlice], max_bytes: int) -> Iterator[LogUnit]:
    """Put neighbouring slices into units that cost no more to read than ``max_bytes``."""
    for size, together in grouped(slices, lambda each: (each.stop - each.start, 1), max_bytes):
        yield LogUnit(size_in_bytes=size, slices=together)


def _measure(share: tuple[SegmentSlice, ...]) -> tuple[int, int]:
    return sum(map(_size, share)), len(share)


def _size(part: SegmentSlice) -> int:
    return part.stop - part.start


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


def _log_start(directory: PartitionDirectory, found: Sequence[SegmentFiles], damage: Damage) -> int:
    """The log start; 0 if it cannot be read: more is shown then than consumers are."""
    try:
        return log_start_offset(directory, found[0].base_offset if found else 0)
    except LocatedError as error:
        damage.left_out(error)
        return 0


def slices_of(
    directory: PartitionDirectory,
    request: ReadRequest,
    damage: Damage = Damage(Mode.FAILFAST),  # noqa: B008  its counts are not used
    expected: ExpectedEnds | None = None,
) -> Iterator[SegmentSlice]:
    """Yield the byte ranges of one replica in order, one of each segment; see ``log_units``."""
    if expected is not None:
        expected.prepare(directory.log_directory)
    try:
        found = [segment for segment in segments(directory) if segment.log_size is not None]
    except UnreadableFileError as error:
        damage.left_out(error)
        return
    lower, upper = request.offsets_of(directory.topic, directory.partition)
    if request.log_range_only:
        lower = max(lower, _log_start(directory, found, damage))
    if expected is not None and not found:
        end = expected.of_log(directory)
        _check_without_batches(directory.path, 0, end, (lower, upper), damage, directory.context)
    may_be_cleaned = may_be_compacted(directory)
    for number, segment in enumerate(found):
        following = found[number + 1].first_offset if number + 1 < len(found) else None
        if upper is not None and segment.first_offset >= upper:
            break
        if following is not None and following <= lower:
            continue
        if not segment.log_size:
            end = None if expected is None else expected.of_segment(directory, found, number)
            _check_without_batches(
                segment.path("log"), segment.base_offset, end, (lower, upper), damage,
                directory.context,
            )  # fmt: skip
            continue
        is_whole = upper is None or (following is not None and following <= upper)
        try:
            start, stop = _range(
                segment, lower, None if is_whole else upper, context=directory.context
            )
        except UnreadableFileError as error:
            damage.left_out(error)
            continue
        stops = [each for each in (upper, segment.to_offset) if each is not None]
        is_end = stop == segment.log_size
        yield SegmentSlice(
            directory=directory,
            segment=segment,
            start=start,
            stop=stop,
            from_offset=max(lower, segment.from_offset),
            to_offset=min(stops, default=None),
            is_log_end=is_end and number == len(found) - 1,
            next_base=_next_base(found, number),
            begins_log=number == 0,
            may_be_cleaned=may_be_cleaned,
            expected_end=(
                expected.of_segment(directory, found, number)
                if is_end and expected is not None
                else None
            ),
        )


def _next_base(found: Sequence[SegmentFiles], number: int) -> int | None:
    """Where the segment after one begins; None where segments may overlap, as remote ones do."""
    if number + 1 == len(found) or found[number].to_offset is not None:
        return None
    return found[number + 1].base_offset


def _shares_of(
    directory: PartitionDirectory,
    request: ReadRequest,
    damage: Damage,
    expected: ExpectedEnds | None,
) -> Iterator[tuple[SegmentSlice, ...]]:
    """Yield the same byte ranges in shares of about equal cost, one for a unit."""
    found = list(slices_of(directory, request, damage, expected))
    if found and is_one_share(map(_size, found), request.max_partition_bytes):
        yield tuple(found)
        return
    wanted = [Stretch(number, each.start, each.stop) for number, each in enumerate(found)]

    def slice_of(stretch: Stretch) -> SegmentSlice:
        whole = found[stretch.number]
        if stretch.stop == whole.stop:
            return replace(whole, start=stretch.start)
        return replace(
            whole, start=stretch.start, stop=stretch.stop, is_log_end=False, expected_end=None
        )

    cut = [each.segment for each in found]
    with closing(Borders(cut, request.max_partition_bytes, directory.context)) as borders:
        for share in shares(wanted, request.max_partition_bytes, borders.near):
            yield tuple(map(slice_of, share))


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
        damage.missing(error, expected.next_offset)


def _range(
    segment: SegmentFiles, lower: int, upper: int | None, *, context: ReadContext
) -> tuple[int, int]:
    """The part of a segment that holds the offsets in a range, as far as its index shows."""
    end = segment.log_size or 0
    if lower <= segment.base_offset and (upper is None or end <= _NOT_WORTH_CUTTING):
        return 0, end
    if not segment.offset_index_size:
        return 0, end
    start = 0
    with SparseIndex(segment, context=context) as index:
        if lower > segment.base_offset:
            number = index.last_below_offset(lower)
            position = index[number][1] if number >= 0 else 0
            if batch_starts_at(segment, position, context=context, up_to_offset=lower):
                start = position
        if upper is not None and end - start > _NOT_WORTH_CUTTING:
            # An entry names a batch by its last offset: the next one is above ``upper`` as a whole.
            for number in range(index.first_from_offset(upper), len(index))[:2]:
                position = index[number][1]
                if position > start and batch_starts_at(
                    segment, position, context=context, from_offset=upper
                ):
                    return start, position
    return start, end
