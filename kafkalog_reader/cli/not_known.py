"""``Not known: ...``: what an answer lacks because records are damaged or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kafkalog_reader.cli.printable import for_stdout
from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.io.names import TRANSACTION_STATE_TOPIC, shown
from kafkalog_reader.report.hidden_text import hidden_lines, hidden_sentence
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.schemas.commands import NOT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.hidden_records import HiddenRecords


def note_unreadable(
    rows: Iterable[Mapping[str, Any]], hidden: HiddenRecords, evidence: Evidence, topic: str
) -> None:
    """Note the rows with a ``problem``: records that no coordinator can load.

    Args:
        rows: of a table of an internal topic, which shows such records as they are stored.
        hidden: receives their offsets.
        evidence: the inputs.
        topic: the internal topic.
    """
    from kafkalog_reader.format.messages.records import is_unknown_type
    from kafkalog_reader.tables.request import ReadRequest

    partition = "statePartition" if topic == TRANSACTION_STATE_TOPIC else "offsetsPartition"
    wrong = [row for row in rows if row["problem"] and not is_unknown_type(row["problem"])]
    if not wrong:
        return
    folders = {
        (*identity, copy.log_directory.broker_id): shown(copy.path)
        for identity, copies in evidence.topic_partitions(ReadRequest(topics=frozenset({topic})))
        for copy in copies
    }
    for row in wrong:
        place = row["clusterId"], topic, row[partition], row["brokerId"]
        folder = folders.get(place, f"{topic}-{row[partition]}")
        where = LogPosition(folder, offset=row["recordOffset"])
        hidden.add(CorruptRecordError(row["problem"], where), row["recordOffset"] + 1)


def with_not_known(
    rows: Sequence[Mapping[str, Any]],
    hidden: HiddenRecords,
    places: Callable[[Mapping[str, Any]], Sequence[tuple[str, int | None]]],
) -> list[dict[str, Any]]:
    """The rows, each with what is hidden from it in the column ``notKnown``.

    Args:
        rows: the objects of the answer.
        hidden: what reading noted.
        places: the topic partitions from which a row was made; None as partition: any.
    """
    by_place: dict[tuple[str, int | None] | None, list[str]] = {}
    for each in hidden.ranges():
        place = each.topic_partition
        text = hidden_sentence(each)
        for key in [None] if place is None else [place, (place[0], None)]:
            by_place.setdefault(key, []).append(text)
    return [
        {
            **row,
            NOT_KNOWN.name: [
                text for place in (None, *places(row)) for text in by_place.get(place, ())
            ],
        }
        for row in rows
    ]


def say_not_known(hidden: HiddenRecords, mode: Mode) -> bool:
    """Whether an answer lacks records; standard error says which, unless ``mode`` drops them."""
    if hidden and mode is not Mode.DROPMALFORMED:
        for line in hidden_lines(hidden):
            click.echo(f"Not known: {for_stdout(line)}", err=True)
    return bool(hidden)
