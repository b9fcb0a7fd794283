"""What the shell completes: files, tables, columns, codes of findings, topics.

Each function has the signature of click's ``shell_complete``: context, parameter, and the word so
far. They run at each press of the tab key, so they open no log and unpack no archive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

from kafkalog_reader.io.names import META_PROPERTIES, parse_directory_name
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ISOLATION_LEVELS, TRUNCATION_RULES, Until

if TYPE_CHECKING:
    from typing import Any

Items = list["CompletionItem[Any]"]
Completion = Callable[[click.Context, click.Parameter, str], Items]


def complete_files(_context: click.Context, _parameter: click.Parameter, start: str) -> Items:
    """Let the shell complete a file name; for ``N=PATH`` list what is there."""
    name, equals, path = start.partition("=")
    if not equals:
        return [CompletionItem(start, type="file")]
    before, slash, beginning = path.rpartition("/")
    folder = f"{name}={before}{slash}"
    return [
        CompletionItem(f"{folder}{entry.name}{'/' * entry.is_dir()}")
        for entry in _entries(Path(before + slash))
        if entry.name.startswith(beginning)
    ]


def complete_tables(_context: click.Context, _parameter: click.Parameter, start: str) -> Items:
    """The names of the tables."""
    from kafkalog_reader.registry import TABLES

    return words_starting(TABLES, start)


def complete_columns(context: click.Context, _parameter: click.Parameter, start: str) -> Items:
    """The columns of the table that the command names, or else of ``records``; after a comma too.

    Those that are already there are left out.
    """
    from kafkalog_reader import registry

    name = next((word for word in _arguments(context) if word in registry.TABLES), "records")
    *before, last = start.split(",")
    return [
        CompletionItem(",".join((*before, column.name)), help=column.doc)
        for column in registry.table(name).columns
        if column.name.startswith(last) and column.name not in before
    ]


def complete_codes(_context: click.Context, _parameter: click.Parameter, start: str) -> Items:
    """The codes of findings, actions and traps in any case; their names once a word begins."""
    from kafkalog_reader.report.catalogue_text import codes_by_name

    return [
        CompletionItem(word, help=code if word != code else None)
        for word, code in codes_by_name().items()
        if word.lower().startswith(start.lower()) and (start or word == code)
    ]


def complete_topics(context: click.Context, _parameter: click.Parameter, start: str) -> Items:
    """The topics in the folders that the command names so far, by the names of directories."""
    topics = set()
    for argument in _arguments(context):
        _, equals, path = argument.partition("=")
        for name in _partitions(Path(path if equals else argument)):
            parsed = parse_directory_name(name)
            if parsed is not None:
                topics.add(parsed.topic)
    return words_starting(sorted(topics), start)


def _words(*words: str) -> Completion:
    return lambda _context, _parameter, start: words_starting(words, start)


OF_READING_OPTIONS: Final[dict[str, Completion]] = {
    "topic": complete_topics,
    "mode": _words(*(mode.value for mode in Mode)),
    "isolation": _words(*ISOLATION_LEVELS),
    "until": _words(*(until.value for until in Until)),
    "rule": _words(*TRUNCATION_RULES),
    "replica": _words("best", "all", "broker:"),
}
"""By the name in ``tables.options.OPTIONS``."""


def words_starting(words: Iterable[str], start: str) -> Items:
    """Those of the words that begin like this."""
    return [CompletionItem(word) for word in words if word.startswith(start)]


def _arguments(context: click.Context) -> Iterator[str]:
    """The arguments that are already there: while an option lacks its value, click keeps them."""
    yield from context.args
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument) and given is not None:
            yield from (given,) if isinstance(given, str) else given


def _partitions(folder: Path, depth: int = 2) -> Iterator[str]:
    """The names of the folders that are partition directories, or that may be."""
    entries = _entries(folder)
    inner = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    if any(entry.name == META_PROPERTIES for entry in entries):
        yield from (entry.name for entry in inner)
    elif not inner:
        yield folder.absolute().name
    elif depth:
        for entry in inner:
            yield from _partitions(entry, depth - 1)


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir())
    return []
