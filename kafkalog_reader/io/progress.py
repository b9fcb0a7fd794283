"""How long reads report what they have read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[int], None]
"""Called with the number of bytes read since the last call."""


def no_progress(_bytes: int) -> None:
    """Report nothing: the default in a pipe, in Spark and in Python."""


@dataclass(slots=True)
class ReadMetrics:
    """What a read did so far. It is a ``Progress``, and is passed as one.

    Attributes:
        bytes_read: from segment files.
        batches_pruned: record batches left out by their headers, without decoding them.
        damaged_regions: places that were left out, or at which the read failed.
        missing_ranges: stretches of records that must have been there.
        doubtful_ranges: stretches of batches whose offsets other evidence contradicts.
        shown: also gets the bytes.
    """

    bytes_read: int = 0
    batches_pruned: int = 0
    damaged_regions: int = 0
    missing_ranges: int = 0
    doubtful_ranges: int = 0
    shown: Progress = no_progress

    def __call__(self, count: int) -> None:
        self.bytes_read += count
        self.shown(count)


def metrics_of(progress: Progress) -> ReadMetrics:
    """Where to count: what was passed as progress, or something that nobody looks at."""
    return progress if isinstance(progress, ReadMetrics) else ReadMetrics()
