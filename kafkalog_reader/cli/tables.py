"""``kafkalog tables``: lists the tables and their columns."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import complete_tables
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import text_or_json_option
from kafkalog_reader.cli.run import verbose_option

if TYPE_CHECKING:
    from kafkalog_reader.tables.table import AnyTable, Column

WIDEST_TYPE: Final = 20
"""Maximum width of types: the longer type of headers must not move all meanings."""
NARROWEST: Final = 20
"""Minimum width of wrapped meanings."""


@click.command(
    "tables",
    epilog=exit_text("tables"),
    short_help="The tables and their columns, with types and units.",
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_tables)
@text_or_json_option("one object per table")
@verbose_option()
def tables_command(names: tuple[str, ...], output_format: str) -> None:
    """List the tables with their columns, types and units, or only those named.

    \b
    Example:
      kafkalog tables records
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry

    show = _as_json if output_format == "json" else _as_text
    click.echo("\n".join(show(registry.table(name)) for name in names or registry.TABLES))


def _as_text(table: AnyTable) -> str:
    """The table's name and meaning, then its columns, aligned."""
    from kafkalog_reader.cli.printable import for_stdout

    names = max(len(column.name) for column in table.columns)
    sizes = [len(type_name(column)) for column in table.columns]
    types = max([size for size in sizes if size <= WIDEST_TYPE], default=WIDEST_TYPE)
    lines = [*_wrapped(f"{table.name}: {table.doc}", 0), ""]
    for column in table.columns:
        unit = f" [{column.unit}]" if column.unit else ""
        left = f"  {column.name:{names}}  {type_name(column):{types}}  "
        lines += _wrapped(f"{left}{column.doc}{unit}", names + types + 6)
    return for_stdout("\n".join([*lines, ""]))


def _wrapped(line: str, indentation: int) -> list[str]:
    """Lines no wider than the terminal; in a pipe, the line unchanged."""
    columns = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or columns < indentation + NARROWEST:
        return [line]
    return textwrap.wrap(line, columns, subsequent_indent=" " * indentation, drop_whitespace=True)


def _as_json(table: AnyTable) -> str:
    columns: list[dict[str, Any]] = [
        {"name": c.name, "type": type_name(c), "unit": c.unit or None, "doc": c.doc}
        for c in table.columns
    ]
    return json.dumps({"table": table.name, "doc": table.doc, "columns": columns})


def type_name(column: Column) -> str:
    """The Arrow type as Spark SQL writes it, for the terminal and Spark."""
    return _sql_type(column.type)


def _sql_type(kind: Any) -> str:  # noqa: ANN401  pyarrow has no types
    import pyarrow as pa

    if pa.types.is_list(kind):
        return f"array<{_sql_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{f.name} {_sql_type(f.type)}' for f in kind)}>"
    names = {
        pa.bool_(): "boolean", pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int",
        pa.int64(): "bigint", pa.string(): "string", pa.binary(): "binary",
    }  # fmt: skip
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return names.get(kind, str(kind))
