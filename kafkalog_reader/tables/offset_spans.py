"""Consecutive spans of offsets as columns, with what a consumer gets of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class Fate(IntEnum):
    """What happened to offsets; the ``facts`` of ``OffsetSpans`` depend on it.

    Facts are two numbers: of control records the producer id and the type of the marker, of aborted
    transactions the producer id and the offset of the marker, of open ones the producer id and
    the last stable offset, of compacted records how many of how many its batch keeps (-1: no batch
    is left), of damage the number of a note; of missing ones nothing.
    """

    VISIBLE = 0
    CONTROL = 1
    ABORTED = 2
    OPEN = 3
    COMPACTED = 4
    DAMAGED = 5
    MISSING = 6


@dataclass(frozen=True, slots=True, eq=False)
class OffsetSpans:
    """Half-open spans in rising order.

    Attributes:
        position: of the batch that the span belongs to, or that follows it.
        facts: two numbers a span, see ``Fate``.
    """

    first: NDArray[np.int64]
    next: NDArray[np.int64]
    fate: NDArray[np.int8]
    position: NDArray[np.int64]
    facts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def one(cls, span: tuple[int, int], fate: Fate, position: int, facts: list[int]) -> OffsetSpans:
        """A single span."""
        first, stop, where = (np.array([number], np.int64) for number in (*span, position))
        return cls(first, stop, np.array([fate], np.int8), where, np.array([facts], np.int64))

    def taken(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> OffsetSpans:
        """Some of them."""
        return OffsetSpans(
            self.first[which],
            self.next[which],
            self.fate[which],
            self.position[which],
            self.facts[which],
        )

    def above(self, offset: int) -> OffsetSpans:
        """The parts from ``offset`` on that no span before them covers."""
        reached = np.maximum.accumulate(np.concatenate(([offset], self.next[:-1])))
        first = np.maximum(self.first, reached)
        kept = OffsetSpans(first, self.next, self.fate, self.position, self.facts)
        return kept.taken(kept.next > first)

    def merged(self) -> OffsetSpans:
        """Spans that touch and have the same fate and facts become one."""
        if len(self) < 2:
            return self
        begins = (
            (self.first[1:] != self.next[:-1])
            | (self.fate[1:] != self.fate[:-1])
            | (self.facts[1:] != self.facts[:-1]).any(axis=1)
        )
        starts = np.concatenate(([0], np.flatnonzero(begins) + 1))
        ends = np.concatenate((starts[1:], [len(self)])) - 1
        found = self.taken(starts)
        return OffsetSpans(found.first, self.next[ends], found.fate, found.position, found.facts)


def joined(parts: Iterable[OffsetSpans]) -> OffsetSpans:
    """All spans of several parts, in their order."""
    columns = [(p.first, p.next, p.fate, p.position, p.facts) for p in parts]
    return OffsetSpans(*(np.concatenate(each) for each in zip(*columns, strict=True)))
