"""Splits a segment with an offset too large for its index entries, as a start does.

Source: Kafka 4.3, LocalLog#splitOverflowedSegment.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.recovery.batches import WalkEnd
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.rebuilt_index import rebuild_index
from kafkalog_reader.audits.recovery.segment import LoadingSegment, Recovered, read_next_offset
from kafkalog_reader.format.offset_limits import MAX_RELATIVE_OFFSET
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import no_progress

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.rule import LogConfig
    from kafkalog_reader.io.progress import Progress


def split_segment(
    segment: LoadingSegment, config: LogConfig, progress: Progress
) -> tuple[list[LoadingSegment], int, WalkEnd]:
    """Split a segment where an offset is too far above the base of the part before it.

    Returns:
        The parts, the offset of the last batch, and how the segment ends.

    Raises:
        StartFailure: it cannot be split, which ends the broker.
        UnreadableFileError: the file cannot be opened or read.
    """
    parts: list[LoadingSegment] = []
    last_offset = segment.base_offset - 1
    walk = segment.walk(0, check_crc=False, progress=progress)
    for batches in walk:
        last_offset = int(batches.last_offset[-1])
        first = 0
        while first < len(batches):
            if not parts or not _fits(parts[-1].base_offset, int(batches.last_offset[first])):
                position = int(batches.position[first])
                if parts:
                    parts[-1].stop = position
                parts.append(
                    replace(
                        segment,
                        base_offset=int(batches.base_offset[first]),
                        start=position,
                        recovered=None,
                        index=None,
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
    if walk.end is WalkEnd.END:  # else it is not split
        for part in parts:
            _index(part, config, progress)
    return parts, last_offset, walk.end


def _index(part: LoadingSegment, config: LogConfig, progress: Progress) -> None:
    """Give a part the index with which it is written, and the end that is found by it.

    Source: Kafka 4.3, LogSegment#appendFromFile, which indexes as a recovery does.
    """
    walk = part.walk(0, check_crc=False, progress=no_progress)
    index = rebuild_index(walk, part.base_offset, config)
    if index.is_full or index.refused_at is not None:
        raise StartFailure(
            f"{shown(part.path)}: cannot be split, an index of the part from offset "
            f"{part.base_offset:,} on takes no further entry"
        )
    assert part.recovered is not None
    part.index = index.entries
    found = replace(part, recovered=None)
    part.recovered = replace(
        part.recovered, stop=part.stop, next_offset=read_next_offset(found, progress)
    )


def _fits(base_offset: int, offset: int) -> bool:
    return 0 <= offset - base_offset <= MAX_RELATIVE_OFFSET
