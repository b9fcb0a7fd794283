"""A stretch of a segment that holds no readable batch, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafkalog_reader.errors import LogPosition
from kafkalog_reader.scan.scan_end import ScanEnd

_ROUND: Final = 1 << 20
"""``segment.bytes`` usually is a multiple of this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRegion:
    """Bytes of a segment between two sound batches, or after the last one.

    Attributes:
        file: the segment file as shown to people; the directory if that cannot be listed.
        start, stop: its byte range in the file.
        first_offset: expected at its beginning; None before the first batch.
        next_offset: base offset of what follows: the next sound batch, or, if the caller knows it,
            the next segment. None if nothing follows.
        goes_on: whether a sound batch follows in the same file.
        end: the problem where it begins.
        problem: the same in words.
        magic: where it begins, if the magic is unknown.
        begins_batch: its first bytes may be those of a batch, with a possible offset.
        begun_records: how many client records the batch that its first bytes begin holds at most,
            by its header; 0 if they do not say.
        given_up: candidates that the budget left unchecked (KL-005): the region may hold sound
            batches after all.
    """

    file: str
    start: int
    stop: int
    first_offset: int | None
    next_offset: int | None
    end: ScanEnd
    problem: str
    magic: int | None = None
    goes_on: bool = False
    begins_batch: bool = False
    begun_records: int = 0
    given_up: int = 0

    @property
    def where(self) -> LogPosition:
        """Its first byte, with the offset expected there; a directory has no bytes."""
        position = self.start if self.stop > self.start else None
        return LogPosition(self.file, position, self.first_offset)

    @property
    def size_in_bytes(self) -> int:
        return self.stop - self.start

    @property
    def ends_log(self) -> bool:
        """Whether nothing of the log follows, as far as the caller knows."""
        return self.next_offset is None

    @property
    def is_unfinished(self) -> bool:
        """Whether it is what a crash leaves at the end of a log: not damage."""
        return self.ends_log and self.end in (ScanEnd.TORN, ScanEnd.ZEROS)

    @property
    def may_be_preallocated(self) -> bool:
        """Whether zeros fill a file of a round size, as preallocation does; a crash leaves any."""
        return self.end is ScanEnd.ZEROS and self.stop % _ROUND == 0

    @property
    def description(self) -> str:
        """What is wrong, and how far it reaches."""
        text = self.problem
        if self.goes_on:
            text += (
                f"; {self.size_in_bytes:,} bytes are skipped, offset {self.next_offset} follows "
                f"at position {self.stop}"
            )
        if self.given_up:
            text += f"; {self.given_up:,} places were not searched to their end"
        return text
