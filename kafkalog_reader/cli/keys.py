"""``kafkalog keys``: which partitioner explains the keys of a topic, and which keys it does not."""

from __future__ import annotations

import textwrap
from collections import defaultdict
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
from kafkalog_reader.cli.printable import for_stdout, grouped, plural
from kafkalog_reader.cli.run import CLEAN, FOUND, verbose_option
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.remote_part import with_remote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.topic_keys import TopicKeys

Row = dict[str, Any]
"""A topic, by the columns ``KEYS``."""
_Place = tuple[str | None, str | None]

_MISSING: Final = "-"
_LONG_RUN: Final = 1_000
"""Records without a key, one after another, that are mentioned."""
_UNEVEN: Final = 2
"""Times its even share that a partition must hold to be mentioned."""
_HEADINGS: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="topic", text="TOPIC", short="TOPIC", left=True),
    Heading(name="partitions", text="PARTITIONS", short="PARTS"),
    Heading(name="records", text="RECORDS", short="RECORDS"),
    Heading(name="nulls", text="NULL KEYS", short="NULLS", dispensable=2),
    Heading(name="keys", text="KEYS", short="KEYS"),
    Heading(name="partitioner", text="PARTITIONER", short="PARTITIONER", left=True),
    Heading(name="outside", text="OUTSIDE", short="OUTSIDE"),
    Heading(name="note", text="NOTE", short="NOTE", left=True, is_remark=True),
)


