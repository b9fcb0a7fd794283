"""Topic partitions and their offsets in the JSON form of Spark's Kafka source."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import UsageError
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.names import MAX_PARTITION
from kafkalog_reader.tables.option_values import milliseconds

if TYPE_CHECKING:
    from kafkalog_reader.tables.request import TopicPartition

EARLIEST: Final = -2
LATEST: Final = -1
TIME_MEANING: Final = "a time is in milliseconds, or -2 (earliest) or -1 (latest)"
_PARTITION: Final = re.compile("0{,99}[0-9]{1,10}", re.ASCII)


def parse_assign(text: str) -> frozenset[TopicPartition]:
    """The topic partitions of ``{"orders": [0, 1], "payments": [2]}``.

    Raises:
        UsageError: another shape, or no topic partition at all.
    """
    shape = '{"orders": [0, 1]}'
    assigned: set[TopicPartition] = set()
    for topic, partitions in _json_object("assign", text, shape).items():
        if not isinstance(partitions, list) or not all(map(_is_partition, partitions)):
            raise _refused(
                "assign", {topic: partitions}, f"write topics and their partitions as {shape}"
            )
        assigned.update((topic, partition) for partition in partitions)
    if not assigned:
        raise UsageError(f"option assign: {text}: names no topic partition")
    return frozenset(assigned)


def parse_starting_offsets(text: str) -> dict[TopicPartition, int] | None:
    """Where to start each topic partition; None is at the earliest offset of every one.

    Raises:
        UsageError: invalid offsets, or ``latest``, which the Kafka source refuses too.
    """
    if text.strip().lower() == "latest":
        raise UsageError(
            "option startingOffsets: latest: a batch read ends there; write earliest, or offsets "
            "as JSON"
        )
    if text.strip().lower() == "earliest":
        return None
    offsets = parse_offsets("startingOffsets", text, "earliest")
    for topic_partition, offset in offsets.items():
        if offset == LATEST:
            raise _refused(
                "startingOffsets",
                _as_json(topic_partition, offset),
                "-1 (latest): a batch read ends there; write an offset, or -2 (earliest)",
            )
    return offsets


def parse_ending_offsets(text: str) -> dict[TopicPartition, int] | None:
    """The offset before which each topic partition ends; None is the end of every log.

    Raises:
        UsageError: invalid offsets, or ``earliest``, which the Kafka source refuses too.
    """
    if text.strip().lower() == "earliest":
        raise UsageError(
            "option endingOffsets: earliest: every log begins there; write latest, or offsets as "
            "JSON"
        )
    if text.strip().lower() == "latest":
        return None
    offsets = parse_offsets("endingOffsets", text, "latest, highWatermark, lastStableOffset")
    for topic_partition, offset in offsets.items():
        if offset == EARLIEST:
            raise _refused(
                "endingOffsets",
                _as_json(topic_partition, offset),
                "-2 (earliest): the log begins there; write an offset, or -1 (latest)",
            )
    return offsets


def parse_timestamps(option: str, text: str) -> dict[TopicPartition, int]:
    """The milliseconds since 1970 UTC of ``{"orders": {"0": 1795240800000}}``.

    Raises:
        UsageError: another shape.
    """
    shape = '{"orders": {"0": 1795240800000}}'
    times: dict[TopicPartition, int] = {}
    for topic, of_partitions in _json_object(option, text, shape).items():
        if not isinstance(of_partitions, dict):
            raise _refused(option, {topic: of_partitions}, f"write times as {shape}")
        for number, time in of_partitions.items():
            partition = _partition_number(option, topic, number, time)
            if type(time) is not int or not is_time(time):
                raise _refused(option, {topic: {number: time}}, TIME_MEANING)
            times[topic, partition] = milliseconds(time)
    return times


def is_time(time: int) -> bool:
    """Whether it is a time, or stands for either end of a log.

    Brokers refuse other negative numbers, or mean something else by them. Source: Kafka 4.4,
    ListOffsetsRequest.
    """
    return EARLIEST <= time <= MAX_OFFSET


def parse_offsets(
    option: str, text: str, words: str = "earliest, latest"
) -> dict[TopicPartition, int]:
    """The offsets of ``{"orders": {"0": 23, "1": -2}}``, -1 and -2 among them.

    Args:
        option: its name.
        text: its value.
        words: what may be written instead of JSON.

    Raises:
        UsageError: another shape.
    """
    either_end = LATEST if option == "endingOffsets" else EARLIEST
    shape = f'{{"orders": {{"0": 23, "1": {either_end}}}}}'
    offsets: dict[TopicPartition, int] = {}
    for topic, of_partitions in _json_object(option, text, shape, f"{words} or ").items():
        if not isinstance(of_partitions, dict):
            raise _refused(option, {topic: of_partitions}, f"write offsets as {shape}")
        for number, offset in of_partitions.items():
            partition = _partition_number(option, topic, number, offset)
            if type(offset) is not int or not EARLIEST <= offset <= MAX_OFFSET:
                raise _refused(
                    option,
                    {topic: {number: offset}},
                    "an offset is 0 or greater, -2 (earliest) or -1 (latest)",
                )
            offsets[topic, partition] = offset
    return offsets


def _partition_number(option: str, topic: str, number: str, value: object) -> int:
    digits = _PARTITION.fullmatch(number)  # a longer number would cost time
    if digits is None or not _is_partition(found := int(digits[0])):
        raise _refused(option, {topic: {number: value}}, f"{number!r} is not a partition number")
    return found


def _json_object(option: str, text: str, shape: str, besides: str = "") -> dict[str, Any]:
    try:
        value = json.loads(text)  # of a name that is there twice, the last value counts there, too
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"option {option}: {text}: write {besides}JSON like {shape}")
    return value


def _is_partition(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_PARTITION  # True is an int to isinstance


def _as_json(topic_partition: TopicPartition, offset: int) -> dict[str, dict[str, int]]:
    topic, partition = topic_partition
    return {topic: {str(partition): offset}}


def _refused(option: str, part: object, problem: str) -> UsageError:
    return UsageError(f"option {option}: {json.dumps(part)}: {problem}")
