"""The largest offsets that a log and a segment can hold."""

from __future__ import annotations

from typing import Final

MAX_OFFSET: Final = 2**63 - 1
MAX_RELATIVE_OFFSET: Final = 2**31 - 1
"""Indexes keep offsets relative to the segment's base as int32 (KAFKA-6264)."""


def segment_limit(base_offset: int, next_base: int | None) -> int:
    """One above the highest offset that a batch of a segment can have.

    Args:
        base_offset: of the segment.
        next_base: of the segment that follows; None for the last.
    """
    following = MAX_OFFSET if next_base is None else next_base
    return min(following, base_offset + MAX_RELATIVE_OFFSET + 1)
