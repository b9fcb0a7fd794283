"""How many examples a property test tries: the profile of the run decides."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

_WHOLE: Final = 100
"""What a run tries of a test that names no number, unless its profile says otherwise."""


def examples(number: int) -> int:
    """So many examples in a whole run, and the same share of them as of other tests elsewhere."""
    return max(1, number * settings().max_examples // _WHOLE)
