"""How long reads report what they have read."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int], None]
"""Called with the number of bytes read since the last call."""


def no_progress(_bytes: int) -> None:
    """Report nothing: the default in a pipe, in Spark and in Python."""
