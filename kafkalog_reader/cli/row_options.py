"""The options that ``kafkalog records`` and ``kafkalog table`` share."""

from __future__ import annotations

from typing import Any, Final

import click

from kafkalog_reader.cli.completion import complete_columns, complete_files
from kafkalog_reader.cli.options import (
    EARLIEST,
    LATEST,
    Columns,
    Decorator,
    OffsetOrEnd,
    reading_option,
    reading_options,
)
from kafkalog_reader.cli.output import FORMATS
from kafkalog_reader.errors import OptionError
from kafkalog_reader.tables.options import OPTIONS

_OF_READING: Final = ("mode", "max_batch_bytes")
_OF_ROWS: Final = tuple(
    name
    for name, option in OPTIONS.items()
    if option.is_in_terminal and option.applies_to("records") and name != "replica"
)
OF_ROWS: Final = frozenset(_OF_ROWS)
"""Those of the table ``records``; ``replica`` has another default in each command."""
_KINDS: Final = {"from_offset": OffsetOrEnd()}


def _options(*, has_tables: bool) -> tuple[Decorator, ...]:
    return (
        click.option(
            "--format",
            "output_format",
            type=click.Choice(FORMATS),
            default="text",
            show_default=True,
            help="text cuts long cells; json is one object per line; arrow is an IPC stream.",
        ),
        click.option(
            "--output",
            metavar="FILE",
            shell_complete=complete_files,
            help="Write to this file, which must not be an input.",
        ),
        click.option("--force", is_flag=True, help="Overwrite the file of --output."),
        click.option(
            "--columns",
            type=Columns(),
            metavar="a,b",
            shell_complete=complete_columns,
            help="Only these columns, in this order; nothing else is decoded.",
        ),
        *(
            reading_option(name, kind=_KINDS.get(name), has_tables=has_tables)
            for name in _OF_ROWS
            if name not in _OF_READING
        ),
        click.option(
            "--render",
            type=click.Choice(["base64", "utf8", "hex"]),
            help="How binary columns are shown; in Arrow and Parquet they become text.  "
            "[default: utf8 in text, base64 in JSON and CSV, bytes as they are in Arrow and "
            "Parquet]",
        ),
        reading_options(*_OF_READING, has_tables=has_tables),
    )


def offsets(from_offset: int | str | None, last: int | None) -> dict[str, Any]:
    """``--from-offset`` and ``--last`` as keyword options of ``registry.request``.

    Raises:
        OptionError: both are given and count from the end.
    """
    if from_offset == EARLIEST:
        return {"log_range_only": True, "last": last}
    if from_offset != LATEST:
        return {"from_offset": from_offset, "last": last}
    if last is not None:
        raise OptionError("last", "counts from the end, where --from-offset latest begins")
    click.echo(
        "latest is the log end, where there is no record yet. --last 10 shows the newest", err=True
    )
    return {"last": 0}


def row_options(*, has_tables: bool = False) -> Decorator:
    """The options of a command that prints rows, in the order of ``--help``.

    Args:
        has_tables: whether the help text lists the tables that have an option.
    """

    def decorate(command: Any) -> Any:  # noqa: ANN401  what click decorates
        for option in reversed(_options(has_tables=has_tables)):
            command = option(command)
        return command

    return decorate
