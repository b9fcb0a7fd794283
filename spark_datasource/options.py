"""The options of one ``spark.read``, parsed once, into what is asked of the table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader import registry
from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.names import INTERNAL_TOPICS, MAX_PARTITION
from kafkalog_reader.tables.java_pattern import java_pattern
from kafkalog_reader.tables.option_values import parse_count, parse_flag, parse_size
from kafkalog_reader.tables.options import CONSUMER_VIEW, OPTIONS, check_ranges
from kafkalog_reader.tables.request import ReadRequest
from spark_datasource.offset_range import (
    OffsetRange,
    StreamStart,
    parse_offset_range,
    parse_stream_start,
)
from spark_datasource.option_names import (
    OF_STREAMS,
    READING,
    canonical,
    check_applicable,
    unused,
)
from spark_datasource.paths import parse_metrics_path, parse_paths
from spark_datasource.projection import parse_columns
from spark_datasource.topic_partitions import parse_assign

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.tables.request import TopicPartition
    from kafkalog_reader.tables.table import AnyTable

_DURATION: Final = re.compile(r"([0-9]{1,9})\s*(ms|s|m|min|h)?", re.ASCII)
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_SPELLED: Final = {option: name for name, option in READING.items()}
_TOPIC_CHOICES: Final = ("subscribe", "subscribePattern", "assign")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the options of one read say.

    Attributes:
        table: its name.
        paths: absolute, globs and ``N=`` as given: executors have other working directories.
        columns: names in the order wanted; None is every column.
        has_columns: whether the option ``columns`` was given.
        cluster_id: only what is of this cluster; None is all.
        metrics_path: absolute; the folder in which each task writes what it read.
        unused: names of options without a meaning for files.
        named: the topic partitions that each JSON option names: they must be all that are read.
        min_partitions: how many tasks there should be at least; None leaves it to the sizes.
        request: everything about rows; its columns come later, from Spark's schema.
    """

    table: str
    paths: tuple[str, ...]
    columns: tuple[str, ...] | None
    has_columns: bool
    cluster_id: str | None
    follow_links: bool
    metrics_path: str | None
    min_partitions: int | None
    unused: tuple[str, ...]
    named: Mapping[str, frozenset[TopicPartition]]
    request: ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """The parsed options of one ``spark.readStream``.

    Attributes:
        source: the options that a batch has, too.
        start: where a new query begins.
        max_offsets, max_bytes: the most that one trigger reads; None is no limit.
        min_offsets: how many it waits for, but not longer than ``max_delay`` seconds; a maximum
            may be given, too.
    """

    source: SourceOptions
    start: StreamStart
    max_offsets: int | None
    max_bytes: int | None
    min_offsets: int | None
    max_delay: float


def parse_options(options: Mapping[str, str]) -> SourceOptions:
    """Check and translate the options of a batch; nothing is opened.

    Raises:
        UsageError: an unknown option, or a value that makes no sense; the message says which.
    """
    given = canonical(options)
    return _source_options(given, parse_offset_range(given), unused(options))


def parse_stream_options(options: Mapping[str, str]) -> StreamOptions:
    """Check and translate the options of a stream; nothing is opened.

    Raises:
        UsageError: an unknown option, or a value that makes no sense; the message says which.
    """
    given = canonical(options, *OF_STREAMS)
    start = parse_stream_start(given)
    found = StreamOptions(
        source=_source_options(given, start.bounds, unused(options, *OF_STREAMS)),
        start=start,
        max_offsets=_positive(given, "maxOffsetsPerTrigger", MAX_OFFSET),
        max_bytes=_size(given, "maxBytesPerTrigger"),
        min_offsets=_positive(given, "minOffsetsPerTrigger", MAX_OFFSET),
        max_delay=_seconds(given, "maxTriggerDelay", 15 * 60.0),
    )
    if found.max_offsets is not None and found.max_bytes is not None:
        raise UsageError(
            "options maxOffsetsPerTrigger and maxBytesPerTrigger exclude each other: give one of "
            "them"
        )
    least, most = found.min_offsets, found.max_offsets
    if least is not None and most is not None and least > most:
        raise OptionError("minOffsetsPerTrigger", "it is above maxOffsetsPerTrigger")
    if found.source.table != "records":
        raise UsageError(f"table {found.source.table} cannot be streamed: only records can")
    if found.source.request.replica == "all":
        raise OptionError("replica", "a stream reads one copy of each partition, not all")
    if found.source.request.last is not None:
        raise OptionError("last", "a stream has no end to count from: read a batch")
    if found.source.request.leftovers:
        raise OptionError("leftovers", "a stream follows logs, of which they are no part")
    return found


