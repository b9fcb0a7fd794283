"""Finds how far the batches at the beginning of a segment are sound."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.segment import LoadingSegment
    from kafkalog_reader.io.progress import Progress


class SoundPrefix(NamedTuple):
    """The sound batches at the beginning of a segment.

    Attributes:
        next_offset: one past the last of them; the segment's base if there are none.
        greatest_offset: their greatest offset, which is not the last one if offsets fall.
        is_whole: whether nothing follows them.
    """

    next_offset: int
    greatest_offset: int
    is_whole: bool


def sound_prefix(segment: LoadingSegment | None, progress: Progress) -> SoundPrefix:
    """Find the sound batches at the beginning of a segment; None if the log has no segment.

    Raises:
        UnreadableFileError: a file cannot be opened or read.
    """
    if segment is None:
        return SoundPrefix(next_offset=0, greatest_offset=-1, is_whole=True)
    end = segment.base_offset
    greatest = end - 1
    walk = segment.walk(0, check_crc=True, progress=progress)
    for batches in walk:
        sound = int(np.argmin(np.append(batches.is_sound, False)))
        if sound:
            end = int(batches.last_offset[sound - 1]) + 1
            greatest = max(greatest, int(batches.last_offset[:sound].max()))
        if sound < len(batches):
            return SoundPrefix(end, greatest, is_whole=False)
    return SoundPrefix(end, greatest, is_whole=walk.end_position == segment.stop)
