"""The options that ``kafkalog records`` and ``kafkalog table`` share: which rows, and where to."""

from __future__ import annotations

from typing import Any, Final

import click

from kafkalog_reader.cli.options import (
    EARLIEST,
    LATEST,
    OFFSET,
    Columns,
    OffsetOrEnd,
    max_batch_bytes_option,
    selection_options,
    time_range_options,
)
from kafkalog_reader.cli.output import FORMATS
from kafkalog_reader.errors import OptionError

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
        help="Only these columns, in this order; nothing else is read.",
    ),
    selection_options,
    click.option(
        "--from-offset",
        type=OffsetOrEnd(),
        help="The first offset of the range; earliest is the log start, latest the log end.",
    ),
    click.option(
        "--to-offset", type=OFFSET, help="The end of the range: the first offset left out."
    ),
    time_range_options,
    click.option(
        "--last",
        metavar="N",
        type=click.IntRange(0),
        help="Records: only the newest N of the selected ones in each partition.",
    ),
    click.option(
        "--isolation",
        metavar="LEVEL",
        help="Records: read_committed leaves out aborted transactions and what a consumer must "
        "not see yet, from the last stable offset on.  [default: read_uncommitted]",
    ),
    click.option("--limit", metavar="N", type=click.IntRange(0), help="Stop after N rows."),
    click.option(
        "--render",
        type=click.Choice(["base64", "utf8", "hex"]),
        help="How binary columns are shown; in Arrow and Parquet they become text.  "
        "[default: utf8 in text, base64 in JSON and CSV, bytes as they are in Arrow and Parquet]",
    ),
    click.option(
        "--mode",
        metavar="MODE",
        help="At damage: FAILFAST stops, PERMISSIVE leaves it out and warns, DROPMALFORMED says "
        "nothing.  [default: FAILFAST]",
    ),
    max_batch_bytes_option,
)


def offsets(from_offset: int | str | None, last: int | None) -> dict[str, Any]:
    """``--from-offset`` and ``--last`` as keyword options of ``registry.request``.

    Raises:
        OptionError: both count from the end.
    """
    if from_offset == EARLIEST:
        return {"log_range_only": True, "last": last}
    if from_offset != LATEST:
        return {"from_offset": from_offset, "last": last}
    if last is not None:
        raise OptionError("last", "counts from the end, where --from-offset latest begins")
    click.echo(
        "latest is the log end: no record is there yet. --last 10 shows the newest", err=True
    )
    return {"last": 0}


def row_options(command: Any) -> Any:  # noqa: ANN401  what click decorates
    """The options of a command that prints rows, in the order in which ``--help`` lists them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
