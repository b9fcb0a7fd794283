"""``kafkalog timeline``: who led a partition when, its ISR, and what was written then."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

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
from kafkalog_reader.cli.timeline_list import (
    event_lines,
    events_of,
    title,
    topic_ids_of,
    with_eventless,
)
from kafkalog_reader.errors import LogLayoutError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.scan.hidden_records import HiddenRecords

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.cli.timeline_list import Key, Row
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


@click.command(
    "timeline",
    epilog=exit_text("timeline"),
    short_help="Who led a partition when, its ISR, and which offsets were written.",
)
@paths_argument
@text_or_json_option("one object per change of a partition")
@reading_options("topic", "partition")
@reading_option("mode", default="PERMISSIVE", show_default=True)
@input_options
@verbose_option()
def timeline_command(
    paths: tuple[str, ...], output_format: str,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Show the history of partitions: leaders, leader epochs, ISR, and the offsets of each epoch.

    \b
    Example:
      kafkalog timeline /mnt/b1 /mnt/b2 /mnt/b3 --topic orders --partition 17

    Times, leaders and the ISR are from the metadata log (KRaft), as far back as it and its
    snapshots reach; supply that of a controller. OFFSETS are those that the batches of the leader
    epoch have, by broker if the copies differ; A FORK is where copies hold different records at the
    same offsets. Without a metadata log, as with ZooKeeper, only leader epochs and offsets are
    known. ELR are the eligible leader replicas of KIP-966. The leaders of __cluster_metadata itself
    are from its own control records.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.cli.not_known import say_not_known, with_not_known
    from kafkalog_reader.cli.results import write_json
    from kafkalog_reader.tables.leader_changes import leader_changes
    from kafkalog_reader.tables.schemas.commands import TIMELINE
    from kafkalog_reader.tables.selection import check_selection

    evidence = supplied(paths)
    hidden = HiddenRecords()
    request = registry.request(registry.table("partition_states"), None, **options)
    request = replace(request, hidden=hidden)
    check_selection(evidence, request, selects_directories=False)
    events = events_of(
        _rows("partition_states", evidence, options, hidden),
        _rows("leader_epochs", evidence, options, hidden),
        leader_changes(evidence, request) if request.selects(METADATA_TOPIC, 0) else (),
        topic_ids_of(evidence.partition_directories(request)),
    )
    replicas = [row for row in _rows("replicas", evidence, options) if row["state"] is None]
    if not events and not replicas:
        raise LogLayoutError(_nothing_found(request, evidence))
    if output_format == "json":
        lines = [in_json(row) for rows in events.values() for row in rows]
        write_json(TIMELINE, with_not_known(lines, hidden, of_event))
    else:
        _write(_text_lines(events, replicas))
    return FOUND if say_not_known(hidden, request.mode) else CLEAN


def of_event(row: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    """From which logs the change of a partition is."""
    return [(METADATA_TOPIC, None), (row["topic"], row["partition"])]


def _nothing_found(request: ReadRequest, evidence: Evidence) -> str:
    """What was selected is nowhere; the topic that was probably meant."""
    from kafkalog_reader.tables.names import nearest
    from kafkalog_reader.tables.request import ReadRequest

    where = "in the given paths, nor in a metadata log"
    known = {each.topic for each in evidence.partition_directories(ReadRequest())}
    known |= {row["topic"] for row in _rows("partition_states", evidence, {})}
    names = {topic for topic in known if topic is not None}
    for topic in sorted((request.topics or frozenset()) - names):
        return f"no topic {topic!r} {where}{nearest(topic, names)}"
    numbers = ", ".join(map(str, sorted(request.partitions or ())))
    of = f" of topic {', '.join(sorted(request.topics))}" if request.topics else ""
    return f"no partition {numbers}{of} {where}"


def _rows(
    name: str, evidence: Evidence, options: dict[str, Any], hidden: HiddenRecords | None = None
) -> list[Row]:
    from kafkalog_reader import registry
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.tables.internal_topic import plain_rows

    table = registry.table(name)
    request = replace(registry.request(table, None, **options), hidden=hidden)
    rows: list[Row] = []
    reading = TableRows(table, evidence, request, rows_on_stdout=False)
    for each in reading:
        rows += plain_rows(each)
        reading.rows_done = len(rows)
    return rows


def in_json(row: Row) -> Row:
    """An event with the columns of ``--format json``."""
    brokers = sorted((row.get("offsetsByBroker") or {}).items())
    return {
        **row,
        "offsetsByBroker": [
            {"brokerId": broker, "startOffset": first, "nextOffset": following}
            for broker, (first, following) in brokers
        ],
    }


def _text_lines(events: Mapping[Key, Sequence[Row]], replicas: Sequence[Row]) -> Iterator[str]:
    screen = screen_width()
    for number, (key, rows) in enumerate(with_eventless(events, replicas).items()):
        if number:
            yield ""
        yield from textwrap.wrap(title(key, rows), screen or 10_000)
        yield ""
        is_removed = bool(rows) and rows[-1].get("change") == "removed"
        own = [
            row
            for row in replicas
            if (row["clusterId"], row["topic"], row["partition"]) == key[:3]
            and (row["topicId"] == key[3] or (None in (row["topicId"], key[3]) and not is_removed))
        ]
        if rows:
            yield from event_lines(rows, screen)
        else:
            yield from textwrap.wrap(_without_events(own), screen or 10_000)
        if own:
            yield ""
            yield from textwrap.wrap(_now(own), screen or 10_000)


def _without_events(replicas: Sequence[Row]) -> str:
    """Why no leader epoch of a partition is known."""
    if any(row["logEndOffset"] is None for row in replicas):
        return "Leader epochs: unknown."
    if all(row["logEndOffset"] == row["logStartOffset"] for row in replicas):
        return "No leader epochs: the log is empty."
    return "No leader epochs: the batches are from before Kafka 0.11."


def _now(replicas: Sequence[Row]) -> str:
    """Log end and high watermark of each copy, as ``kafkalog ls`` shows them."""
    from kafkalog_reader.cli.replica_list import broker_text, high_watermark_text

    def committed(row: Row) -> str:
        text = high_watermark_text(row).replace("≥", "at least ")
        above = f"{text[:-1]}, ABOVE THE LOG END: records are missing"
        return above if text.endswith("!") else text

    copies = (
        f"broker {broker_text(row)}: log end {row['logEndOffset']:,}, high watermark "
        f"{committed(row)}"
        if row["logEndOffset"] is not None
        else f"broker {broker_text(row)}: the log end is unknown"
        for row in replicas
    )
    return f"In the files: {'; '.join(copies)}"


def _write(lines: Iterator[str]) -> None:
    from kafkalog_reader.cli.output import standard_output

    with standard_output() as sink:
        sink.writelines(f"{for_stdout(line)}\n".encode() for line in lines)
