"""The options that ``kafkalog records`` and ``kafkalog table`` share: which rows, and where to."""

from __future__ import annotations

from typing import Any, Final

import click

from kafkalog_reader.cli.options import (
    OFFSET,
    Columns,
    max_batch_bytes_option,
    selection_options,
    time_range_options,
)
from kafkalog_reader.cli.output import FORMATS

_OPTIONS: Final = (
    click.option(
        "--format",
        "output_format",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="text cuts long cells; json is one object a line; arrow is an IPC stream.",
    ),
    click.option("--output", metavar="FILE", help="Write to this file, never one of the inputs."),
    click.option("--force", is_flag=True, help="Overwrite the file of --output."),
    click.option(
        "--columns",
        type=Columns(),
        metavar="a,b",
        help="Only these, in this order: nothing else is read.",
    ),
    selection_options,
    click.option("--from-offset", type=OFFSET, help="The first offset wanted."),
    click.option("--to-offset", type=OFFSET, help="The first offset not wanted any more."),
    time_range_options,
    click.option("--limit", metavar="N", type=click.IntRange(0), help="Stop after so many rows."),
    click.option(
        "--render",
        type=click.Choice(["base64", "utf8", "hex"]),
        help="How binary columns are shown.  [default: utf8 in text, else base64]",
    ),
    click.option(
        "--mode",
        metavar="MODE",
        help="At damage: FAILFAST stops, PERMISSIVE leaves it out and warns, DROPMALFORMED says "
        "nothing.  [default: FAILFAST]",
    ),
    max_batch_bytes_option,
)


def row_options(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The options of a command that prints rows, in the order in which ``--help`` lists them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
