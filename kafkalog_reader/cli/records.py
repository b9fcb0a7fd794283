"""``kafkalog records``: prints records as a consumer, or Spark's Kafka source, would."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_option,
    supplied,
)
from kafkalog_reader.cli.row_options import offsets, row_options
from kafkalog_reader.cli.run import CLEAN, FOUND, verbose_option
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.tables.options import CONSUMER_VIEW, OPTIONS

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

SCREEN_COLUMNS: Final = ("partition", "offset", "timestamp", "key", "value")


@click.command(
    "records",
    epilog=exit_text("records"),
    short_help="Records as a consumer sees them: each once, from the start.",
)
@paths_argument
@row_options()
@reading_option("replica", default=CONSUMER_VIEW["replica"], show_default=True)
@click.option(
    "--control",
    is_flag=True,
    help=f"{OPTIONS['include_control_records'].meaning}.",
)
@input_options
@verbose_option()
def records_command(
    paths: tuple[str, ...], output_format: str, output: str | None, force: bool,
    render: str | None,
    columns: tuple[str, ...] | None, control: bool,
    from_offset: int | str | None, last: int | None,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Print records: each once, from the best copy, starting at the log start.

    \b
    Examples:
      kafkalog records /mnt/b1 --topic orders --partition 17 --limit 20
      kafkalog records /mnt/b1 --topic orders --last 10 --isolation read_committed
      kafkalog records /mnt/b1 --topic orders --format parquet --output orders.parquet

    These are the rows that spark.read.format("kafkalog") shows, in every format. Without --topic
    all topics are read, internal ones too, except __cluster_metadata. Text has the columns that fit
    a screen; the other formats have those of Spark's Kafka source, including headers. --columns
    selects others: `kafkalog tables records` lists them.

    `kafkalog table records` shows everything: every copy, every column, records below the log
    start, and control records. --leftovers adds what no broker serves.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.output import check_destination
    from kafkalog_reader.cli.table import print_rows
    from kafkalog_reader.tables.schemas.records import KAFKA_COLUMNS
    from kafkalog_reader.tables.selection import check_selection, without_metadata

    table = registry.table("records")
    options = {
        **CONSUMER_VIEW, **options, **offsets(from_offset, last),
        "include_control_records": control,
    }  # fmt: skip
    request = registry.request(table, columns, **options)
    check_destination(output, output_format)
    evidence = supplied(paths)
    check_selection(evidence, request)
    request = without_metadata(evidence, request)
    if columns is None:
        kafka_columns = tuple(column.name for column in KAFKA_COLUMNS)
        is_text = output_format == "text"
        names = _screen_columns(evidence, request) if is_text else kafka_columns
        request = replace(request, columns=names)
    is_lacking = print_rows(
        table, evidence, request, output_format, output, render=render, overwrite=force
    )
    return FOUND if is_lacking else CLEAN


def _screen_columns(evidence: Evidence, request: ReadRequest) -> tuple[str, ...]:
    """The columns of text; topic, partition and the like come first, if they differ."""
    found = list(with_remote(evidence).topic_partitions(request))
    several = ["leftover"] if request.leftovers else []
    if len({cluster for (cluster, _, _), _ in found}) > 1:
        several.append("clusterId")
    if request.replica == "all" and any(len(replicas) > 1 for _, replicas in found):
        several.append("brokerId")
    if len({topic for (_, topic, _), _ in found}) > 1:
        several.append("topic")
    return (*several, *SCREEN_COLUMNS)
