"""Where a read starts and ends, from the options of Spark's Kafka source.

Three options for each end, of which the first one given counts: one time, a time for each topic
partition, an offset for each. Source: Spark 4.0, KafkaSourceProvider#getKafkaOffsetRangeLimit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import OptionError
from kafkalog_reader.tables.option_values import milliseconds
from kafkalog_reader.tables.request import Until
from spark_datasource.topic_partitions import (
    EARLIEST,
    LATEST,
    TIME_MEANING,
    is_time,
    parse_ending_offsets,
    parse_offsets,
    parse_starting_offsets,
    parse_timestamps,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.tables.request import TopicPartition

_ENDS: Final = {until.value.lower(): until for until in Until}
_HINTS: Final = {
    "startingOffsets": ": -2 is the earliest offset",
    "endingOffsets": ": -1 is the latest offset",
}
_MAX_NAMED: Final = 5
_NUMBER: Final = re.compile("[+-]?[0-9]{1,19}", re.ASCII)
_STRATEGIES: Final = ("error", "latest")
_WORDS: Final = {"earliest": EARLIEST, "latest": LATEST}


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Both ends of a read.

    Attributes:
        fields: of the ``ReadRequest``.
        named: the topic partitions that each JSON option names: they must be all that are read.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    named: dict[str, frozenset[TopicPartition]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStart:
    """Where a new stream begins.

    Attributes:
        bounds: everything that is not an offset: times, and where logs end.
        default: ``EARLIEST`` or ``LATEST``, of every topic partition that ``offsets`` has not.
        offsets: by topic partition; they may be those two, too.
    """

    bounds: OffsetRange
    default: int
    offsets: Mapping[TopicPartition, int]


def parse_offset_range(given: Mapping[str, str]) -> OffsetRange:
    """Both ends, from the options of a batch read.

    Raises:
        UsageError: an invalid value, or a start above its end.
    """
    found = OffsetRange()
    _parse_start(given, found)
    _parse_end(given, found)
    found.fields["starts_at_end"] = _starts_at_end(given)
    _check_order(found)
    return found


def parse_stream_start(given: Mapping[str, str]) -> StreamStart:
    """Where a new stream begins, and that it has no end.

    Raises:
        UsageError: an invalid value, or options of an end.
    """
    for option in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"):
        if option in given:
            raise OptionError(option, "a stream has no end: use until, or read a batch")
    found = OffsetRange()
    text = given.get("startingOffsets", "latest").strip().lower()
    if text in _WORDS:
        _parse_start({k: v for k, v in given.items() if k != "startingOffsets"}, found)
        offsets: dict[TopicPartition, int] = {}
    else:
        offsets = parse_offsets("startingOffsets", given["startingOffsets"])
        found.named["startingOffsets"] = frozenset(offsets)
    found.fields["starts_at_end"] = _starts_at_end(given)
    found.fields["until"] = Until.HIGH_WATERMARK
    return StreamStart(bounds=found, default=_WORDS.get(text, EARLIEST), offsets=offsets)


def check_named(
    named: Mapping[str, frozenset[TopicPartition]], read: Iterable[TopicPartition]
) -> None:
    """Refuse JSON that leaves out a topic partition, as the Kafka source does.

    Raises:
        OptionError: the first option that does; it names what is missing.
    """
    everything = set(read) if named else set()
    for option, names in named.items():
        missing = sorted(everything - names)
        if missing:
            shown = ", ".join(f"{topic}-{number}" for topic, number in missing[:_MAX_NAMED])
            more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
            hint = _HINTS.get(option, "")
            raise OptionError(
                option, f"nothing for {shown}{more}. Name every topic partition{hint}"
            )


def _starts_at_end(given: Mapping[str, str]) -> bool:
    option = "startingOffsetsByTimestampStrategy"
    strategy = given.get(option, "error").lower()
    if strategy not in _STRATEGIES:
        raise OptionError(option, f"{given[option]!r} is neither error nor latest")
    return strategy == "latest"


def _parse_start(given: Mapping[str, str], found: OffsetRange) -> None:
    if "startingTimestamp" in given:
        found.fields["starting_timestamp"] = _time(given, "startingTimestamp")
        return
    if (option := "startingOffsetsByTimestamp") in given:
        times = parse_timestamps(option, given[option])
        found.fields["starting_timestamps"] = times
        found.named[option] = frozenset(times)
        return
    offsets = parse_starting_offsets(given.get("startingOffsets", "earliest"))
    if offsets is not None:
        found.named["startingOffsets"] = frozenset(offsets)
        found.fields["starting_offsets"] = {
            key: offset for key, offset in offsets.items() if offset != EARLIEST
        }


def _parse_end(given: Mapping[str, str], found: OffsetRange) -> None:
    if "endingTimestamp" in given:
        found.fields["ending_timestamp"] = _time(given, "endingTimestamp")
    elif (by_time := "endingOffsetsByTimestamp") in given:
        times = parse_timestamps(by_time, given[by_time])
        found.fields["ending_timestamps"] = times
        found.named[by_time] = frozenset(times)
    elif (end := given.get("endingOffsets", "").strip().lower()) in _ENDS:
        if "until" in given:
            raise OptionError("until", "endingOffsets says where logs end: give one of them")
        found.fields["until"] = _ENDS[end]
    else:
        offsets = parse_ending_offsets(given.get("endingOffsets", "latest"))
        if offsets is not None:
            found.named["endingOffsets"] = frozenset(offsets)
            found.fields["ending_offsets"] = {
                key: offset for key, offset in offsets.items() if offset != LATEST
            }


def _check_order(found: OffsetRange) -> None:
    ends = found.fields.get("ending_offsets", {})
    for (topic, partition), start in found.fields.get("starting_offsets", {}).items():
        end = ends.get((topic, partition))
        if end is not None and start > end:
            raise OptionError(
                "startingOffsets",
                f"{topic}-{partition} would start at {start}, above its ending offset {end}",
            )


def _time(given: Mapping[str, str], option: str) -> int:
    text = given[option].strip()
    if not _NUMBER.fullmatch(text) or not is_time(int(text)):
        raise OptionError(option, f"{given[option]!r} is not a time: {TIME_MEANING}")
    return milliseconds(int(text))
