"""Fields of internal records for which -1 means that they are not set."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.tables.rows import microseconds_of

UNSET: Final = -1


def number_or_none(number: int | None) -> int | None:
    """The number; None if it is not set."""
    return None if number == UNSET else number


def time_or_none(milliseconds: int | None) -> int | None:
    """A timestamp in microseconds; None if it is not set."""
    return None if milliseconds in (None, UNSET) else microseconds_of(milliseconds or 0)