def _source_options(
    given: Mapping[str, str], offsets: OffsetRange, without_meaning: tuple[str, ...]
) -> SourceOptions:
    table = registry.table(given.get("table", "records"))
    check_applicable(given, table)
    return SourceOptions(
        table=table.name,
        paths=parse_paths(given),
        columns=parse_columns(
            given.get("columns"), table, with_headers=_flag(given, "includeHeaders")
        ),
        has_columns="columns" in given,
        cluster_id=given.get("clusterId"),
        follow_links=_flag(given, "followLinks"),
        metrics_path=parse_metrics_path(given),
        min_partitions=_positive(given, "minPartitions", MAX_PARTITION),
        unused=without_meaning,
        named=offsets.named,
        request=_request(given, table, offsets),
    )


def _request(given: Mapping[str, str], table: AnyTable, offsets: OffsetRange) -> ReadRequest:
    chosen = [name for name in _TOPIC_CHOICES if name in given]
    if len(chosen) > 1:
        raise UsageError(f"options {' and '.join(chosen)} exclude each other: give one of them")
    is_records = table.name == "records"
    is_pattern = is_records and "subscribePattern" in given
    fields: dict[str, Any] = {
        "topics": _topics(given),
        "topic_pattern": _topic_pattern(given),
        # The Kafka source finds no internal topic by a pattern: Admin.listTopics hides them.
        "excluded_topics": INTERNAL_TOPICS if is_pattern else frozenset(),
        "assigned": parse_assign(given["assign"]) if "assign" in given else None,
        **offsets.fields,
        **(CONSUMER_VIEW if is_records else {}),
        "fail_on_data_loss": parse_flag("failOnDataLoss", given.get("failOnDataLoss", "true")),
        "offsets_from_headers": is_records,
        "max_records_per_unit": _positive(given, "maxRecordsPerPartition", MAX_OFFSET),
    }
    for name, text in given.items():
        if name in READING:
            option = OPTIONS[READING[name]]
            fields[option.field] = option.kind.parse(name, text)
    check_ranges(fields, _SPELLED)
    if is_records:
        fields["log_range_only"] = _shows_consumer_range(given)
    return ReadRequest(**fields)


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
    if not pattern:
        raise OptionError("subscribePattern", "it is empty: write a regular expression")
    try:
        java_pattern(pattern)
    except UsageError as error:
        raise UsageError(f"option subscribePattern: {error}") from None
    return pattern


def _flag(given: Mapping[str, str], option: str) -> bool:
    return option in given and parse_flag(option, given[option])


def _shows_consumer_range(given: Mapping[str, str]) -> bool:
    """Whether records below the log start are left out, as consumers never see them."""
    value = given.get("logRange", "consumer").strip().lower()
    if value not in ("consumer", "all"):
        raise OptionError("logRange", f"{given['logRange']!r} is neither consumer nor all")
    return value == "consumer"


def _size(given: Mapping[str, str], option: str) -> int | None:
    return parse_size(option, given[option]) if option in given else None


def _seconds(given: Mapping[str, str], option: str, default: float) -> float:
    """A time as in Spark's settings: 15m, 30s, 500ms."""
    if option not in given:
        return default
    found = _DURATION.fullmatch(given[option].strip().lower())
    if found is None:
        raise OptionError(option, f"{given[option]!r} is not a time: write 15m, 30s or 500ms")
    return int(found[1]) * _UNITS[found[2] or "ms"]


def _positive(given: Mapping[str, str], option: str, greatest: int) -> int | None:
    if option not in given:
        return None
    try:
        count = parse_count(option, given[option])
    except OptionError:
        count = None
    if count is None or not 0 < count <= greatest:
        raise OptionError(option, f"{given[option]!r} is not a number from 1 to {greatest}")
    return count
