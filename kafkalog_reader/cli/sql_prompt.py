"""The prompt of ``kafkalog sql``: statements end with a semicolon, commands begin with a dot."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kafkalog_reader import __version__, registry
from kafkalog_reader.cli.output import row_writer, standard_output
from kafkalog_reader.cli.printable import for_stdout, grouped, plural
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.cli.sql_relations import Relations, Result

FIRST: Final = "kafkalog> "
MORE: Final = "     ...> "
ROWS: Final = 100
"""Rows of a result that are shown, until ``.rows`` says otherwise."""
_HISTORY_LINES: Final = 1000
_COMMANDS: Final = {
    ".tables": "list the tables",
    ".columns NAME": "list the columns of a table",
    ".rows N": "show at most N rows of a result; 0 shows all",
    ".help": "show these lines",
    ".quit": "leave; so does Ctrl-D",
}
_WORDS: Final = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "USING", "DESCRIBE",
    "SUMMARIZE",
)  # fmt: skip


def is_command(line: str) -> bool:
    """Whether a line is a command; no statement begins with a dot."""
    return line.strip().startswith(".")


def has_command(text: str) -> bool:
    """Whether there is one in a text with statements."""
    return any(map(is_command, _parts(text)))


class Prompt:
    """Reads statements, and prints their rows. An error ends a statement, not the prompt."""

    def __init__(self, relations: Relations, rendering: str | None = None) -> None:
        self._relations = relations
        self._rendering = rendering
        self._rows = ROWS

    def run(self) -> None:
        """Read until ``.quit`` or the end of the input."""
        click.echo(f"kafkalog {__version__}. Statements end with ; and .help lists commands")
        with _history():
            waiting = ""
            while True:
                try:
                    line = input(MORE if waiting else FIRST)
                except EOFError:
                    click.echo()
                    return
                except KeyboardInterrupt:
                    click.echo()
                    waiting = ""
                    continue
                if not waiting and is_command(line):
                    if self.command(line.strip()):
                        return
                    continue
                waiting = f"{waiting}\n{line}" if waiting else line
                if waiting.rstrip().endswith(";"):
                    self.statement(waiting)
                    waiting = ""
                elif not waiting.strip():
                    waiting = ""

    def run_text(self, text: str) -> None:
        """Carry out the commands and statements of a text, as if its lines were typed.

        Without a limit on rows, until ``.rows`` sets one.

        Raises:
            KafkaLogError: the first error, which ends it.
        """
        self._rows = 0
        for part in _parts(text):
            if not is_command(part):
                self._run(part)
            elif self._carry_out(part.strip()):
                return

    def command(self, line: str) -> bool:
        """Carry out a command; return whether it is the last."""
        try:
            return self._carry_out(line)
        except KafkaLogError as error:
            _say(error)
            return False

    def _carry_out(self, line: str) -> bool:
        name, *arguments = line.removesuffix(";").split()
        if name in (".quit", ".exit"):
            return True
        if name == ".tables":
            width = max(map(len, registry.TABLES))
            for table in map(registry.table, registry.TABLES):
                click.echo(f"{table.name:<{width}}  {table.doc}")
        elif name == ".columns" and len(arguments) == 1:
            for column in registry.table(arguments[0]).columns:
                click.echo(f"{column.name:<24} {column.type!s:<20} {column.doc}")
        elif name == ".rows" and len(arguments) == 1 and _is_number(arguments[0]):
            self._rows = int(arguments[0].replace(",", ""))
        else:
            width = max(map(len, _COMMANDS))
            for command, meaning in _COMMANDS.items():
                click.echo(f"{command:<{width}}  {meaning}")
        return False

    def statement(self, text: str) -> None:
        """Print the rows of each statement of a text."""
        try:
            self._run(text)
        except (KafkaLogError, OSError) as error:
            _say(error)
        except KeyboardInterrupt:
            click.echo("\ninterrupted", err=True)

    def _run(self, text: str) -> None:
        for statement in self._relations.statements(text):
            result = self._relations.result(statement)
            if result is not None:
                self._print(result)

    def _print(self, result: Result) -> None:
        left = self._rows or sys.maxsize
        printed = 0
        is_cut = False
        with standard_output() as sink:
            writer = row_writer("text", sink, result.schema, self._rendering)
            for rows in result:
                is_cut = rows.num_rows > left
                writer.write(rows[:left])
                printed += min(rows.num_rows, left)
                left -= min(rows.num_rows, left)
                if is_cut:
                    break
            writer.close()
        more = f", there are more: .rows {grouped(10 * self._rows)} shows them" if is_cut else ""
        click.echo(f"({plural(printed, 'row')}{more})")


def _parts(text: str) -> Iterator[str]:
    """The commands of a text, and the statements between them; commands begin no continued line."""
    waiting = ""
    for line in text.splitlines():
        is_first = not waiting.strip() or waiting.rstrip().endswith(";")
        if is_first and is_command(line):
            if waiting.strip():
                yield waiting
            yield line
            waiting = ""
        else:
            waiting = f"{waiting}{line}\n"
    if waiting.strip():
        yield waiting


def _is_number(text: str) -> bool:
    digits = text.replace(",", "")
    return digits.isascii() and digits.isdecimal()


class Completer:
    """Completes names of tables and columns, words of SQL and commands, for ``readline``."""

    def __init__(self) -> None:
        tables = [registry.table(name) for name in registry.TABLES]
        columns = {column.name for table in tables for column in table.columns}
        commands = {command.split()[0] for command in _COMMANDS}
        self._words = sorted({*registry.TABLES, *columns, *commands}) + list(_WORDS)

    def __call__(self, start: str, number: int) -> str | None:
        found = [word for word in self._words if word.lower().startswith(start.lower())]
        return found[number] if number < len(found) else None


@contextlib.contextmanager
def _history() -> Iterator[None]:
    try:
        import readline
    except ImportError:  # a Python without it: lines can be typed all the same
        yield
        return
    place = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    file = place / "kafkalog" / "sql_history"
    readline.set_completer(Completer())
    readline.set_completer_delims(" \t\n,()=<>*;\"'")
    readline.parse_and_bind("tab: complete")
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    try:
        yield
    finally:
        readline.set_history_length(_HISTORY_LINES)
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(file)


def _say(error: Exception) -> None:
    click.echo(f"error: {for_stdout(shown(str(error)))}", err=True)
