"""Writes out the actions of findings, and commands as lines that can be pasted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import ACTIONS, DO_NOT_START, NOTHING_TO_DO
from kafkalog_reader.report.advised_actions import listed_actions
from kafkalog_reader.report.repair_text import repair_commands
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_WORD: Final = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
_PARTS: Final = re.compile(rf"--\S+ (?!--){_WORD}|{_WORD}")
"""The words of a command for a shell, options together with their values."""


def action_lines(
    audit: PartitionAudit, found: Sequence[Finding], columns: int, *, verbose: bool = False
) -> Iterator[Line]:
    """The actions as a list; without ``--verbose`` only those of critical and high findings."""
    actions = listed_actions(audit, found, verbose=verbose)
    if not actions:
        return
    yield ()
    yield (Span("  What to do:", Style.STRONG),)
    for action in actions:
        beginning = (Span("→ ", Style.ATTENTION),)
        text = f"{action.text} ({', '.join(action.codes)})"
        yield from wrapped(text, columns, indent=4, hanging=2, beginning=beginning)
        for command in action.commands:
            yield from command_lines(command, columns)


def to_do_lines(
    actions: Iterable[str],
    repairs: Iterable[Repair],
    columns: int,
    *,
    indent: int,
    is_said: bool = False,
) -> Iterator[Line]:
    """What to do about one finding, and the commands for it; these alone if the text was said.

    With a command, not to start the broker before is what it begins with.
    """
    commands = repair_commands(repairs)
    asked = [each for each in actions if not (commands and each == DO_NOT_START)]
    for number, action in enumerate(asked or actions):
        if action != NOTHING_TO_DO and not is_said:
            text = f"→ {ACTIONS[action].text()}"
            yield from wrapped(text, columns, indent=indent, hanging=2)
        for command in () if number else commands:
            yield from command_lines(command, columns, indent=indent + 4)


def command_lines(command: str, columns: int, *, indent: int = 10) -> Iterator[Line]:
    """A command in lines that can be pasted together; only a long word makes a line too long."""
    if command.startswith("#"):
        for words in wrapped(command.removeprefix("# "), columns - indent - 2, hanging=0):
            yield (Span(f"{' ' * indent}# "), *words)
        return
    blank = " " * indent
    line = blank
    for part in _PARTS.findall(command):
        if len(line) + len(part) + 2 > columns and line.strip():
            yield (Span(f"{line}\\"),)
            line = f"{blank}  "
        line += f"{part} "
    yield (Span(line.rstrip()),)
