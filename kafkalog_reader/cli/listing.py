"""Formats aligned lines under headings, so that they fit the terminal."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.printable import for_stdout, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDE_GAP: Final = "   "
NARROW_GAP: Final = "  "
INDENTATION: Final = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One column of a listing.

    Attributes:
        name: the key of its cells.
        text: the heading.
        short: the heading if the wide listing does not fit.
        left: whether cells are left-aligned; numbers are not.
        dispensable: columns with the greatest value are left out first on a narrow screen; 0:
            never.
        is_remark: whether it has a line of its own below its row on a narrow screen.
    """

    name: str
    text: str
    short: str
    left: bool = False
    dispensable: int = 0
    is_remark: bool = False


def screen_width() -> int | None:
    """Columns of the terminal; None in a pipe, where lines may have any length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def listing(
    headings: Sequence[Heading], rows: Sequence[Mapping[str, str]], screen: int | None
) -> Iterator[str]:
    """The headings and the rows, shortened if they are wider than the screen.

    First, headings are shortened and remarks are moved below their rows, then dispensable columns
    are left out, which a last line names.

    Args:
        headings: the columns in order.
        rows: their cells; no control characters.
        screen: number of columns that fit; None for any number.
    """
    cells = [{name: for_stdout(text) for name, text in row.items()} for row in rows]
    if screen is None or _columns_of(headings, cells, short=False) <= screen:
        texts = {heading.name: heading.text for heading in headings}
        yield from _lines(headings, [texts, *cells], WIDE_GAP)
        return
    kept = [heading for heading in headings if not heading.is_remark]
    left_out: list[Heading] = []
    for candidate in sorted(kept, key=lambda heading: -heading.dispensable):
        if not candidate.dispensable or _columns_of(kept, cells, short=True) <= screen:
            break
        kept.remove(candidate)
        left_out.append(candidate)
    remarks = [heading.name for heading in headings if heading.is_remark]
    texts = {heading.name: heading.short for heading in headings}
    lines = _lines(kept, [texts, *cells], NARROW_GAP)
    yield next(lines)
    for line, row in zip(lines, cells, strict=True):
        yield line
        yield from (f"{INDENTATION}{row[name]}" for name in remarks if row[name])
    if left_out:
        names = ", ".join(heading.text for heading in headings if heading in left_out)
        yield f"Left out at {screen} columns: {names}."


def _columns_of(
    headings: Sequence[Heading], rows: Sequence[Mapping[str, str]], *, short: bool
) -> int:
    texts = {heading.name: heading.short if short else heading.text for heading in headings}
    gap = NARROW_GAP if short else WIDE_GAP
    return max(width(line) for line in _lines(headings, [texts, *rows], gap))


def _lines(
    headings: Sequence[Heading], rows: Sequence[Mapping[str, str]], gap: str
) -> Iterator[str]:
    widths = {h.name: max(width(row[h.name]) for row in rows) for h in headings}
    for row in rows:
        padded = (_padded(row[h.name], widths[h.name], left=h.left) for h in headings)
        yield gap.join(padded).rstrip()


def _padded(text: str, columns: int, *, left: bool) -> str:
    padding = " " * (columns - width(text))
    return text + padding if left else padding + text
