"""A difference between replicas under one leader epoch, and a collection of such ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.replica import Replica

MAX: Final[int] = 10_000
"""Ranges kept for one partition; hostile copies may differ in every second batch."""


class DifferenceKind(Enum):
    """The kind of a difference; the first three are explained or repairable, the others are not."""

    CLEANED = "cleaned"
    """Compaction has gone further on one side; every record on both sides is equal."""
    DAMAGED = "damaged"
    """Copies with a wrong checksum differ from an intact one."""
    HIDDEN = "hidden"
    """Absent where damage ended the scan of the segment: perhaps present, but unread."""
    UNCOVERED = "uncovered"
    """The bytes under the CRC are equal; base offset, length, magic or leader epoch differ."""
    MISSING = "missing"
    """Absent inside a replica's log, and nothing explains it."""
    CONFLICT = "conflict"
    """Same offset and leader epoch, different content, every checksum valid."""
    NOT_COMPARED = "not compared"
    """Compaction may explain it, and the records could not be decoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The offsets [first, next), and which replicas hold what there.

    Attributes:
        contents: the replicas, grouped by equal bytes.
        absent: replicas of the same branch that lack these batches, or have other batch bounds
            there.
        damaged: replicas whose copy has a wrong checksum, or a wrong base offset or leader epoch.
        moved: those with a wrong base offset: consumers cannot fetch these offsets there.
    """

    kind: DifferenceKind
    first_offset: int
    next_offset: int
    batches: int
    records: int
    contents: tuple[tuple[Replica, ...], ...]
    absent: tuple[Replica, ...] = ()
    damaged: tuple[Replica, ...] = ()
    moved: tuple[Replica, ...] = ()

    def is_continued_by(self, other: Difference) -> bool:
        """Whether ``other`` starts where this range ends, and differs in the same way."""
        return (
            self.next_offset == other.first_offset
            and self.kind is other.kind
            and self.contents == other.contents
            and self.absent == other.absent
            and self.damaged == other.damaged
            and self.moved == other.moved
        )


class Differences:
    """Collects differences and joins adjacent ones.

    The first of each kind is always kept, because the verdict depends on them.

    Attributes:
        left_out: number of differences that were not kept.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._found: list[Difference] = []
        self._kinds: set[DifferenceKind] = set()

    def add(self, difference: Difference) -> None:
        if self._found and self._found[-1].is_continued_by(difference):
            last = self._found[-1]
            self._found[-1] = replace(
                last,
                next_offset=difference.next_offset,
                batches=last.batches + difference.batches,
                records=last.records + difference.records,
            )
        elif len(self._found) < MAX or difference.kind not in self._kinds:
            self._kinds.add(difference.kind)
            self._found.append(difference)
        else:
            self.left_out += 1

    def takes(self, kind: DifferenceKind, first_offset: int) -> bool:
        """Whether a difference that begins there will be kept; if not, count it as left out."""
        may = (
            len(self._found) < MAX
            or kind not in self._kinds
            or self._found[-1].next_offset == first_offset
        )
        self.left_out += not may
        return may

    @property
    def found(self) -> tuple[Difference, ...]:
        return tuple(sorted(self._found, key=lambda difference: difference.first_offset))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCheck:
    """The result of comparing the keys of the cleaned ranges.

    Attributes:
        missing: records that should have survived, as differences.
        latest: offsets at which the last value of a key differs between replicas (KL-511).
        is_complete: False if there were too many keys, so that nothing was compared.
    """

    missing: tuple[Difference, ...] = ()
    latest: tuple[int, ...] = ()
    is_complete: bool = True
