"""The manual pages man/man1/*.1, from the help of the commands: ``make man``."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kafkalog_reader import __version__
from kafkalog_reader.cli.main import COMMANDS, SECTIONS, kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDER: Final = Path(__file__).parents[1] / "man" / "man1"
_ESCAPES: Final = str.maketrans(
    {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
)
_OPTION: Final = re.compile(r"(?<![\w\\-])((?:\\-){1,2}[a-z](?:\\-|[a-z])*)")
_QUOTED: Final = re.compile(r"`([^`]*)`")
_VERBATIM: Final = "\b\n"
"""Begins a paragraph that click does not wrap."""


def pages() -> dict[str, str]:
    """Each page by the name of its file."""
    group = _context(kafkalog)
    found = {"kafkalog.1": page(group), "replica-diff.1": page(_context(replica_diff))}
    for name in COMMANDS:
        command = kafkalog.get_command(group, name)
        assert command is not None
        found[f"kafkalog-{name}.1"] = page(_context(command, group))
    return found


def _context(command: click.Command, parent: click.Context | None = None) -> click.Context:
    return click.Context(command, info_name=command.name, parent=parent, **command.context_settings)


def page(context: click.Context) -> str:
    """The page of one command in the macros of man(7)."""
    command, name = context.command, context.command_path.replace(" ", "-")
    paragraphs = re.split(r"\n\n+", inspect.cleandoc(command.help or ""))
    examples = [each for each in paragraphs if each.startswith(f"{_VERBATIM}Example")]
    description = [each for each in paragraphs if each not in examples]
    summary = (command.short_help or description[0]).rstrip(".")
    return "\n".join((
        f'.TH {_text(name.upper())} 1 "" "kafkalog {__version__}" "kafkalog"',
        ".SH NAME",
        rf"{_text(name)} \- {_text(summary[0].lower() + summary[1:])}",
        ".SH SYNOPSIS",
        rf"\fB{_text(context.command_path)}\fR "
        + _text(" ".join(command.collect_usage_pieces(context))),
        *_section("DESCRIPTION", _paragraphs(description)),
        *_section("OPTIONS", _options(context)),
        *_section("COMMANDS", _commands(context)),
        *_section("EXIT STATUS", _paragraphs(_exit_status(command))),
        *_section("EXAMPLES", _paragraphs(re.sub("Examples?:\n", "", each) for each in examples)),
        ".SH SEE ALSO",
        ",\n".join(rf"\fB{_text(other)}\fR(1)" for other in _related(name)),
        "",
    ))  # fmt: skip


def _section(heading: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [f".SH {heading}", *found] if found else []


def _paragraphs(paragraphs: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(paragraphs):
        if number:
            yield ".PP"
        if text.startswith(_VERBATIM):
            yield from (".EX", *map(_line, text.removeprefix(_VERBATIM).splitlines()), ".EE")
        else:
            yield _filled(text)


def _options(context: click.Context) -> Iterator[str]:
    command = context.command
    records = [
        each.get_help_record(context) for each in command.params if isinstance(each, click.Option)
    ]
    # Not click's own option: it keeps the names of the context in which it was first used.
    names = sorted(command.get_help_option_names(context), key=len)
    for record in (*records, (", ".join(names), "Show this message and exit.")):
        if record is not None:
            words, meaning = record
            yield from (".TP", _OPTION.sub(_bold, words.replace("-", r"\-")), _filled(meaning))


def _commands(context: click.Context) -> Iterator[str]:
    if not isinstance(context.command, click.Group):
        return
    for heading, names in SECTIONS.items():
        yield f".SS {_text(heading)}"
        for name in names:
            command = context.command.get_command(context, name)
            assert command is not None
            yield from (".TP", rf"\fBkafkalog\-{name}\fR(1)", _filled(command.short_help or ""))


def _exit_status(command: click.Command) -> list[str]:
    text = (command.epilog or "").removeprefix("Exit status: ")
    return [text[0].upper() + text[1:]] if text else []


def _related(name: str) -> list[str]:
    """The pages at the end of a page."""
    main = ["kafkalog", "replica-diff"]
    if name == "kafkalog":
        return ["replica-diff"]
    near = next((names for names in SECTIONS.values() if name[9:] in names), ("verify", "plan"))
    others = [f"kafkalog-{other}" for other in near]
    return [other for other in (*main, *others) if other != name]


def _filled(text: str) -> str:
    """Text that the formatter wraps; what is quoted as code becomes bold."""
    words = " ".join(text.split())
    escaped = "".join(
        rf"\fB{_text(part)}\fR" if index % 2 else _OPTION.sub(_bold, _text(part))
        for index, part in enumerate(_QUOTED.split(words))
    )
    return _guarded(escaped)


def _bold(match: re.Match[str]) -> str:
    return rf"\fB{match[1]}\fR"


def _line(text: str) -> str:
    return _guarded(_text(text.rstrip()))


def _guarded(line: str) -> str:
    """A line that the formatter does not take for a request."""
    return rf"\&{line}" if line.startswith((".", "'")) else line


def _text(text: str) -> str:
    return text.translate(_ESCAPES)


def main() -> None:
    """Write all pages, and remove those of commands that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = pages()
    for name, text in written.items():
        (FOLDER / name).write_text(text)
    for path in FOLDER.glob("*.1"):
        if path.name not in written:
            path.unlink()


if __name__ == "__main__":
    main()
