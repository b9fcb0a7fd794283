"""The options of ``format("kafkalog")``: names, where they apply, and refused names."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UsageError
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.tables.table import AnyTable

logger = logging.getLogger(__name__)

# What Spark has besides the options of reading, by name, and for which tables; None is all.
# Spark itself adds `path` for load(a) and `paths`, as JSON, for load([a]).
_OF_SPARK: Final[dict[str, frozenset[str] | None]] = {
    "path": None, "paths": None, "followLinks": None, "metricsPath": None,
    "table": None, "columns": None, "minPartitions": None, "clusterId": None,
    "subscribe": None, "subscribePattern": None, "assign": None,
    "startingOffsets": OPTIONS["from_offset"].tables, "endingOffsets": OPTIONS["to_offset"].tables,
    **dict.fromkeys((
        "startingTimestamp", "startingOffsetsByTimestamp", "startingOffsetsByTimestampStrategy",
        "endingTimestamp", "endingOffsetsByTimestamp", "failOnDataLoss",
        "maxRecordsPerPartition", "logRange", "includeHeaders",
    ), frozenset({"records"})),
}  # fmt: skip
READING: Final = {option.spark: name for name, option in OPTIONS.items() if option.spark}
"""The Python names of the options of reading that Spark has, by their names there."""
KNOWN: Final = (*_OF_SPARK, *READING)

# What Spark has instead of options of Python and the terminal, by their names in lower case.
_ELSEWHERE: Final = {
    **{name: f"here it is {spark!r}" for spark, name in READING.items()},
    **dict.fromkeys(("topic", "topics"), "here it is 'subscribe'"),
    **dict.fromkeys(("partition", "partitions"), "here it is 'assign'"),
    **dict.fromkeys(("offset", "offsets"), "use 'startingOffsets' and 'endingOffsets'"),
    "from_offset": "here it is 'startingOffsets'", "to_offset": "here it is 'endingOffsets'",
    "log_range_only": "here it is 'logRange'", "follow_links": "here it is 'followLinks'",
    "limit": "use limit() of the DataFrame", "cluster": "here it is 'clusterId'",
    **dict.fromkeys(("broker", "brokers", "brokerid"), "use 'replica', such as broker:2"),
}  # fmt: skip

# Options of streams, which Spark's Kafka source ignores in a batch read, with a warning.
OF_STREAMS: Final = (
    "maxOffsetsPerTrigger", "maxBytesPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay",
)  # fmt: skip

# Options of consumers that Spark's Kafka source refuses, and what to write instead.
_REFUSED: Final = {
    "kafka.auto.offset.reset": "startingOffsets says where to start",
    "kafka.key.deserializer": "keys are bytes: use DataFrame operations on them",
    "kafka.value.deserializer": "values are bytes: use DataFrame operations on them",
    "kafka.enable.auto.commit": "nothing is committed here",
    "kafka.interceptor.classes": "interceptors may change records",
}

# Options of Spark's Kafka source about talking to a broker, besides all others that begin with
# `kafka.`: they mean nothing for files, and a query that is moved here still has them.
BROKER_ONLY: Final = (
    "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
)  # fmt: skip


def canonical(options: Mapping[str, str], *more: str) -> dict[str, str]:
    """The options under the names they have in the documentation; Spark ignores their case.

    Those without a meaning for files are left out: see ``unused``.

    Args:
        options: as given.
        more: names that are known besides those of a batch.

    Raises:
        UsageError: options that are not known, or that the Kafka source refuses; the message names
            all of them.
    """
    known = {name.lower(): name for name in (*KNOWN, *more)}
    refused = [name for name in options if _is_refused(name, known)]
    if refused:
        said = [_refusal(name, known) for name in refused]
        is_near_none = any(_is_unlike_all(name, known) for name in refused)
        listed = f". There are: {', '.join(known.values())}" if is_near_none else ""
        raise UsageError("; ".join(said) + listed)
    return {known[n.lower()]: value for n, value in options.items() if n.lower() in known}


def unused(options: Mapping[str, str], *more: str) -> tuple[str, ...]:
    """Options about talking to brokers or continuing a stream, which files do not need."""
    known = {name.lower() for name in (*KNOWN, *more)}
    return tuple(sorted(name for name in options if name.lower() not in known))


def warn_of_unused(names: Sequence[str]) -> None:
    """Name the options that ``unused`` found, each kind with its reason."""
    spelled = {name.lower(): name for name in (*OF_STREAMS, *BROKER_ONLY)}  # Spark's are lower case
    given = [spelled.get(name.lower(), name) for name in names]
    streaming = [name for name in given if name in OF_STREAMS]
    others = [name for name in given if name not in OF_STREAMS]
    if others:
        logger.warning(
            "ignored, because kafkalog reads files and contacts no broker: %s", ", ".join(others)
        )
    if streaming:
        logger.warning("ignored, because only streams have triggers: %s", ", ".join(streaming))


def check_applicable(given: Mapping[str, str], table: AnyTable) -> None:
    """Refuse options that this table would silently ignore.

    Raises:
        UsageError: options that other tables have; the message names all of them.
    """
    wrong = [name for name in given if not applies(name, table)]
    if wrong:
        names = f"option {wrong[0]} does" if len(wrong) == 1 else f"options {', '.join(wrong)} do"
        raise UsageError(f"{names} not apply to table {table.name}")


def applies(name: str, table: AnyTable) -> bool:
    """Whether a table has an option, by its name in the documentation."""
    if name in OF_STREAMS:
        return table.name == "records"
    tables = OPTIONS[READING[name]].tables if name in READING else _OF_SPARK[name]
    return tables is None or table.name in tables


def _is_refused(name: str, known: Mapping[str, str]) -> bool:
    if name.lower() in known:
        return False
    return name.lower() in _REFUSED or not _is_without_meaning(name)


def _is_without_meaning(name: str) -> bool:
    others = map(str.lower, (*BROKER_ONLY, *OF_STREAMS))
    return name.lower().startswith("kafka.") or name.lower() in others


def _refusal(name: str, known: Mapping[str, str]) -> str:
    if name.lower() in _REFUSED:
        return f"option {name} is refused, as by Spark's Kafka source: {_REFUSED[name.lower()]}"
    elsewhere = _ELSEWHERE.get(name.lower())
    hint = f": {elsewhere}" if elsewhere else nearest(name, known.values())
    return f"no option named {name!r}{hint}"


def _is_unlike_all(name: str, known: Mapping[str, str]) -> bool:
    return name.lower() not in {*_REFUSED, *_ELSEWHERE} and not nearest(name, known.values())
