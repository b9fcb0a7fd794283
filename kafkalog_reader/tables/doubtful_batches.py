"""Batches with offsets that other evidence contradicts, and why they are doubtful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FALLS: Final = "KL-110"
JUMPED: Final = "KL-111"
BEYOND_AN_INDEX: Final = "KL-114"
BELOW_ITS_SEGMENT: Final = "KL-401"
INTO_THE_NEXT: Final = "KL-402"
ONE_BIT: Final = "KL-119"
CODES: Final = (FALLS, JUMPED, BEYOND_AN_INDEX, BELOW_ITS_SEGMENT, INTO_THE_NEXT, ONE_BIT)
"""Codes of findings that ``DoubtfulBatches`` carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulBatches:
    """Adjacent batches of one segment with doubtful offsets.

    Attributes:
        position, end_position: the byte range of the segment file that they lie in.
        first_offset, last_offset: as their headers have them, from the first to the last batch.
        likely_offset: set if their neighbours leave exactly enough room; else None.
        problem: why, in words.
        code: of the finding that ``kafkalog verify`` has there.
    """

    position: int
    end_position: int
    first_offset: int
    last_offset: int
    likely_offset: int | None
    problem: str
    code: str

    @property
    def is_proven(self) -> bool:
        """Whether it is one batch, and one bit of its base offset makes it ``likely_offset``."""
        return self.code == ONE_BIT
