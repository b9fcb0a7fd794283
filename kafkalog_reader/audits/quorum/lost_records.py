"""What is lost of the metadata log if one copy becomes the history of the cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.quorum.commitment import Commitment, committed_offsets
from kafkalog_reader.audits.quorum.metadata_copy import read_metadata_copy
from kafkalog_reader.audits.quorum.record_text import RecordTexts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.quorum.metadata_copy import LogEnd, MetadataCopy
    from kafkalog_reader.audits.quorum.quorum import Quorum
    from kafkalog_reader.io.directories import PartitionDirectory

_IDLE: Final = "NoOpRecord"
MAX_CHANGES: Final = 1_000
"""Changes that a range describes; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRange:
    """Records that other copies hold, and the chosen one does not; offsets are half-open.

    Attributes:
        holders: the copies that hold some or all of it, the one with the most first.
        records: by type, such as ``TopicRecord``; control records by their type.
        changes: offset and what the record says, at most ``MAX_CHANGES``.
    """

    holders: tuple[MetadataCopy, ...]
    first_offset: int
    next_offset: int
    commitment: Commitment
    records: Mapping[str, int]
    changes: tuple[tuple[int, str], ...]

    @property
    def offsets(self) -> int:
        """How many records it is; those that only a snapshot has are not in ``records``."""
        return self.next_offset - self.first_offset

    @property
    def is_idle(self) -> bool:
        """Whether they are only those that a controller without work writes, which say nothing."""
        return self.records == {_IDLE: self.offsets}


def lost_ranges(quorum: Quorum, chosen: MetadataCopy) -> tuple[LostRange, ...]:
    """What other copies hold that the chosen one lacks: each history once, by offset.

    Raises:
        LocatedError: a record contradicts the format.
    """
    found: list[LostRange] = []
    told: list[MetadataCopy] = []
    for other in sorted(quorum.copies, key=_readable, reverse=True):
        first = quorum.parting(chosen, other).offset
        if other is chosen or first >= other.end.offset:
            continue
        if any(quorum.parting(each, other).offset >= other.end.offset for each in told):
            continue
        first = max([first, *(quorum.parting(each, other).offset for each in told)])
        told.append(other)
        found += _ranges(quorum, other, first)
    return tuple(sorted(found, key=lambda each: each.first_offset))


def _readable(copy: MetadataCopy) -> tuple[LogEnd, bool]:
    """Of equal copies, the one first whose records have the right offsets."""
    return copy.end, not copy.batches.misplaced


def _ranges(quorum: Quorum, other: MetadataCopy, first: int) -> Iterator[LostRange]:
    end = other.end.offset
    texts = RecordTexts(other)
    for start, stop, commitment in committed_offsets(quorum, other).split(first, end):
        holders = [each for each in quorum.copies if quorum.parting(other, each).offset > start]
        counts: Counter[str] = Counter()
        changes: list[tuple[int, str]] = []
        for offset, name, text in texts.between(start, stop):
            counts[name] += 1
            if text and len(changes) < MAX_CHANGES:
                changes.append((offset, text))
        yield LostRange(
            holders=tuple(sorted(holders, key=lambda each: quorum.parting(other, each).offset,
                                 reverse=True)),
            first_offset=start,
            next_offset=stop,
            commitment=commitment,
            records=dict(counts),
            changes=tuple(changes),
        )  # fmt: skip


def is_idle_from(directory: PartitionDirectory, first: int) -> bool:
    """Whether a copy has nothing but NoOpRecords from an offset on, whatever their number.

    Raises:
        LocatedError: a record contradicts the format.
    """
    copy = read_metadata_copy(directory)
    found = RecordTexts(copy).between(first, copy.end.offset)
    return {name for _, name, _ in found} == {_IDLE}


def lost_offsets(ranges: tuple[LostRange, ...], commitment: Commitment) -> int:
    """How many records of a kind are lost."""
    return sum(each.offsets for each in ranges if each.commitment is commitment)
