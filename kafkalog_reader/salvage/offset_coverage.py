"""Which offsets a salvage holds, and which gaps lie between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_RANGES: Final = 1000
"""A compacted log has many gaps that are not a loss."""


@dataclass(slots=True)
class OffsetCoverage:
    """Offsets seen in rising order.

    Attributes:
        missing: offsets between the first and the last that were not kept.
        missing_ranges: the first of these ranges, both ends inclusive.
    """

    first: int | None = None
    last: int | None = None
    missing: int = 0
    missing_ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, base_offset: NDArray[np.int64], last_offset: NDArray[np.int64]) -> None:
        """Take in batches, or records with the same array twice."""
        if not len(base_offset):
            return
        if self.first is None or self.last is None:
            self.first = int(base_offset[0])
            self.last = self.first - 1
        before = np.concatenate(([self.last], last_offset[:-1]))
        gaps = np.flatnonzero(base_offset > before + 1)
        if len(gaps):
            self.missing += int((base_offset[gaps] - before[gaps] - 1).sum())
            for gap in gaps[: MAX_RANGES - len(self.missing_ranges)].tolist():
                self.missing_ranges.append((int(before[gap]) + 1, int(base_offset[gap]) - 1))
        self.last = max(self.last, int(last_offset[-1]))

    def lacks(self, offset: int) -> bool:
        """Whether nothing was seen of an offset: only then something else may speak for it."""
        if self.first is None or self.last is None or not self.first <= offset <= self.last:
            return True
        return any(first <= offset <= last for first, last in self.missing_ranges)

    def has_any(self, first: int, following: int) -> bool:
        """Whether one of the offsets [first, following) was seen."""
        if self.first is None or self.last is None:
            return False
        if following <= self.first or first > self.last:
            return False
        return not any(low <= first and following <= high + 1 for low, high in self.missing_ranges)

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            "firstOffset": self.first,
            "lastOffset": self.last,
            "missingOffsets": self.missing,
            "missingOffsetRanges": [list(each) for each in self.missing_ranges],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LostOffsets:
    """The offsets [first, next) are not in the log.

    Attributes:
        why: they should be there, for people.
        held_by: other copies that have readable batches there.
    """

    first_offset: int
    next_offset: int
    why: str
    held_by: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it; the last offset is inclusive, as everywhere in it."""
        return {
            "firstOffset": self.first_offset,
            "lastOffset": self.next_offset - 1,
            "reason": self.why,
            "heldBy": list(self.held_by),
        }
