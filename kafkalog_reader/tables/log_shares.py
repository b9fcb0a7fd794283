"""Divides the log of one replica into shares that cost about the same to read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from kafkalog_reader.scan.log_tail import batch_starts_at
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan
from kafkalog_reader.scan.sparse_index import SparseIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

OPEN_COST: Final = 1 << 20
"""What opening a segment costs, in bytes that could be read instead: ten thousand empty segments
are work, too."""
MAX_SEGMENTS: Final = 1000
"""Maximum segments that one unit of work opens, however many bytes it may have."""
_TOLERANCE: Final = 16
"""A share may have this part of it more or less: cheaper than opening a segment once more."""


def open_cost(max_bytes: int) -> int:
    """What opening a segment counts for where a unit of work has at most ``max_bytes``."""
    return min(OPEN_COST, max_bytes // 128)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A byte range of one segment, which starts and ends at a record-batch border.

    Attributes:
        number: which of the replica's segments.
    """

    number: int
    start: int
    stop: int


def shares(
    stretches: Sequence[Stretch],
    max_bytes: int,
    border: Callable[[Stretch, int], int | None],
) -> Iterator[tuple[Stretch, ...]]:
    """Yield the stretches in order, in as few shares of equal cost as ``max_bytes`` allows.

    Args:
        stretches: what is to be read of one replica.
        max_bytes: a share costs at most this and an eighth, unless there is no border.
        border: finds a batch border of a stretch near a position, inside of it; None if there is
            none.
    """
    opening = open_cost(max_bytes)
    left = sum(each.stop - each.start + opening for each in stretches)
    share: list[Stretch] = []
    room = size = _equal(left, max_bytes)
    for each in stretches:
        rest: Stretch | None = each
        while rest is not None:
            cost = rest.stop - rest.start + opening
            tolerated = size // _TOLERANCE
            if cost <= room + tolerated:
                share.append(rest)
                room, left, rest = room - cost, left - cost, None
                continue
            cut = border(rest, rest.start + room - opening) if room > tolerated + opening else None
            if cut is not None:
                share.append(replace(rest, stop=cut))
                left -= cut - rest.start
                rest = replace(rest, start=cut)
            elif not share:  # larger than a share, but there is no border
                share.append(rest)
                left, rest = left - cost, None
            yield tuple(share)
            share, room = [], _equal(left, max_bytes)
            size = room
    if share:
        yield tuple(share)


def is_one_share(sizes: Iterable[int], max_bytes: int) -> bool:
    """Whether stretches of these sizes cost no more to read than one share may."""
    opening = open_cost(max_bytes)
    return sum(size + opening for size in sizes) <= max_bytes


def _equal(left: int, max_bytes: int) -> int:
    """The cost of one of as few equal shares as possible."""
    most = max_bytes + max_bytes // _TOLERANCE
    return left // max(1, -(-left // most))


ItemT = TypeVar("ItemT")


def grouped(
    items: Iterable[ItemT], measure: Callable[[ItemT], tuple[int, int]], max_bytes: int
) -> Iterator[tuple[int, tuple[ItemT, ...]]]:
    """Yield neighbours together, as long as reading them costs no more than ``max_bytes``.

    Args:
        items: what is to be read, each of them whole.
        measure: the bytes of one and the segments that reading it opens.
        max_bytes: what a group costs at most, unless a single item costs more.

    Yields:
        The bytes of a group, and the items.
    """
    opening = open_cost(max_bytes)
    together: list[ItemT] = []
    size = segments = 0
    for each in items:
        length, opened = measure(each)
        cost = size + length + opening * (segments + opened)
        if together and (cost > max_bytes or segments + opened > MAX_SEGMENTS):
            yield size, tuple(together)
            together, size, segments = [], 0, 0
        together.append(each)
        size += length
        segments += opened
    if together:
        yield size, tuple(together)


class Borders:
    """Where segments can be cut; keeps the index of the last one that was asked for open.

    Args:
        segments: those of one replica.
        max_bytes: segments without an index are cut only if they are larger than this and an
            eighth, because all headers up to the border are read.
        context: how files are read.

    Raises:
        UnreadableFileError: a segment or its index cannot be opened or read.
    """

    def __init__(
        self, segments: Sequence[SegmentFiles], max_bytes: int, context: ReadContext
    ) -> None:
        self._segments = segments
        self._uncut = max_bytes + max_bytes // 8
        self._context = context
        self._number = -1
        self._index: SparseIndex | None = None

    def near(self, stretch: Stretch, target: int) -> int | None:
        """A batch border inside a stretch, at or before ``target`` if there is one."""
        segment = self._segments[stretch.number]
        if self._number != stretch.number:
            self.close()
            if segment.offset_index_size:
                self._index = SparseIndex(segment, context=self._context)
            self._number = stretch.number
        cut = None if self._index is None else self._indexed(stretch, target, self._index)
        if cut is None and stretch.stop - stretch.start > self._uncut:
            cut = _scanned(segment, stretch.start, target, context=self._context)
        return cut if cut is not None and stretch.start < cut < stretch.stop else None

    def _indexed(self, stretch: Stretch, target: int, index: SparseIndex) -> int | None:
        segment, share = self._segments[stretch.number], target - stretch.start
        for quarters in (4, 3, 2, 1):
            number = index.last_up_to_position(stretch.start + share * quarters // 4)
            position = index[number][1] if number >= 0 else 0
            if position > stretch.start and batch_starts_at(
                segment, position, context=self._context
            ):
                return position
        return None

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()
        self._index, self._number = None, -1


def _scanned(segment: SegmentFiles, start: int, target: int, *, context: ReadContext) -> int | None:
    """The last batch border up to ``target``, else the first one, by the headers from ``start``."""
    scan = Scan(segment, CHAIN_OF_HEADERS, start, context=context)
    border: int | None = None
    for run in scan.runs():
        ends = run.position + run.size_in_bytes
        number = int(ends.searchsorted(target, side="right"))
        if number == 0:
            return int(ends[0]) if border is None else border
        border = int(ends[number - 1])
        if number < len(ends):
            return border
    return border
