"""What an answer lacks, in sentences: damaged or missing records, and copies not supplied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    OFFSETS_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.scan.hidden_records import HiddenRange, HiddenRecords

MAX_SENTENCES: Final = 5
_EFFECTS: Final = {
    OFFSETS_TOPIC: "commits and group states there are not shown, maybe older ones instead",
    TRANSACTION_STATE_TOPIC: "states of transactions there are not shown, maybe older ones instead",
    SHARE_GROUP_STATE_TOPIC: "states of share groups there are not shown, maybe older ones instead",
    METADATA_TOPIC: "changes there are not shown, maybe an older state instead",
}
_OF_RECORDS: Final = "records there are not in this answer"


def hidden_sentences(hidden: HiddenRecords) -> list[str]:
    """One sentence for each range that an answer lacks, without a full stop."""
    return [hidden_sentence(each) for each in hidden.ranges()]


def hidden_lines(hidden: HiddenRecords) -> Iterator[str]:
    """The first of these sentences, and how many more there are."""
    found = hidden_sentences(hidden)
    yield from found[:MAX_SENTENCES]
    more = len(found) - MAX_SENTENCES + hidden.left_out
    if more > 0:
        yield f"{more:,} more like these; see `kafkalog verify`"


def hidden_sentence(each: HiddenRange) -> str:
    """One of them."""
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
