"""``kafkalog table``: prints the rows of one table, in any format."""

from __future__ import annotations

from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import click

from kafkalog_reader.cli.completion import complete_tables
from kafkalog_reader.cli.damage_hint import ways_past_damage
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.fail_on import fail_on_option, reached
from kafkalog_reader.cli.interrupt import whole
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_options,
    supplied,
)
from kafkalog_reader.cli.printable import plural
from kafkalog_reader.cli.row_options import OF_ROWS, offsets, row_options
from kafkalog_reader.cli.run import CLEAN, FOUND, session, verbose_option
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from kafkalog_reader.cli.rows import RowWriter
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import AnyTable

    Take = Callable[[pa.RecordBatch], pa.RecordBatch]

SEVERITY = "severity"
OF_SOME_TABLES = tuple(
    name for name, option in OPTIONS.items() if option.is_in_terminal and name not in OF_ROWS
)
"""The options that the other row commands do not have."""


@click.command(
    "table",
    epilog=exit_text("table"),
    short_help="The rows of a table, as text, JSON, CSV, Arrow or Parquet.",
)
@click.argument("name", metavar="NAME", shell_complete=complete_tables)
@paths_argument
@row_options(has_tables=True)
@reading_options(*OF_SOME_TABLES, has_tables=True)
@input_options
@fail_on_option()
@verbose_option()
def table_command(
    name: str, paths: tuple[str, ...], output_format: str, output: str | None, force: bool,
    render: str | None,
    columns: tuple[str, ...] | None, fail_on: str,
    from_offset: int | str | None, last: int | None,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Print the rows of one table. `kafkalog tables` lists the tables and their columns.

    \b
    Example:
      kafkalog table records /mnt/b1 --topic orders --partition 17 \\
          --from-offset 81,240,000 --limit 20 --columns offset,timestamp,key,value

    Every replica, every column and control records are shown; `kafkalog records` shows what a
    consumer sees. Timestamps are UTC. Binary values are base64 in JSON and CSV; --render utf8
    writes bytes that are not text as \\xNN. In CSV an apostrophe precedes text that a spreadsheet
    would interpret as a formula. JSON includes nulls.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.output import check_destination
    from kafkalog_reader.tables.selection import check_selection

    table = registry.table(name)
    options |= offsets(from_offset, last)
    request = registry.request(table, columns, **options)
    check_destination(output, output_format)
    evidence = supplied(paths)
    check_selection(evidence, request, selects_directories=table.selects_directories)
    severities = Severities(table, request)
    is_lacking = print_rows(
        table, evidence, severities.asked, output_format, output,
        render=render, overwrite=force, taken_from=severities.taken_from,
        schema=table.projected(request),
    )  # fmt: skip
    return FOUND if severities.reached(fail_on) or is_lacking else CLEAN


def print_rows(
    table: AnyTable, evidence: Evidence, request: ReadRequest, output_format: str,
    output: str | None, *, render: str | None, overwrite: bool,
    taken_from: Take = lambda rows: rows, schema: pa.Schema | None = None,
) -> bool:  # fmt: skip
    """Write the rows of a table; return whether records are hidden, or their offsets doubtful.

    Args:
        table: the table to read.
        evidence: the inputs.
        request: which rows and columns to read.
        output_format: one of ``FORMATS``.
        output: a file; None for standard output.
        render: how binary values are shown; None for the default of the format.
        overwrite: whether the file may exist.
        taken_from: gets the rows first, and returns those to write.
        schema: of the rows that ``taken_from`` returns; None for that of the request.
    """
    from kafkalog_reader.cli.not_known import say_not_known
    from kafkalog_reader.cli.output import destination, row_writer

    shape = table.projected(request) if schema is None else schema
    with (
        ways_past_damage(evidence, request, is_of_records=table.name == "records"),
        destination(output, evidence, overwrite=overwrite) as sink,
    ):
        writer = row_writer(output_format, sink, shape, render)
        reading = TableRows(table, evidence, request, rows_on_stdout=output is None)
        write_rows(writer, sink, reading, taken_from)
    is_hidden = say_not_known(reading.hidden, request.mode)
    return is_hidden or bool(reading.metrics.doubtful_ranges)


class TableRows:
    """Iterates over a table's rows, a few MiB at a time, with a progress bar on a terminal.

    The caller counts written rows in ``rows_done``, which is reported after Ctrl-C. ``metrics``
    counts what was read, and ``hidden`` has what the rows lack: that of the request, if it has one.
    """

    def __init__(
        self, table: AnyTable, evidence: Evidence, request: ReadRequest, *, rows_on_stdout: bool
    ) -> None:
        self.rows_done = 0
        self.metrics = ReadMetrics()
        self.hidden = HiddenRecords() if request.hidden is None else request.hidden
        self._source = (table, evidence, replace(request, hidden=self.hidden))
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
            self.metrics.shown = progress
            for rows in registry.read(table, evidence, request, self.metrics):
                yield from parts(rows)


def write_rows(
    writer: RowWriter, sink: IO[bytes], reading: TableRows, taken_from: Take = lambda rows: rows
) -> None:
    """Write all rows; after Ctrl-C those that were read, with a proper end of the format."""
    try:
        for rows in reading:
            with whole():
                writer.write(taken_from(rows))
                sink.flush()  # the reader of a pipe gets rows as they are found
                reading.rows_done += rows.num_rows
    except KeyboardInterrupt:
        writer.close()
        raise
    writer.close()


class Severities:
    """Notes the severities of findings, even if their column was not requested."""

    def __init__(self, table: AnyTable, request: ReadRequest) -> None:
        self.asked = request
        self._shown = None
        self._seen: set[str] = set()
        self._present = SEVERITY in table.schema.names
        if self._present and request.columns is not None and SEVERITY not in request.columns:
            self._shown = list(request.columns)
            self.asked = replace(request, columns=(*request.columns, SEVERITY))

    def taken_from(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Note the severities of these rows; return the rows with the requested columns."""
        if self._present:
            self._seen.update(rows.column(SEVERITY).unique().to_pylist())
        return rows if self._shown is None else rows.select(self._shown)

    def reached(self, fail_on: str) -> bool:
        """Whether one was as bad as ``fail_on`` or worse."""
        return reached(self._seen, fail_on)
