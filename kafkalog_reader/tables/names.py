"""Suggests the known name that a mistyped name probably means."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The closest known name, as the end of a sentence; empty if none is close."""
    candidates = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), candidates, n=1, cutoff=0.5)
    return f". Did you mean {candidates[close[0]]!r}?" if close else ""
