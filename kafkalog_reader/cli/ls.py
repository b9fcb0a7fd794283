"""``kafkalog ls``: lists replicas, one line each, for a first look."""

from __future__ import annotations

import json
import textwrap
from typing import IO, TYPE_CHECKING, Any

import click

from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.listing import screen_width
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_options,
    supplied,
    text_or_json_option,
)
from kafkalog_reader.cli.printable import for_stdout
from kafkalog_reader.cli.replica_groups import KEYS as GROUP_KEYS
from kafkalog_reader.cli.replica_groups import SORT_KEYS as GROUP_SORT_KEYS
from kafkalog_reader.cli.replica_groups import group_lines, groups_of
from kafkalog_reader.cli.replica_list import (
    NEEDED,
    SORT_KEYS,
    lines_of,
    sorted_replicas,
    total_line,
    with_lag,
)
from kafkalog_reader.cli.run import CLEAN, TROUBLE, verbose_option
from kafkalog_reader.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.cli.replica_list import Row
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import AnyTable


@click.command(
    "ls", epilog=exit_text("ls"), short_help="One line per replica: broker, offsets, size, state."
)
@paths_argument
@text_or_json_option("the table replicas, one object per line; with --by, one object per group")
@click.option(
    "--sort",
    type=click.Choice(["name", *SORT_KEYS]),
    default="name",
    show_default=True,
    help="Sort by name, or by a number, greatest first; lag is behind the longest copy.",
)
@click.option("--by", type=click.Choice(list(GROUP_KEYS)), help="Show totals instead of replicas.")
@reading_options("topic", "partition")
@input_options
@verbose_option()
def ls_command(
    paths: tuple[str, ...], output_format: str, sort: str, by: str | None,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """List the replicas: which broker holds which offsets, and in what state.

    \b
    Examples:
      kafkalog ls /mnt/b1 /mnt/b2 --topic orders
      kafkalog ls /mnt/b1 --by topic --sort files

    LOG END is one past the last batch on disk, also after damage. `kafkalog table recoveries` shows
    the end after the next start. HIGH WATERMARK is what the replica's own files prove: >=2 means
    from 2 to the log end (replica-diff finds the upper bound from all copies); 99! means that the
    checkpoint says 99 but the log ends below it: committed records are missing here, unless the
    log was copied before its checkpoint. LSO is the last stable offset, EPOCH the leader epoch of
    the last batch; - means that there is none: no batch, or one from before Kafka 0.11.
    SIZE is that of the logs; ALL FILES also counts indexes, snapshots and everything else in the
    directory. A line with the state "remote storage" is not a replica, but the segments that all of
    its replicas copied (KIP-405). ? means unknown. `kafkalog table replicas` has every column.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.tables.selection import check_selection

    if by is not None and sort not in ("name", *GROUP_SORT_KEYS):
        raise OptionError("sort", f"{sort} sorts replicas: with --by it is name, size, files or "
                                  "segments")  # fmt: skip
    as_json = output_format == "json"
    as_table = as_json and by is None
    table = registry.table("replicas")
    # PERMISSIVE: one replica that cannot be read must not hide the others.
    options["mode"] = "PERMISSIVE"
    request = registry.request(table, None if as_table else NEEDED, **options)
    evidence = supplied(paths)
    check_selection(evidence, request)
    reading = TableRows(table, evidence, request, rows_on_stdout=as_json)
    write = _write_table if as_table and sort == "name" else _write_gathered
    all_read = write(table, reading, sort, by, as_json=as_json)
    if not as_json and (left := _without_copy(evidence, request)):
        click.echo("\n".join(map(for_stdout, textwrap.wrap(left, screen_width() or 10_000))))
    return CLEAN if all_read else TROUBLE


def _without_copy(evidence: Evidence, request: ReadRequest) -> str:
    """Which partitions have no line, although brokers had them; empty if none."""
    from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
    from kafkalog_reader.audits.partition.without_copy import without_copy, without_copy_text

    found = [*without_copy(evidence, request, cluster_metadata(evidence))]
    if not found:
        return ""
    text = without_copy_text(found)
    return f"{text[0].upper()}{text[1:]}; kafkalog verify says what became of it."


def _write_gathered(
    table: AnyTable, reading: TableRows, sort: str, by: str | None, *, as_json: bool
) -> bool:
    """Write formats that need all rows at once: aligned text, sorted rows, totals."""
    from kafkalog_reader.cli.output import standard_output

    gathered: list[pa.RecordBatch] = []
    all_read = True
    try:
        for rows in reading:
            all_read &= _log_ends_are_known(rows)
            gathered.append(rows)
            reading.rows_done += rows.num_rows
    finally:  # also after Ctrl-C: what was read
        with standard_output() as sink:
            if as_json and by is None:
                _write_sorted(table, gathered, sort, sink)
            else:
                replicas = [row for rows in gathered for row in rows.to_pylist()]
                lines = _json_lines if as_json else _text_lines
                sink.writelines(f"{line}\n".encode() for line in lines(replicas, sort, by))
    return all_read


def _text_lines(replicas: list[Row], sort: str, by: str | None) -> Iterator[str]:
    screen = screen_width()
    if by is None:
        yield from lines_of(replicas, sort=sort, screen=screen)
    else:
        yield from group_lines(groups_of(replicas, by, sort), by, screen)
    yield ""
    yield from (for_stdout(line) for line in textwrap.wrap(total_line(replicas), screen or 10_000))


def _json_lines(replicas: list[Row], sort: str, by: str | None) -> Iterator[str]:
    assert by is not None
    return (json.dumps(group) for group in groups_of(replicas, by, sort))


def _write_sorted(
    table: AnyTable, gathered: list[pa.RecordBatch], sort: str, sink: IO[bytes]
) -> None:
    import pyarrow as pa

    from kafkalog_reader.cli.output import row_writer

    writer = row_writer("json", sink, table.schema)
    if gathered:
        numbered = [
            {**row, "number": number}
            for number, row in enumerate(
                row for rows in gathered for row in rows.select(NEEDED).to_pylist()
            )
        ]
        order = [row["number"] for row in sorted_replicas(with_lag(numbered), sort)]
        for rows in pa.Table.from_batches(gathered).take(order).to_batches():
            writer.write(rows)
    writer.close()


def _write_table(
    table: AnyTable, reading: TableRows, _sort: str, _by: str | None, *, as_json: bool
) -> bool:
    """Write the table replicas row by row as it is read."""
    from kafkalog_reader.cli.output import row_writer, standard_output
    from kafkalog_reader.cli.table import write_rows

    assert as_json
    all_read = True

    def looked_at(rows: pa.RecordBatch) -> pa.RecordBatch:
        nonlocal all_read
        all_read &= _log_ends_are_known(rows)
        return rows

    with standard_output() as sink:
        write_rows(row_writer("json", sink, table.schema), sink, reading, looked_at)
    return all_read


def _log_ends_are_known(rows: pa.RecordBatch) -> bool:
    """Whether every live replica was read, because one with segments has a log end."""
    if rows["logEndOffset"].null_count == 0:
        return True
    import pyarrow.compute as pc

    live = rows["state"].is_null()
    has_segments = pc.fill_null(pc.not_equal(rows["segments"], 0), True)
    unknown = pc.and_(pc.and_(live, has_segments), rows["logEndOffset"].is_null())
    return not pc.any(unknown).as_py()
