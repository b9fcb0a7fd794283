"""Which values of ``index.interval.bytes`` a broker may have, where its topic does not set one.

They are told apart only by the batches that get an entry in a rebuilt offset index.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.index import rising_positions

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.batches import BatchWalk
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_COMPARED: Final = 64
"""Maximum batches of which every two are compared."""


def possible_intervals(
    walk: BatchWalk, files: SegmentFiles, default: int, *, context: ReadContext
) -> tuple[int, ...]:
    """An interval for each index that may be made of a segment, the likeliest first.

    That is the default, unless the index on disk was written with another one: a broker adds an
    entry for a batch that begins more than an interval after the last indexed one, or after the
    start of the segment. Of many batches, only powers of two are tried.

    Args:
        walk: the batches, from the start of the segment on.
        files: of the segment.
        default: the interval that is assumed.
        context: how files are read.

    Raises:
        UnreadableFileError: a file cannot be opened or read.

    Source: Kafka 4.3, LogSegment#append.
    """
    start = walk.end_position
    positions = [int(each) - start for batches in walk for each in batches.position]
    indexed = {each: _indexed(positions, each) for each in (default, 0, *_differences(positions))}
    if files.offset_index_size is not None:
        stored = rising_positions(files, context=context)
        indexed = (
            {each: found for each, found in indexed.items() if found == stored}
            or {each: found for each, found in indexed.items() if found[: len(stored)] == stored}
            or {each: found for each, found in indexed.items() if each < _least_gap(stored)}
        )
    likeliest = default if default in indexed else max(indexed)
    others = {found: each for each, found in indexed.items() if found != indexed[likeliest]}
    return likeliest, *others.values()


def _least_gap(stored: tuple[int, ...]) -> int:
    return min(later - earlier for earlier, later in pairwise((0, *stored)))


def _differences(positions: list[int]) -> list[int]:
    if len(positions) > _COMPARED:
        return [2**power for power in range(positions[-1].bit_length() + 1)]
    return sorted({later - earlier for later in positions for earlier in positions})


def _indexed(positions: list[int], interval: int) -> tuple[int, ...]:
    """The positions of the batches that get an entry."""
    found: list[int] = []
    last = 0
    for position in positions:
        if position - last > interval:
            found.append(position)
            last = position
    return tuple(found)
