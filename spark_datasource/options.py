"""The options of one ``spark.read``, parsed once, into what is asked of the table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader import registry
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.names import INTERNAL_TOPICS, METADATA_TOPIC
from kafkalog_reader.tables.java_pattern import java_pattern
from kafkalog_reader.tables.option_values import (
    parse_isolation,
    parse_mode,
    parse_replica,
    parse_rule,
    timestamp_ms,
)
from kafkalog_reader.tables.request import Mode, ReadRequest
from spark_datasource.option_names import about_brokers, canonical, check_applicable
from spark_datasource.paths import parse_paths
from spark_datasource.projection import parse_columns
from spark_datasource.topic_partitions import (
    MAX_PARTITION,
    parse_assign,
    parse_ending_offsets,
    parse_starting_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.tables.table import Table

_TOPIC_CHOICES: Final = ("subscribe", "subscribePattern", "assign")
_SIZE: Final = re.compile(r"([1-9][0-9]{0,15})\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the options of one read say.

    Attributes:
        table: its name.
        paths: absolute, globs and ``N=`` as given: executors have other working directories.
        columns: names in the order wanted; None is every column.
        has_columns: whether the option ``columns`` was given.
        unused: names of options about talking to brokers.
        min_partitions: how many tasks there should be at least; None leaves it to the sizes.
        request: everything about rows; its columns come later, from Spark's schema.
    """

    table: str
    paths: tuple[str, ...]
    columns: tuple[str, ...] | None
    has_columns: bool
    follow_links: bool
    min_partitions: int | None
    unused: tuple[str, ...]
    request: ReadRequest


def parse_options(options: Mapping[str, str]) -> SourceOptions:
    """Check and translate the options; nothing is opened.

    Raises:
        UsageError: an unknown option, or a value that makes no sense; the message says which.
    """
    given = canonical(options)
    table = registry.table(given.get("table", "records"))
    check_applicable(given, table)
    return SourceOptions(
        table=table.name,
        paths=parse_paths(given),
        columns=parse_columns(
            given.get("columns"), table, with_headers=_flag(given, "includeHeaders")
        ),
        has_columns="columns" in given,
        follow_links=_flag(given, "followLinks"),
        min_partitions=_count(given, "minPartitions"),
        unused=about_brokers(options),
        request=_request(given, table),
    )


def _request(given: Mapping[str, str], table: Table) -> ReadRequest:
    chosen = [name for name in _TOPIC_CHOICES if name in given]
    if len(chosen) > 1:
        raise UsageError(f"options {' and '.join(chosen)} exclude each other: give one of them")
    is_records = table.name == "records"
    return ReadRequest(
        topics=_topics(given),
        topic_pattern=_topic_pattern(given),
        assigned=parse_assign(given["assign"]) if "assign" in given else None,
        excluded_topics=_excluded_topics(given) if is_records else frozenset(),
        starting_offsets=parse_starting_offsets(given.get("startingOffsets", "earliest")),
        ending_offsets=parse_ending_offsets(given.get("endingOffsets", "latest")),
        from_timestamp=_time(given, "fromTime"),
        to_timestamp=_time(given, "toTime"),
        replica=parse_replica(given.get("replica", "best" if is_records else "all")),
        log_range_only=is_records,
        include_control_records=_flag(given, "includeControlRecords") if is_records else True,
        isolation=_isolation(given),
        mode=parse_mode(given.get("mode", Mode.FAILFAST.value)),
        max_partition_bytes=_size(given, "maxPartitionBytes", ReadRequest().max_partition_bytes),
        max_batch_bytes=_size(given, "maxBatchBytes", 0) or None,
        deep=_flag(given, "deep"),
        rule=parse_rule(given["rule"]) if "rule" in given else None,
        started_at=_time(given, "startedAt"),
    )


def _topics(given: Mapping[str, str]) -> frozenset[str] | None:
    if "subscribe" not in given:
        return None
    topics = frozenset(name.strip() for name in given["subscribe"].split(",")) - {""}
    if not topics:
        raise UsageError(f"option subscribe: {given['subscribe']!r}: names no topic")
    return topics


def _topic_pattern(given: Mapping[str, str]) -> str | None:
    pattern = given.get("subscribePattern")
    if pattern is None:
        return None
    try:
        java_pattern(pattern)
    except UsageError as error:
        raise UsageError(f"option subscribePattern: {error}") from None
    return pattern


def _excluded_topics(given: Mapping[str, str]) -> frozenset[str]:
    """Spark's Kafka source finds no internal topic by a pattern: ``Admin.listTopics`` hides them.

    The quorum's log, which no consumer can read, shows only where it is named.
    """
    if "subscribe" in given or "assign" in given:
        return frozenset()
    return INTERNAL_TOPICS if "subscribePattern" in given else frozenset([METADATA_TOPIC])


def _isolation(given: Mapping[str, str]) -> str:
    option = "kafka.isolation.level"
    return parse_isolation(given.get(option, ReadRequest().isolation), option)


def _time(given: Mapping[str, str], option: str) -> int | None:
    return timestamp_ms(given[option].strip(), option) if option in given else None


def _flag(given: Mapping[str, str], option: str) -> bool:
    value = given.get(option, "false").strip().lower()
    if value not in ("true", "false"):
        raise UsageError(f"option {option}: {given[option]!r} is neither true nor false")
    return value == "true"


def _count(given: Mapping[str, str], option: str) -> int | None:
    if option not in given:
        return None
    value = given[option].strip()
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= MAX_PARTITION):
        raise UsageError(f"option {option}: {given[option]!r} is no positive number")
    return int(value)


def _size(given: Mapping[str, str], option: str, default: int) -> int:
    if option not in given:
        return default
    size = _SIZE.fullmatch(given[option].strip())
    if size is None:
        raise UsageError(f"option {option}: {given[option]!r} is no size: write 64m or bytes")
    return int(size[1]) * _UNITS[size[2].lower()]
