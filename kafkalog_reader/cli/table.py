"""``kafkalog table``: the rows of one table, in any format."""

from __future__ import annotations

from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import click

from kafkalog_reader.cli.fail_on import fail_on_option, reached
from kafkalog_reader.cli.interrupt import whole
from kafkalog_reader.cli.options import (
    REPLICAS,
    Columns,
    deep_option,
    follow_links_option,
    max_batch_bytes_option,
    max_rate_option,
    offset_range_options,
    paths_argument,
    rule_option,
    selected,
    selection_options,
    time_range_options,
)
from kafkalog_reader.cli.output import FORMATS
from kafkalog_reader.cli.printable import plural
from kafkalog_reader.cli.run import CLEAN, FOUND, session, verbose_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from click.shell_completion import CompletionItem

    from kafkalog_reader.cli.rows import RowWriter
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Table

    Take = Callable[[pa.RecordBatch], pa.RecordBatch]

SEVERITY = "severity"


def _complete_name(_c: click.Context, _p: click.Parameter, start: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from kafkalog_reader.registry import TABLES

    return [CompletionItem(name) for name in TABLES if name.startswith(start)]


@click.command("table", short_help="The rows of a table, as text, JSON, CSV, Arrow or Parquet.")
@click.argument("name", metavar="NAME", shell_complete=_complete_name)
@paths_argument
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="text cuts long cells; json is one object a line; arrow is an IPC stream.",
)
@click.option("--output", metavar="FILE", help="Write to this file, never one of the inputs.")
@click.option("--force", is_flag=True, help="Overwrite the file of --output.")
@click.option(
    "--columns",
    type=Columns(),
    metavar="a,b",
    help="Only these, in this order: nothing else is read.",
)
@selection_options
@offset_range_options
@time_range_options
@click.option("--limit", metavar="N", type=click.IntRange(0), help="Stop after so many rows.")
@click.option(
    "--render",
    type=click.Choice(["base64", "utf8", "hex"]),
    help="How binary columns are shown.  [default: utf8 in text, else base64]",
)
@click.option(
    "--mode",
    metavar="MODE",
    help="At damage: FAILFAST stops, PERMISSIVE leaves it out and warns, DROPMALFORMED says "
    "nothing.  [default: FAILFAST]",
)
@max_batch_bytes_option
@deep_option
@rule_option
@click.option("--replica", metavar="REPLICA", help=f"Which copies: {REPLICAS}.  [default: all]")
@follow_links_option
@max_rate_option
@fail_on_option()
@verbose_option()
def table_command(
    name: str, paths: tuple[str, ...], output_format: str, output: str | None, force: bool,
    render: str | None, topic: tuple[str, ...], partition: tuple[int, ...],
    columns: tuple[str, ...] | None, follow_links: bool, fail_on: str,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Print the rows of one table. `kafkalog tables` lists the tables and their columns.

    \b
    Example:
      kafkalog table records /mnt/b1 --topic orders --partition 17 \\
          --from-offset 81,240,000 --limit 20 --columns offset,timestamp,key,value

    Every replica and every column is shown, control records too. Timestamps are UTC. Binary values
    are base64 in JSON and CSV; --render utf8 writes bytes that are no text as \\xNN. In CSV an
    apostrophe stands before text that a spreadsheet would take for a formula. JSON keeps nulls.

    The exit status is 1 only for the table findings, when one is as bad as --fail-on says.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.output import check_destination, destination, row_writer
    from kafkalog_reader.io.discovery import discover
    from kafkalog_reader.tables.selection import check_selection

    table = registry.table(name)
    request = registry.request(table, columns, **selected(topic, partition), **options)
    check_destination(output, output_format)
    evidence = discover(paths, follow_links=follow_links)
    check_selection(evidence, request)
    severities = Severities(table, request)
    with destination(output, evidence, overwrite=force) as sink:
        writer = row_writer(output_format, sink, table.projected(request), render)
        reading = Reading(table, evidence, severities.asked, rows_on_stdout=output is None)
        write_rows(writer, sink, reading, severities.taken_from)
    return FOUND if severities.reached(fail_on) else CLEAN


class Reading:
    """Iterates over a table's rows, a few MiB at a time, with a bar where one can be seen.

    Whoever takes the rows counts those that are done in ``rows_done``; after Ctrl-C that is said.
    """

    def __init__(
        self, table: Table, evidence: Evidence, request: ReadRequest, *, rows_on_stdout: bool
    ) -> None:
        self.rows_done = 0
        self._source = (table, evidence, request)
        self._rows_on_stdout = rows_on_stdout

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        from kafkalog_reader import registry
        from kafkalog_reader.cli.parts import parts
        from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome

        table, evidence, request = self._source
        welcome = bar_is_welcome(rows_on_stdout=self._rows_on_stdout)
        total = None
        if welcome:
            total = sum(unit.size_in_bytes for unit in table.units(evidence, request))
        with ReadProgress(total, shown=welcome) as progress:
            session().how_far = lambda: (
                f"{plural(self.rows_done, 'row')} of {table.name}, {progress}"
            )
            for rows in registry.read(table, evidence, request, progress):
                yield from parts(rows)


def write_rows(
    writer: RowWriter, sink: IO[bytes], reading: Reading, taken_from: Take = lambda rows: rows
) -> None:
    """Write all rows; after Ctrl-C those that are there, properly ended."""
    try:
        for rows in reading:
            with whole():
                writer.write(taken_from(rows))
                sink.flush()  # whoever reads the pipe sees rows as they are found
                reading.rows_done += rows.num_rows
    except KeyboardInterrupt:
        writer.close()
        raise
    writer.close()


class Severities:
    """Looks at the severities of findings as they pass, asked for or not."""

    def __init__(self, table: Table, request: ReadRequest) -> None:
        self.asked = request
        self._shown = None
        self._seen: set[str] = set()
        self._present = SEVERITY in table.schema.names
        if self._present and request.columns is not None and SEVERITY not in request.columns:
            self._shown = list(request.columns)
            self.asked = replace(request, columns=(*request.columns, SEVERITY))

    def taken_from(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Remember the severities of these rows; give the rows with the columns asked for."""
        if self._present:
            self._seen.update(rows.column(SEVERITY).unique().to_pylist())
        return rows if self._shown is None else rows.select(self._shown)

    def reached(self, fail_on: str) -> bool:
        """Whether one was as bad as ``fail_on``."""
        return reached(self._seen, fail_on)
