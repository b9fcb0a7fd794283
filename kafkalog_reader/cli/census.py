"""``kafkalog census``: how producers batch and compress, from batch headers alone."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.listing import Heading, listing, screen_width
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_option,
    reading_options,
    supplied,
    text_or_json_option,
)
from kafkalog_reader.cli.printable import for_stdout, grouped, plural, size
from kafkalog_reader.cli.run import CLEAN, verbose_option
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from kafkalog_reader.cli.batch_census import Row

_FULL: Final = 100
_MISSING: Final = "-"
_NO_PRODUCER: Final = -1
_HEADINGS: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="topic", text="TOPIC", short="TOPIC", left=True),
    Heading(name="producer", text="PRODUCER ID", short="PRODUCER"),
    Heading(name="codec", text="CODEC", short="CODEC", left=True),
    Heading(name="magic", text="FORMAT", short="FMT", dispensable=4),
    Heading(name="batches", text="BATCHES", short="BATCHES"),
    Heading(name="records", text="RECORDS", short="RECORDS"),
    Heading(name="per_batch", text="RECORDS/BATCH", short="REC/BATCH"),
    Heading(name="one", text="ONE-RECORD", short="ONE-REC", dispensable=2),
    Heading(name="size", text="SIZE", short="SIZE"),
    Heading(name="per_record", text="BYTES/RECORD", short="B/REC"),
    Heading(name="headers", text="HEADERS", short="HEADERS", dispensable=3),
    Heading(name="saved", text="FULLER BATCHES SAVE", short="SAVES", dispensable=1),
)


@click.command(
    "census",
    epilog=exit_text("census"),
    short_help="How producers batch and compress, by topic.",
)
@paths_argument
@text_or_json_option("one object per line of the text")
@click.option(
    "--by", type=click.Choice(["producer"]), help="Divide by the producer id of batches, too."
)
@click.option(
    "--full-batch",
    metavar="RECORDS",
    type=click.IntRange(min=1),
    default=_FULL,
    show_default=True,
    help="Records of a full batch, for what fuller batches would save.",
)
@reading_options("topic", "partition")
@reading_option("replica", default="best", show_default=True)
@reading_option("mode", default="PERMISSIVE", show_default=True)
@input_options
@verbose_option()
def census_command(
    paths: tuple[str, ...], output_format: str, by: str | None, full_batch: int,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Count batches, records and bytes by topic, codec and record format, the largest first.

    \b
    Examples:
      kafkalog census /mnt/b1 /mnt/b2 /mnt/b3
      kafkalog census /mnt/b1 --topic orders --by producer

    Read from batch headers; no record is decompressed. BYTES/RECORD includes headers and is after
    compression: where a topic has batches of several codecs, it compares them. ONE-RECORD is the
    share of batches with a single record, HEADERS the share of bytes in batch headers, and FULLER
    BATCHES SAVE what those headers would shrink by with full batches. All data on disk counts, also
    below the log start, where `kafkalog records` shows nothing; the control batches that brokers
    write, such as those that end transactions, do not. In formats 0 and 1 compressed records cannot
    be counted, and - stands for that.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.batch_census import census, columns
    from kafkalog_reader.cli.results import write_json
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.tables.schemas.commands import CENSUS
    from kafkalog_reader.tables.selection import check_selection

    table = registry.table("batches")
    by_producer = by is not None
    request = registry.request(table, columns(by_producer=by_producer), **options)
    evidence = supplied(paths)
    check_selection(evidence, request)
    reading = TableRows(table, evidence, request, rows_on_stdout=False)
    rows = census(_counted(reading), by_producer=by_producer, records_per_batch=full_batch)
    if output_format == "json":
        write_json(CENSUS, rows)
    else:
        _write(_text_lines(rows))
    return CLEAN


def _counted(reading: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401  TableRows
    for rows in reading:
        reading.rows_done += rows.num_rows
        yield rows


def _text_lines(rows: Sequence[Row]) -> Iterator[str]:
    screen = screen_width()
    if not rows:
        yield "No batch was found."
        return
    hidden = set() if "producerId" in rows[0] else {"producer"}
    if len({row["clusterId"] for row in rows}) < 2:
        hidden.add("cluster")
    headings = [each for each in _HEADINGS if each.name not in hidden]
    yield from listing(headings, [_cells(row) for row in rows], screen)
    yield ""
    batches = sum(row["batches"] for row in rows)
    saved = sum(row["savedBytes"] or 0 for row in rows)
    topics = len({(row["clusterId"], row["topic"]) for row in rows})
    total = (
        f"{plural(topics, 'topic')}, {plural(batches, 'batch')}, "
        f"{size(sum(row['sizeInBytes'] for row in rows))}; fuller batches would save {size(saved)}"
    )
    yield from textwrap.wrap(total, screen or 10_000)


def _cells(row: Row) -> dict[str, str]:
    producer = row.get("producerId")
    return {
        "cluster": shown(row["clusterId"] or _MISSING),
        "topic": shown(row["topic"] or _MISSING),
        "producer": _MISSING if producer in (None, _NO_PRODUCER) else str(producer),
        "codec": row["codec"],
        "magic": str(row["magic"]),
        "batches": grouped(row["batches"]),
        "records": _MISSING if row["records"] is None else grouped(row["records"]),
        "per_batch": _decimal(row["recordsPerBatch"]),
        "one": _share(row["oneRecordBatches"], row["batches"]),
        "size": size(row["sizeInBytes"]),
        "per_record": _decimal(row["bytesPerRecord"]),
        "headers": _share(row["headerBytes"], row["sizeInBytes"]),
        "saved": _MISSING if row["savedBytes"] is None else size(row["savedBytes"]),
    }


def _decimal(number: float | None) -> str:
    return _MISSING if number is None else f"{number:,.1f}"


def _share(part: int | None, whole: int) -> str:
    return _MISSING if part is None or not whole else f"{100 * part / whole:.0f} %"


def _write(lines: Iterator[str]) -> None:
    from kafkalog_reader.cli.output import standard_output

    with standard_output() as sink:
        sink.writelines(f"{for_stdout(line)}\n".encode() for line in lines)
