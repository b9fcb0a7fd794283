"""A stretch of a segment without batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.scan.scan_end import ScanEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanStop:
    """A stretch of a segment in which no batch could be read.

    Attributes:
        where: the first byte that is not a batch, with the offset expected there.
        size_in_bytes: from there to the next sound batch, or to the end of the file.
        hidden_until: the offset of that batch, or the next segment's base offset; None if nothing
            of the log follows.
        end: why it stopped; None if the operating system refused.
        begins_batch: whether a batch with the expected offset begins there, even if it is damaged.
        goes_on_at: position of the next sound batch in the same file; None if there is none.
        given_up: number of places in it that a limit on work left unchecked (KL-005).
    """

    where: LogPosition
    size_in_bytes: int
    hidden_until: int | None
    end: ScanEnd | None
    problem: str
    goes_on_at: int | None = None
    begins_batch: bool = False
    given_up: int = 0

    @property
    def in_last_segment(self) -> bool:
        return self.hidden_until is None
