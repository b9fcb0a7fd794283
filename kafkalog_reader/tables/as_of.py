"""The moment at which a state is requested: an offset or a time of an internal topic's log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """The last moment whose records count; one of the two is None.

    Attributes:
        offset: of the last record.
        timestamp: milliseconds since 1970 UTC, inclusive.
    """

    offset: int | None = None
    timestamp: int | None = None

    def covers(self, offset: int, timestamp: int | None) -> bool:
        """Whether a record counts; ``timestamp`` is in milliseconds, None if unknown."""
        if self.offset is not None:
            return offset <= self.offset
        assert self.timestamp is not None
        return timestamp is None or timestamp <= self.timestamp

    def __str__(self) -> str:
        return f"offset {self.offset}" if self.offset is not None else f"time {self.timestamp}"
