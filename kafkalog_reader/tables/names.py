"""Names that a person typed, and the known name that was probably meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name is closest, as the end of a sentence; empty when none is close."""
    candidates = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), candidates, n=1, cutoff=0.5)
    return f". Did you mean {candidates[close[0]]!r}?" if close else ""
