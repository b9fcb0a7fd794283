"""``kafkalog duplicates``: which records are in a partition more than once, and why."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.duplicate_list import Row, duplicate_lines, row_of, total_line
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.listing import screen_width
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_option,
    reading_options,
    supplied,
    text_or_json_option,
)
from kafkalog_reader.cli.printable import for_stdout
from kafkalog_reader.cli.run import CLEAN, FOUND, verbose_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.tables.duplicate_records import Copies

_NEAR: Final = 250_000
_MOST_NEAR: Final = 1 << 26
_OF_TOPIC: Final = ("clusterId", "topic")
_OF_PLACE: Final = ("clusterId", "brokerId", "topic", "partition")


@click.command(
    "duplicates",
    epilog=exit_text("duplicates"),
    short_help="Which records are there more than once, how often, and why.",
)
@paths_argument
@text_or_json_option("one object per partition with duplicates; with --by, one per duplicate")
@click.option(
    "--by", type=click.Choice(["record"]), help="List each duplicate with the copy before it."
)
@click.option(
    "--within",
    metavar="RECORDS",
    type=click.IntRange(1, _MOST_NEAR),
    default=_NEAR,
    show_default=True,
    help="How far apart duplicates may be, in records of the partition; each takes about 150 bytes "
    "of memory.",
)
@click.option(
    "--across-partitions",
    is_flag=True,
    help="Also count records that several partitions of a topic have; above 4 million, the number "
    "is an estimate.",
)
@click.option(
    "--equal-records",
    is_flag=True,
    help="Also list records that merely are equal: applications send equal values.",
)
@reading_options("topic", "partition", "from_time", "to_time")
@reading_option("replica", default="best", show_default=True)
@reading_option("mode", default="PERMISSIVE", show_default=True)
@input_options
@verbose_option()
def duplicates_command(
    paths: tuple[str, ...], output_format: str, by: str | None, within: int,
    across_partitions: bool, equal_records: bool,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Find records that are in a partition more than once, and say how often.

    \b
    Examples:
      kafkalog duplicates /mnt/b1 /mnt/b2 /mnt/b3 --topic orders
      kafkalog duplicates /mnt/b1 --topic orders --by record --format json

    Records are the same if key, value, headers and the client's timestamp are equal. They count as
    duplicates if a whole batch is there again, in one batch or in several, and the values that the
    application sends do not explain it. --equal-records also counts and lists other equal records
    in different batches, without a cause. Records of aborted transactions, and those below the log
    start, are not compared. Of the timestamps of a topic with LogAppendTime, those are compared
    that are left of the clients': one for each batch.

    A producer without idempotence leaves duplicates when it sends again what was stored but not
    acknowledged. If nearly all records are there 4 times, it has retries = 3 and never got an
    answer. Duplicates with the sequence of the copy before were sent with idempotence, and a
    broker still accepted them; others with a producer id were sent again by the application.

    After a failure an application may send again to another partition. --across-partitions counts
    records that are in several partitions of a topic, if their timestamps are the clients'; it is
    off because some applications send everything to all partitions.

    Internal topics are left out unless --topic names them.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.not_known import say_not_known
    from kafkalog_reader.cli.results import write_json, write_result
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.tables.duplicate_records import COLUMNS
    from kafkalog_reader.tables.options import CONSUMER_VIEW
    from kafkalog_reader.tables.schemas.commands import DUPLICATE_RECORDS, DUPLICATES
    from kafkalog_reader.tables.selection import check_selection

    table = registry.table("records")
    request = registry.request(table, COLUMNS, **{**CONSUMER_VIEW, **options})
    evidence = supplied(paths)
    check_selection(evidence, request)
    request = _without_internal(request)
    reading = TableRows(table, evidence, request, rows_on_stdout=by is not None)
    search = _Search(within, across_partitions=across_partitions, equal_records=equal_records)
    found = search.run(reading)
    if by is None:
        for _rows, _copies in found:
            pass
        if output_format == "json":
            write_json(DUPLICATES, search.rows)
        else:
            _write_text(search)
    else:
        import pyarrow as pa

        schema = pa.schema([(each.name, each.type) for each in DUPLICATE_RECORDS])
        listed = (_listed(rows, copies, schema) for rows, copies in found)
        write_result(schema, listed, evidence, output_format, None, render=None, overwrite=False)
    return FOUND if say_not_known(reading.hidden, request.mode) or search.rows else CLEAN


def _without_internal(request: Any) -> Any:  # noqa: ANN401  ReadRequest, imported when needed
    from dataclasses import replace

    from kafkalog_reader.io.names import INTERNAL_TOPICS

    return request if request.topics else replace(request, excluded_topics=INTERNAL_TOPICS)


class _Search:
    """Reads the records of all partitions, and sums up each.

    Attributes:
        rows: of the partitions with duplicates, in order.
        records, partitions: how many were compared.
    """

    def __init__(self, near: int, *, across_partitions: bool, equal_records: bool) -> None:
        from kafkalog_reader.tables.duplicate_records import DuplicateWatch
        from kafkalog_reader.tables.topic_contents import TopicContents

        self._contents = TopicContents() if across_partitions else None
        self._equal_records = equal_records
        self._watch = DuplicateWatch(near, self._contents, with_equal=equal_records)
        self._place: Row | None = None
        self.rows: list[Row] = []
        self.records = self.partitions = 0

    def run(self, reading: Any) -> Iterator[tuple[pa.RecordBatch, Copies]]:  # noqa: ANN401  TableRows
        """Yield the duplicates as they are found."""
        for rows in reading:
            place = {name: rows[name][0].as_py() for name in _OF_PLACE}
            if place != self._place:
                yield from self._watch.end()
                self._conclude()
                self._begin(place)
            yield from self._watch.look(rows)
            reading.rows_done += rows.num_rows
        yield from self._watch.end()
        self._conclude()

    def _begin(self, place: Row) -> None:
        self._watch.begin()
        if self._contents is not None:
            if self._place is None or any(place[name] != self._place[name] for name in _OF_TOPIC):
                self._contents.begin_topic()
            else:
                self._contents.begin_partition()
        self._place = place

    def _conclude(self) -> None:
        if self._place is None:
            return
        found = self._watch.found
        self.records += found.records
        self.partitions += 1
        if found.surplus or found.elsewhere or (found.equal and self._equal_records):
            across = self._contents is not None
            self.rows.append(row_of(self._place, found, across=across))


def _listed(rows: pa.RecordBatch, copies: Copies, schema: pa.Schema) -> pa.RecordBatch:
    """The duplicates of one step in the columns ``DUPLICATE_RECORDS``."""
    import pyarrow as pa

    from kafkalog_reader.tables.duplicate_records import Cause

    causes = [each for each in Cause if each != Cause.NONE]
    names = pa.array([*(each.name.lower().replace("_", "-") for each in causes), None])
    of_copies = {
        "offset": pa.array(copies.offset),
        "previousOffset": pa.array(copies.previous_offset),
        "copy": pa.array(copies.number),
        "cause": names.take(pa.array(copies.cause)),
    }
    columns = [of_copies[name] if name in of_copies else rows[name] for name in schema.names]
    return pa.record_batch(columns, schema=schema)


def _write_text(search: _Search) -> None:
    from kafkalog_reader.cli.output import standard_output

    screen = screen_width()
    lines = [*duplicate_lines(search.rows, screen), ""] if search.rows else []
    total = total_line(search.rows, search.records, search.partitions)
    lines += textwrap.wrap(total, screen or 10_000)
    with standard_output() as sink:
        sink.writelines(f"{for_stdout(line)}\n".encode() for line in lines)
