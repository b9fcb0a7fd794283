"""``kafkalog ls``: one line a replica, for a first look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kafkalog_reader.cli.options import (
    follow_links_option,
    max_rate_option,
    paths_argument,
    selected,
    selection_options,
    text_or_json_option,
)
from kafkalog_reader.cli.run import CLEAN, TROUBLE, verbose_option

if TYPE_CHECKING:
    import pyarrow as pa

    from kafkalog_reader.cli.table import Reading
    from kafkalog_reader.tables.table import Table


@click.command("ls", short_help="One line a replica: broker, offsets, size, state.")
@paths_argument
@text_or_json_option("the table replicas, one object a line")
@selection_options
@follow_links_option
@max_rate_option
@verbose_option()
def ls_command(
    paths: tuple[str, ...], output_format: str, topic: tuple[str, ...],
    partition: tuple[int, ...], follow_links: bool,
) -> int:  # fmt: skip
    """List the replicas: which broker holds which offsets, and in what state.

    \b
    Example:
      kafkalog ls /mnt/b1 /mnt/b2 --topic orders

    HIGH WATERMARK is what the replica's own files prove: 2-5 means somewhere from 2 to 5. LSO is
    the last stable offset, EPOCH the leader epoch of the last batch. A ? is not known from these
    files. `kafkalog table replicas` has every column. The exit status is 2 when a replica could not
    be read; the others are shown.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.replica_list import NEEDED
    from kafkalog_reader.cli.table import Reading
    from kafkalog_reader.io.discovery import discover
    from kafkalog_reader.tables.selection import check_selection

    as_json = output_format == "json"
    table = registry.table("replicas")
    # PERMISSIVE: one replica that cannot be read must not hide the others.
    options = {**selected(topic, partition), "mode": "PERMISSIVE"}
    request = registry.request(table, None if as_json else NEEDED, **options)
    evidence = discover(paths, follow_links=follow_links)
    check_selection(evidence, request)
    reading = Reading(table, evidence, request, rows_on_stdout=as_json)
    all_read = _write_json(table, reading) if as_json else _write_text(reading)
    return CLEAN if all_read else TROUBLE


def _write_text(reading: Reading) -> bool:
    from kafkalog_reader.cli.output import standard_output
    from kafkalog_reader.cli.replica_list import lines_of

    replicas: list[dict[str, Any]] = []
    all_read = True
    try:
        for rows in reading:
            all_read &= _log_ends_are_known(rows)
            replicas.extend(rows.to_pylist())
            reading.rows_done = len(replicas)
    finally:  # after Ctrl-C too: what it has
        with standard_output() as sink:
            sink.writelines(f"{line}\n".encode() for line in lines_of(replicas))
    return all_read


def _write_json(table: Table, reading: Reading) -> bool:
    from kafkalog_reader.cli.output import row_writer, standard_output
    from kafkalog_reader.cli.table import write_rows

    all_read = True

    def looked_at(rows: pa.RecordBatch) -> pa.RecordBatch:
        nonlocal all_read
        all_read &= _log_ends_are_known(rows)
        return rows

    with standard_output() as sink:
        write_rows(row_writer("json", sink, table.schema), sink, reading, looked_at)
    return all_read


def _log_ends_are_known(rows: pa.RecordBatch) -> bool:
    """Whether every live replica was read: one with segments has a log end."""
    if rows["logEndOffset"].null_count == 0:
        return True
    import pyarrow.compute as pc

    live = rows["state"].is_null()
    has_segments = pc.fill_null(pc.not_equal(rows["segments"], 0), True)
    unknown = pc.and_(pc.and_(live, has_segments), rows["logEndOffset"].is_null())
    return not pc.any(unknown).as_py()
