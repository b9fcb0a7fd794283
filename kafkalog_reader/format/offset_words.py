"""Half-open ranges of offsets in words."""

from __future__ import annotations


def offsets_words(first_offset: int, next_offset: int) -> str:
    """``offset 2``, ``offsets 2 to 4``."""
    if next_offset - first_offset == 1:
        return f"offset {first_offset:,}"
    return f"offsets {first_offset:,} to {next_offset - 1:,}"


def offsets_are(first_offset: int, next_offset: int) -> str:
    """``offset 2 is``, ``offsets 2 to 4 are``."""
    verb = "is" if next_offset - first_offset == 1 else "are"
    return f"{offsets_words(first_offset, next_offset)} {verb}"
