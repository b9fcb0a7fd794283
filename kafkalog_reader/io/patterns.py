"""Patterns of paths, as Spark and shells understand them."""

from __future__ import annotations

import glob
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")


def has_magic(text: str) -> bool:
    """Whether the text is a pattern, as Spark and shells understand it."""
    return glob.has_magic(text) or _BRACES.search(text) is not None


def without_braces(pattern: str) -> Iterator[str]:
    """Yield the patterns of every choice in braces."""
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from without_braces(pattern[: braces.start()] + choice + pattern[braces.end() :])
