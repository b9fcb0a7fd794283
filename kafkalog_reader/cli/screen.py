"""The terminal that a report is written to: its width, and what it can show."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from kafkalog_reader.cli.printable import for_stdout, stdout_is_unicode
from kafkalog_reader.report.spans import Line, Style, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

_NARROWEST: Final = 60
_WIDEST: Final = 120
_COLOURS: Final = {
    Style.LOST: "red",
    Style.ATTENTION: "yellow",
    Style.SOUND: "green",
    Style.EPOCH: "blue",
    Style.OTHER_EPOCH: "bright_blue",
}


class Screen(NamedTuple):
    """The width of a line, and whether it may have more than ASCII."""

    columns: int
    ascii_only: bool


def screen() -> Screen:
    """The screen of standard output; a pipe counts as 80 columns."""
    columns = 80
    if sys.stdout.isatty():
        columns = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))
    return Screen(columns=columns, ascii_only=not stdout_is_unicode())


def write_lines(lines: Iterable[Line]) -> None:
    """Write lines, with the terminal's own colours if it is a terminal."""
    coloured = _in_colour()
    for line in lines:
        click.echo(_coloured(line) if coloured else for_stdout(plain(line)), color=coloured)


def _in_colour() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def _coloured(line: Line) -> str:
    """The line with the terminal's own colours."""
    return "".join(
        click.style(
            for_stdout(span.text), fg=_COLOURS.get(span.style), bold=span.style is Style.STRONG
        )
        if span.style is not Style.PLAIN
        else for_stdout(span.text)
        for span in line
    )
