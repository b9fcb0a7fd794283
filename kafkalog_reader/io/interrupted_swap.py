"""Resolves segments that a broker was replacing, after cleaning or splitting, when it stopped.

New segments are written as ``.cleaned``, renamed to ``.swap`` from the last to the first, then the
old ones become ``.deleted``, and the new ones lose their suffix. So a ``.swap`` below every
``.cleaned`` is complete and replaces the old segments in its offset range, which may still exist:
without this rule their records would appear twice, or not at all. Source: Kafka 4.0,
LogLoader#removeTempFilesAndCollectSwapFiles and #load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.format.batch_fields import (
    LENGTH_END,
    MAGIC,
    MIN_LENGTH_0,
    MIN_LENGTH_2,
    UP_TO_MAGIC,
)
from kafkalog_reader.format.batch_fields import UP_TO_LAST_OFFSET_DELTA as HEADER_START
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles


def settle_swaps(
    found: Sequence[SegmentFiles], next_offset: Callable[[SegmentFiles], int]
) -> tuple[SegmentFiles, ...]:
    """The segments that a broker would have after its start, by base offset.

    Args:
        found: all segments.
        next_offset: returns one past the last offset of a ``.swap``, as ``read_next_offset``.

    Raises:
        UnreadableFileError: a ``.swap`` log cannot be read.
    """
    live = tuple(segment for segment in found if segment.suffix is None)
    if len(live) == len(found):
        return live
    first_cleaned = min((s.base_offset for s in found if s.suffix == "cleaned"), default=None)
    swapped = [
        segment
        for segment in found
        if segment.suffix == "swap"
        and segment.log_size is not None
        and (first_cleaned is None or segment.base_offset < first_cleaned)
    ]
    if not swapped:
        return live
    start = swapped[0].base_offset
    end = max(map(next_offset, swapped))
    renamed_over = {segment.base_offset for segment in swapped}
    kept = [
        segment
        for segment in live
        if not start <= segment.base_offset < end and segment.base_offset not in renamed_over
    ]
    return tuple(sorted((*kept, *swapped), key=lambda segment: segment.base_offset))


def read_next_offset(segment: SegmentFiles, context: ReadContext, position: int = 0) -> int:
    """One past the last offset of a segment, by its batch headers; its base if it has none.

    Args:
        segment: whose log is read.
        context: how it is read.
        position: of the first batch that is read.
    """
    next_offset = segment.base_offset
    with Windows(segment.path("log"), size=1 << 20, context=context) as windows:
        window, window_start = windows.read(position), position
        while position < windows.size_in_bytes - UP_TO_MAGIC.size:  # as FileLogInputStream
            if position + HEADER_START.size > window_start + len(window):
                window, window_start = windows.read(position), position
            start = position - window_start
            base_offset, length, _, magic = UP_TO_MAGIC.unpack_from(window, start)
            shortest = MIN_LENGTH_2 if magic >= MAGIC else MIN_LENGTH_0
            if not shortest <= length <= windows.size_in_bytes - position - LENGTH_END:
                break
            last_offset_delta = HEADER_START.unpack_from(window, start)[-1] if magic >= MAGIC else 0
            next_offset = base_offset + 1 + last_offset_delta
            position += LENGTH_END + length
    return next_offset