@click.command(
    "keys",
    epilog=exit_text("keys"),
    short_help="Which partitioner explains the keys of a topic, and which keys it does not.",
)
@paths_argument
@text_or_json_option("one object per topic")
@reading_options("topic")
@reading_option("mode", default="PERMISSIVE", show_default=True)
@input_options
@verbose_option()
def keys_command(
    paths: tuple[str, ...], output_format: str,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Find the partitioner that explains the partitions of keys, and the keys that it does not.

    \b
    Example:
      kafkalog keys /mnt/b1 /mnt/b2 /mnt/b3 --topic orders

    Supply all partitions of a topic: their number is taken from the highest one. Known partitioners
    are murmur2 (Java clients), crc32 (librdkafka's consistent ones), fnv1a (Sarama), and Java's
    String.hashCode with the absolute value or the sign bit masked, as in hand-written ones. A
    partitioner is named if it explains nine in ten of at least 20 keys. Keys OUTSIDE were written
    by a client with another partitioner, or before the topic got more partitions; NOTE says so if
    their number and times show it. The records of such a key are in two partitions, so consumers
    may get them in another order.

    Records without a key cannot be checked: recent clients fill a batch and then choose another
    partition, so such records come in runs.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from dataclasses import replace

    from kafkalog_reader import registry
    from kafkalog_reader.cli.not_known import say_not_known
    from kafkalog_reader.cli.results import write_json
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.io.names import INTERNAL_TOPICS
    from kafkalog_reader.tables.schemas.commands import KEYS
    from kafkalog_reader.tables.selection import check_selection
    from kafkalog_reader.tables.topic_keys import COLUMNS, TopicKeys

    table = registry.table("records")
    request = registry.request(
        table, COLUMNS, include_control_records=False, replica="best", **options
    )
    evidence = supplied(paths)
    check_selection(evidence, request)
    if not request.topics:
        request = replace(request, excluded_topics=INTERNAL_TOPICS)
    reading = TableRows(table, evidence, request, rows_on_stdout=False)
    topics: dict[_Place, TopicKeys] = defaultdict(TopicKeys)
    for batch in reading:
        topics[batch["clusterId"][0].as_py(), batch["topic"][0].as_py()].look(batch)
        reading.rows_done += batch.num_rows
    counts = _partition_counts(evidence, request)
    rows = [_row(place, topics[place], counts) for place in sorted(topics, key=str)]
    if output_format == "json":
        write_json(KEYS, rows)
    else:
        _write_text(rows)
    is_hidden = say_not_known(reading.hidden, request.mode)
    return FOUND if is_hidden or any(row["keysOutside"] for row in rows) else CLEAN


def _partition_counts(evidence: Evidence, request: ReadRequest) -> Mapping[_Place, int]:
    """How many partitions each topic has, by the highest folder."""
    counts: dict[_Place, int] = defaultdict(int)
    for (cluster_id, topic, partition), _ in with_remote(evidence).topic_partitions(request):
        place = cluster_id, topic
        counts[place] = max(counts[place], (partition or 0) + 1)
    return counts


def _row(place: _Place, found: TopicKeys, counts: Mapping[_Place, int]) -> Row:
    inferred = found.infer(counts[place])
    records = {number: each.records for number, each in found.by_partition.items()}
    largest = max(records, key=lambda number: (records[number], -number))
    earlier = inferred.earlier
    example = inferred.outside[0] if inferred.outside else (None, None, None)
    return {
        "clusterId": place[0],
        "topic": place[1],
        "partitions": counts[place],
        "records": sum(records.values()),
        "nullKeys": sum(each.null_keys for each in found.by_partition.values()),
        "longestNullRun": max(each.longest_null_run for each in found.by_partition.values()),
        "keys": inferred.keys,
        "oneIn": found.one_in,
        "partitioner": inferred.partitioner,
        "keysOutside": len(inferred.outside),
        "keysInSeveral": inferred.scattered,
        "earlierPartitions": None if earlier is None else earlier.partitions,
        "keysOfEarlier": 0 if earlier is None else earlier.keys,
        "raisedAt": None if earlier is None else earlier.raised_at,
        "exampleKey": example[0],
        "examplePartition": example[1],
        "expectedPartition": example[2],
        "largestPartition": largest,
        "largestShare": records[largest] / sum(records.values()),
    }


def _write_text(rows: Sequence[Row]) -> None:
    from kafkalog_reader.cli.output import standard_output

    with standard_output() as sink:
        sink.writelines(f"{for_stdout(line)}\n".encode() for line in _text_lines(rows))


def _text_lines(rows: Sequence[Row]) -> Iterator[str]:
    screen = screen_width()
    if not rows:
        yield "No record was found."
        return
    hidden = {"cluster"} if len({row["clusterId"] for row in rows}) < 2 else set()
    headings = [each for each in _HEADINGS if each.name not in hidden]
    listed = [row for row in rows if row["partitions"] > 1]
    if listed:
        yield from listing(headings, [_cells(row) for row in listed], screen)
        yield ""
    outside = sum(row["keysOutside"] for row in rows)
    total = f"{plural(len(rows), 'topic')}, {plural(outside, 'key')} outside"
    if single := len(rows) - len(listed):
        total += f"; {plural(single, 'topic')} with one partition not listed"
    yield from textwrap.wrap(total, screen or 10_000)


def _cells(row: Row) -> dict[str, str]:
    return {
        "cluster": shown(row["clusterId"] or _MISSING),
        "topic": shown(row["topic"] or _MISSING),
        "partitions": grouped(row["partitions"]),
        "records": grouped(row["records"]),
        "nulls": grouped(row["nullKeys"]),
        "keys": grouped(row["keys"]),
        "partitioner": row["partitioner"] or _MISSING,
        "outside": grouped(row["keysOutside"]) if row["partitioner"] else _MISSING,
        "note": "; ".join(_notes(row)),
    }


def _notes(row: Row) -> Iterator[str]:
    if row["keysOutside"]:
        key = shown(row["exampleKey"].decode("utf-8", "backslashreplace")) or '""'
        yield (
            f"key {key} is in partition {row['examplePartition']} instead of "
            f"{row['expectedPartition']}"
        )
    if row["earlierPartitions"] is not None:
        when = "" if row["raisedAt"] is None else f" before {_time(row['raisedAt'])}"
        yield (
            f"{plural(row['keysOfEarlier'], 'key')} outside fit "
            f"{plural(row['earlierPartitions'], 'partition')}: the topic had so few{when}"
        )
    if row["keysInSeveral"]:
        yield f"{plural(row['keysInSeveral'], 'key')} in more than one partition"
    if row["longestNullRun"] >= _LONG_RUN:
        yield f"up to {grouped(row['longestNullRun'])} records without a key in a row"
    if row["oneIn"] > 1:
        yield f"one in {grouped(row['oneIn'])} keys compared"
    share = row["largestShare"] * row["partitions"]
    if row["partitions"] > 1 and share >= _UNEVEN:
        percent = 100 * row["largestShare"]
        yield f"partition {row['largestPartition']} holds {percent:.0f} % of the records"


def _time(microseconds: int) -> str:
    from kafkalog_reader.format.layout import utc_text

    return utc_text(microseconds // 1000)
