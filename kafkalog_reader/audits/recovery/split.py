"""Splits a segment with an offset too large for its index entries, as a start does.

Source: Kafka 4.3, LocalLog#splitOverflowedSegment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.segment import LoadingSegment, Recovered
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.batches import WalkEnd
    from kafkalog_reader.io.progress import Progress

MAX_OFFSETS: Final = 2**31 - 1


def split_pieces(
    segment: LoadingSegment, progress: Progress
) -> tuple[list[LoadingSegment], WalkEnd]:
    """Split a segment where an offset is too far above the base of the piece before it."""
    pieces: list[LoadingSegment] = []
    walk = segment.walk(0, check_crc=False, progress=progress)
    for batches in walk:
        first = 0
        while first < len(batches):
            if not pieces or not _fits(pieces[-1].base_offset, int(batches.last_offset[first])):
                position = int(batches.position[first])
                if pieces:
                    pieces[-1].stop = position
                pieces.append(
                    LoadingSegment(
                        files=segment.files,
                        base_offset=int(batches.base_offset[first]),
                        start=position,
                        stop=segment.stop,
                        follow_links=segment.follow_links,
                    )
                )
            relative = batches.last_offset[first:] - pieces[-1].base_offset
            outside = np.flatnonzero((relative < 0) | (relative > MAX_OFFSETS))
            end = first + (int(outside[0]) if len(outside) else len(batches) - first)
            if end == first:  # not even its own base fits: Kafka would not write such a piece
                raise StartFailure(f"{shown(segment.path)}: offsets contradict themselves")
            before = pieces[-1].recovered
            pieces[-1].recovered = Recovered(
                stop=segment.stop,
                next_offset=int(batches.last_offset[end - 1]) + 1,
                greatest_timestamp=max(
                    int(batches.max_timestamp[first:end].max()),
                    -1 if before is None else before.greatest_timestamp,
                ),
                cache=LeaderEpochCache(),
            )
            first = end
    return pieces, walk.end


def _fits(base_offset: int, offset: int) -> bool:
    return 0 <= offset - base_offset <= MAX_OFFSETS
