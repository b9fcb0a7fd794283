"""``kafkalog ls``: one line a replica, for a first look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.options import (
    follow_links_option,
    paths_argument,
    selected,
    selection_options,
)
from kafkalog_reader.cli.run import verbose_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.cli.table import Reading
    from kafkalog_reader.tables.table import Table

GAP: Final = "   "
UNKNOWN: Final = "?"
HEADINGS: Final = {
    "cluster": "CLUSTER", "broker": "BROKER", "directory": "LOG DIRECTORY",
    "partition": "PARTITION", "log_start": "LOG START", "log_end": "LOG END",
    "high_watermark": "HIGH WATERMARK", "last_stable": "LSO", "leader_epoch": "EPOCH",
    "segments": "SEGMENTS", "size": "SIZE", "state": "STATE",
}  # fmt: skip
LEFT: Final = frozenset({"cluster", "directory", "partition", "state"})
NEEDED: Final = (
    "clusterId", "brokerId", "brokerLabel", "logDirectory", "topic", "partition", "state",
    "logStartOffset", "logEndOffset", "highWatermarkLow", "highWatermarkHigh", "lastStableOffset",
    "lastStableOffsetLow", "lastLeaderEpoch", "segments", "sizeInBytes", "cleanShutdown",
    "tornBytes",
)  # fmt: skip

Row = dict[str, Any]
"""One row of the table replicas, by column name."""


@click.command("ls")
@paths_argument
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json is the table replicas, one object a line.",
)
@selection_options
@follow_links_option
@verbose_option()
def ls_command(
    paths: tuple[str, ...], output_format: str, topic: tuple[str, ...],
    partition: tuple[int, ...], follow_links: bool,
) -> None:  # fmt: skip
    """List the replicas: which broker holds which offsets, and in what state.

    \b
    Example:
      kafkalog ls /mnt/b1 /mnt/b2 --topic orders

    HIGH WATERMARK is what the replica's own files prove: 2–5 means somewhere from 2 to 5. LSO is
    the last stable offset, EPOCH the leader epoch of the last batch. A ? is not known from these
    files. `kafkalog table replicas` has every column.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.output import standard_output
    from kafkalog_reader.cli.table import Reading
    from kafkalog_reader.io.discovery import discover

    table = registry.table("replicas")
    columns = NEEDED if output_format == "text" else None
    request = registry.request(table, columns, **selected(topic, partition))
    evidence = discover(paths, follow_links=follow_links)
    if output_format == "json":
        _write_json(table, Reading(table, evidence, request, rows_on_stdout=True))
        return
    reading = Reading(table, evidence, request, rows_on_stdout=False)
    replicas: list[Row] = []
    try:
        for rows in reading:
            replicas.extend(rows.to_pylist())
            reading.rows_done = len(replicas)
    finally:  # after Ctrl-C too: what it has
        with standard_output() as sink:
            sink.writelines(f"{line}\n".encode() for line in lines_of(replicas))


def _write_json(table: Table, reading: Reading) -> None:
    from kafkalog_reader.cli.output import row_writer, standard_output
    from kafkalog_reader.cli.table import write_rows

    with standard_output() as sink:
        write_rows(row_writer("json", sink, table.schema), sink, reading)


def lines_of(replicas: Iterable[Row]) -> Iterator[str]:
    """The aligned lines, headings first; columns that tell nothing apart are left out."""
    from kafkalog_reader.cli.printable import for_stdout, width

    ordered = sorted(replicas, key=_order)
    cells = [{name: for_stdout(text) for name, text in _cells(row).items()} for row in ordered]
    columns = [name for name in HEADINGS if name not in _left_out(ordered)]
    widths = {
        name: max([len(HEADINGS[name]), *(width(row[name]) for row in cells)]) for name in columns
    }
    for row in (HEADINGS, *cells):
        padded = (_padded(row[name], widths[name], left=name in LEFT) for name in columns)
        yield GAP.join(padded).rstrip()


def _padded(text: str, columns: int, *, left: bool) -> str:
    from kafkalog_reader.cli.printable import width

    padding = " " * (columns - width(text))
    return text + padding if left else padding + text


def _order(row: Row) -> tuple[Any, ...]:
    broker = row["brokerId"]
    return (
        row["clusterId"] or "", row["topic"] or "", -1 if row["partition"] is None else
        row["partition"], broker is None, broker or 0, row["brokerLabel"] or "",
        row["logDirectory"] or "", row["state"] or "",
    )  # fmt: skip


def _left_out(rows: list[Row]) -> set[str]:
    """The cluster when there is one; the directory when every broker has one."""
    left_out = set()
    if len({row["clusterId"] for row in rows}) <= 1:
        left_out.add("cluster")
    directories = {(row["clusterId"], _broker(row), row["logDirectory"]) for row in rows}
    if len({(cluster, broker) for cluster, broker, _ in directories}) == len(directories):
        left_out.add("directory")
    return left_out


def _broker(row: Row) -> str:
    from kafkalog_reader.io.names import shown

    if row["brokerLabel"] is not None:
        return shown(row["brokerLabel"])
    return UNKNOWN if row["brokerId"] is None else str(row["brokerId"])


def _cells(row: Row) -> dict[str, str]:
    from kafkalog_reader.cli.printable import size
    from kafkalog_reader.io.names import shown

    return {
        "cluster": shown(row["clusterId"] or UNKNOWN),
        "broker": _broker(row),
        "directory": shown(row["logDirectory"] or UNKNOWN),
        "partition": _partition(row),
        "log_start": _number(row["logStartOffset"]),
        "log_end": _number(row["logEndOffset"]),
        "high_watermark": _interval(row["highWatermarkLow"], row["highWatermarkHigh"]),
        "last_stable": _interval(row["lastStableOffsetLow"], row["lastStableOffset"]),
        "leader_epoch": _number(row["lastLeaderEpoch"]),
        "segments": _number(row["segments"]),
        "size": UNKNOWN if row["sizeInBytes"] is None else size(row["sizeInBytes"]),
        "state": _state(row),
    }


def _partition(row: Row) -> str:
    from kafkalog_reader.io.names import shown

    if row["topic"] is None:
        return UNKNOWN
    return f"{shown(row['topic'])}-{row['partition']}"


def _number(number: int | None) -> str:
    from kafkalog_reader.cli.printable import grouped

    return UNKNOWN if number is None else grouped(number)


def _interval(low: int | None, high: int | None) -> str:
    if low is None or high is None or low == high:
        return _number(high if low is None else low)
    return f"{_number(low)}–{_number(high)}"


def _state(row: Row) -> str:
    from kafkalog_reader.cli.printable import size
    from kafkalog_reader.io.names import shown

    words = {
        "delete": "marked for deletion",
        "future": "being moved to this disk",
        "stray": "stray: the broker set it aside",
    }
    said: list[str] = []
    if row["state"] is not None:
        said.append(words.get(row["state"], shown(row["state"])))
    if row["cleanShutdown"] is False:
        said.append("not shut down cleanly")
    if row["tornBytes"]:
        said.append(f"torn tail of {size(row['tornBytes'])}")
    return ", ".join(said)
