"""The terminal that a report is written to."""

from __future__ import annotations

import sys

import click
import pytest

from kafkalog_reader.cli.screen import screen, write_lines
from kafkalog_reader.report.spans import Span, Style

LINE = (Span("torn "), Span("lost", Style.LOST), Span(" – "), Span("all", Style.STRONG))


class Terminal:
    """A standard output that says that it is a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        """Nothing is kept back."""


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("NO_COLOR", "TERM", "LC_ALL", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    output = Terminal()
    monkeypatch.setattr(sys, "stdout", output)
    return output


@pytest.mark.usefixtures("capsys")
def test_pipe_counts_as_80_columns() -> None:
    assert screen().columns == 80


@pytest.mark.parametrize(
    ("columns", "used"), [(59, 60), (60, 60), (100, 100), (120, 120), (121, 120)]
)
def test_terminal_is_used_from_60_to_120_columns(
    columns: int, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal_of(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert screen().columns == used


def test_c_locale_asks_for_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal_of(monkeypatch)
    assert not screen().ascii_only
    monkeypatch.setenv("LC_ALL", "C")
    assert screen().ascii_only


def test_terminal_gets_its_own_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    write_lines([LINE])
    red, bold = "\x1b[31m", "\x1b[1m"
    assert terminal.text.startswith(f"torn {red}")
    assert terminal.text.index(red) < terminal.text.index("lost") < terminal.text.index(bold)
    assert terminal.text.count("\x1b[0m") == 2, "each colour ends"
    assert click.unstyle(terminal.text) == "torn lost – all\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setenv(name, value)
    write_lines([LINE])
    assert terminal.text == "torn lost – all\n"


def test_empty_no_color_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "")
    write_lines([(Span("x", Style.SOUND),)])
    assert terminal.text.startswith("\x1b[32m")


def test_pipe_gets_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    write_lines([LINE, ()])
    assert capsys.readouterr().out == "torn lost – all\n\n"
