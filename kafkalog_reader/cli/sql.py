"""``kafkalog sql``: queries over all tables, by DuckDB."""

from __future__ import annotations

import re
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import input_options, reading_options, supplied
from kafkalog_reader.cli.output import FORMATS
from kafkalog_reader.cli.run import CLEAN, FOUND, verbose_option
from kafkalog_reader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from kafkalog_reader.cli.sql_relations import Relations, Result
    from kafkalog_reader.tables.request import ReadRequest

_OF_ONE_RESULT: Final = ("csv", "arrow", "parquet")
"""Formats with one set of columns."""


@click.command(
    "sql",
    epilog=exit_text("sql"),
    short_help="Query all tables with SQL.",
)
@click.argument(
    "words", metavar="[QUERY] PATH...", shell_complete=complete_files, nargs=-1, required=True
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="text cuts long cells; json is one object per line; arrow is an IPC stream.",
)
@click.option(
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write to this file, which must not be an input.",
)
@click.option("--force", is_flag=True, help="Overwrite the file of --output.")
@click.option(
    "--render",
    type=click.Choice(["base64", "utf8", "hex"]),
    help="How binary columns are shown; in Arrow and Parquet they become text.  "
    "[default: utf8 in text, base64 in JSON and CSV, bytes as they are in Arrow and Parquet]",
)
@reading_options("topic", "partition", "broker", "replica", "as_of", "mode", "max_batch_bytes")
@input_options
@verbose_option()
def sql_command(
    words: tuple[str, ...], output_format: str, output: str | None, force: bool,
    render: str | None,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Query the tables with SQL (DuckDB). `kafkalog tables` lists the tables and their columns.

    \b
    Examples:
      kafkalog sql 'SELECT topic, sum(count) FROM batches GROUP BY topic' /mnt/b1 /mnt/b2
      kafkalog sql /mnt/b1 /mnt/b2

    The tables are those of `kafkalog table`. records has every copy of each record, and what
    consumers do not get: control records (isControl), and records below the log start that are
    still on disk (logStartOffset of the table replicas); those of __cluster_metadata only where
    the query names that topic. --replica best reads one copy. `kafkalog records` shows only what
    consumers get. Only the columns that a query names are decoded;
    conditions on topic, partition, brokerId and offset leave out directories and parts of logs.
    offset is a keyword: write "offset". decode(value) is the text of a value. Times are UTC.

    Without a QUERY, statements are read from a prompt, or from standard input, and so are commands
    such as .tables. Of several statements, separated by semicolons, each query is shown, in order.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.cli.damage_hint import ways_past_damage
    from kafkalog_reader.cli.output import check_destination
    from kafkalog_reader.cli.results import write_results
    from kafkalog_reader.cli.sql_prompt import Prompt, has_command
    from kafkalog_reader.cli.sql_relations import Relations
    from kafkalog_reader.tables.selection import check_selection

    query, paths = query_and_paths(words)
    if query is not None or not sys.stdin.isatty():
        check_destination(output, output_format)
    elif output is not None or output_format != "text":
        raise UsageError("--format and --output need a QUERY: the prompt prints text")
    evidence = supplied(paths)
    check_selection(evidence, _selection(options))
    relations = Relations(evidence, options)
    if query is None and sys.stdin.isatty():
        Prompt(relations, render).run()
        return CLEAN
    text = sys.stdin.read() if query is None else query
    if query is None and has_command(text):
        if output is not None or output_format != "text":
            raise UsageError(
                "--format and --output need queries: commands of the prompt print text"
            )
        with ways_past_damage(evidence, _selection(options)):
            Prompt(relations, render).run_text(text)
        return _status(relations, options)
    statements = relations.statements(text)
    if not statements:
        raise UsageError("no query: write one before the paths, or on standard input")
    queries = sum(map(relations.is_query, statements))
    if queries > 1 and output_format in _OF_ONE_RESULT:
        raise UsageError(
            f"--format {output_format} has one result, and {queries} statements are queries: "
            "give one, or use --format text or json"
        )
    results = _results(relations, statements, for_text=output_format != "arrow")
    with ways_past_damage(evidence, _selection(options)):
        write_results(results, evidence, output_format, output, render=render, overwrite=force)
    return _status(relations, options)


def _status(relations: Relations, options: Mapping[str, Any]) -> int:
    from kafkalog_reader.cli.not_known import say_not_known

    return FOUND if say_not_known(relations.hidden, _selection(options).mode) else CLEAN


def _results(
    relations: Relations, statements: Sequence[duckdb.Statement], *, for_text: bool
) -> Iterator[tuple[pa.Schema, Result]]:
    """Yield the results of queries; each is read before the next statement runs."""
    for statement in statements:
        result = relations.result(statement, for_text=for_text)
        if result is not None and result.is_message:
            deque(result, maxlen=0)  # DuckDB takes no other statement before it is read
        elif result is not None:
            yield result.schema, result


_SQL: Final = re.compile(r"\s*(select|with|from|describe|show|explain|summarize)\s", re.IGNORECASE)
"""How queries begin."""


def query_and_paths(words: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Divide the arguments: the first is a query if it has white space and no file has its name.

    Raises:
        UsageError: there is a query and no path, or a query after the paths.
    """
    first, *others = words
    if not any(character.isspace() for character in first.strip()) or _exists(first):
        if any(_SQL.match(each) and not _exists(each) for each in others):
            raise UsageError("write the query before the paths")
        return None, tuple(words)
    if not others:
        raise UsageError(f"no PATH after the query; there is no file named {first!r} either")
    return first, tuple(others)


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # too long for a name
        return False


def _selection(options: Mapping[str, Any]) -> ReadRequest:
    from kafkalog_reader import registry

    chosen = {name: options[name] for name in ("topic", "partition", "broker", "mode")}
    return registry.request(registry.table("replicas"), **chosen)
