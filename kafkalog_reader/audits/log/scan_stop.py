"""A stretch of a segment that holds no batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.scan.scan_end import ScanEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanStop:
    """A stretch of a segment that holds no batch that could be read.

    Attributes:
        where: the first byte that is not a batch, with the offset expected there.
        size_in_bytes: from there to the next sound batch, or to the end of the file.
        hidden_until: the offset of that batch, or the next segment's base offset; None when
            nothing of the log follows.
        end: why; None when the operating system refused.
        begins_batch: a batch of the offset expected there does begin, whatever is wrong with it.
        goes_on_at: position of the next sound batch in the same file; None without.
        given_up: places in it that a cap on work left unjudged (KL-005).
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
