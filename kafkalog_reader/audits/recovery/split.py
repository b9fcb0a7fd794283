"""Splits a segment with an offset too large for its index entries, as a start does.

Source: Kafka 4.3, LocalLog#splitOverflowedSegment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.segment import LoadingSegment, Recovered
from kafkalog_reader.format.offset_limits import MAX_RELATIVE_OFFSET
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.batches import WalkEnd
    from kafkalog_reader.io.progress import Progress


def split_segment(
    segment: LoadingSegment, progress: Progress
) -> tuple[list[LoadingSegment], WalkEnd]:
    """Split a segment where an offset is too far above the base of the part before it."""
    parts: list[LoadingSegment] = []
    walk = segment.walk(0, check_crc=False, progress=progress)
    for batches in walk:
        first = 0
        while first < len(batches):
            if not parts or not _fits(parts[-1].base_offset, int(batches.last_offset[first])):
                position = int(batches.position[first])
                if parts:
                    parts[-1].stop = position
                parts.append(
                    LoadingSegment(
                        files=segment.files,
                        base_offset=int(batches.base_offset[first]),
                        start=position,
                        stop=segment.stop,
                        context=segment.context,
                    )
                )
            relative = batches.last_offset[first:] - parts[-1].base_offset
            outside = np.flatnonzero((relative < 0) | (relative > MAX_RELATIVE_OFFSET))
            end = first + (int(outside[0]) if len(outside) else len(batches) - first)
            if end == first:  # not even its own base fits: Kafka would not write such a part
                raise StartFailure(f"{shown(segment.path)}: offsets contradict themselves")
            before = parts[-1].recovered
            parts[-1].recovered = Recovered(
                stop=segment.stop,
                next_offset=int(batches.last_offset[end - 1]) + 1,
                greatest_offset=max(
                    int(batches.last_offset[first:end].max()),
                    -1 if before is None else before.greatest_offset,
                ),
                greatest_timestamp=max(
                    int(batches.max_timestamp[first:end].max()),
                    -1 if before is None else before.greatest_timestamp,
                ),
                cache=LeaderEpochCache(),
            )
            first = end
    return parts, walk.end


def _fits(base_offset: int, offset: int) -> bool:
    return 0 <= offset - base_offset <= MAX_RELATIVE_OFFSET
