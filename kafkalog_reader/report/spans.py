"""Lines of text with a meaning where colour may help; everything reads without it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Style(Enum):
    """What colour means; the values are rich's names."""

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
    """Text of one style."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[Span, ...]


def plain(line: Line) -> str:
    """The line without styles, nothing at its end."""
    return "".join(span.text for span in line).rstrip()
