"""Lines of text with styles; everything is readable without colour."""

from __future__ import annotations

import textwrap
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Style(Enum):
    """The meanings of colours; the values are rich's names."""

    PLAIN = ""
    STRONG = "bold"
    LOST = "red"
    """Lost or wrong."""
    ATTENTION = "yellow"
    SOUND = "green"
    EPOCH = "blue"
    OTHER_EPOCH = "bright_blue"
    """Leader epochs alternate."""


class Span(NamedTuple):
    """Text with one style."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[Span, ...]
_NEVER_BROKEN: Final = "\N{REPLACEMENT CHARACTER}"
"""Placeholder for each character of a beginning while lines are wrapped."""


def plain(line: Line) -> str:
    """The line without styles and trailing blanks."""
    return "".join(span.text for span in line).rstrip()


def wrapped(
    text: str,
    columns: int,
    *,
    indent: int = 0,
    hanging: int = 2,
    beginning: tuple[Span, ...] = (),
) -> Iterator[Line]:
    """Wrap text into lines; a path that is longer than a line is not broken, so it can be copied.

    Args:
        text: what follows ``beginning``.
        columns: of the terminal.
        indent: of the first line.
        hanging: additional indent of the other lines.
        beginning: precedes the text and is never broken.
    """
    blank = " " * indent
    before = "".join(span.text for span in beginning)
    placeholder = _NEVER_BROKEN * len(before.rstrip())
    first, *rest = textwrap.wrap(
        placeholder + before[len(before.rstrip()) :] + text,
        columns,
        initial_indent=blank,
        subsequent_indent=blank + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [blank]
    following = first[len(blank) + len(placeholder) :]
    if before != before.rstrip() and following.startswith(before[len(before.rstrip()) :]):
        following = following[len(before) - len(before.rstrip()) :]
    yield (Span(blank), *beginning, Span(following))
    for line in rest:
        yield (Span(line),)


def offsets_text(first_offset: int, next_offset: int) -> str:
    """``offset 2``, ``offsets 2–4``: a half-open range as text."""
    last = next_offset - 1
    if first_offset >= last:
        return f"offset {first_offset:,}"
    return f"offsets {first_offset:,}–{last:,}"


def listed(words: Sequence[str]) -> str:
    """``0``, ``0 and 1``, ``0, 1 and 2``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
