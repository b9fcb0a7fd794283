"""``Not known: ...``: what an answer lacks because records are damaged or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from kafkalog_reader.audits.partition.partition_audit import joined_ids
from kafkalog_reader.cli.printable import for_stdout, plural
from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    OFFSETS_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
    shown,
)
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.schemas.commands import NOT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.hidden_records import HiddenRange, HiddenRecords

MAX_SENTENCES: Final = 5
_EFFECTS: Final = {
    OFFSETS_TOPIC: "commits and group states there are not shown, maybe older ones instead",
    TRANSACTION_STATE_TOPIC: "states of transactions there are not shown, maybe older ones instead",
    SHARE_GROUP_STATE_TOPIC: "states of share groups there are not shown, maybe older ones instead",
    METADATA_TOPIC: "changes there are not shown, maybe an older state instead",
}
_OF_RECORDS: Final = "records there are not in this answer"


def sentences(hidden: HiddenRecords) -> list[str]:
    """One sentence for each range that an answer lacks, without a full stop."""
    return [_sentence(each) for each in hidden.ranges()]


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
    from kafkalog_reader.tables.group_records import UNKNOWN_TYPE
    from kafkalog_reader.tables.request import ReadRequest

    partition = "statePartition" if topic == TRANSACTION_STATE_TOPIC else "offsetsPartition"
    wrong = [row for row in rows if row["problem"] and not row["problem"].startswith(UNKNOWN_TYPE)]
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
        text = _sentence(each)
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
        for line in _lines(sentences(hidden), hidden.left_out):
            click.echo(f"Not known: {for_stdout(line)}", err=True)
    return bool(hidden)


def _lines(found: Sequence[str], left_out: int) -> Iterator[str]:
    yield from found[:MAX_SENTENCES]
    more = len(found) - MAX_SENTENCES + left_out
    if more > 0:
        yield f"{plural(more, 'more range')} of offsets; `kafkalog verify` shows the damage"


def _sentence(each: HiddenRange) -> str:
    place = each.topic_partition
    name = each.file if place is None else f"{place[0]}-{place[1]}"
    if each.in_sync:
        newer = "states" if place is not None and place[0] in _EFFECTS else "records"
        return (
            f"the in-sync replicas of {name} are those of {joined_ids(each.in_sync)}, which were "
            f"not supplied: newer {newer} than those shown may be there"
        )
    effect = _EFFECTS.get("" if place is None else place[0], _OF_RECORDS)
    if each.is_absent:
        return f"no copy of {name} was supplied: {effect.partition(', maybe')[0]}"
    what = _subject(each, name)
    state = "missing" if each.is_missing else "unreadable"
    where = each.file if each.position is None else f"{each.file} at position {each.position}"
    found_in = "" if where == name else f" ({where})"
    return f"{what} {state}{found_in}: {effect}"


def _subject(each: HiddenRange, name: str) -> str:
    """``offsets 3 to 7 of t-0 are``, as far as the offsets are known."""
    first, after = each.first_offset, each.next_offset
    if first is None:
        return f"part of {name} is"
    if after is None:
        return f"offsets from {first:,} on of {name} are"
    if after <= first:
        return f"bytes at offset {first:,} of {name} are"
    words, verb = offsets_are(first, after).rsplit(" ", 1)
    return f"{words} of {name} {verb}"
