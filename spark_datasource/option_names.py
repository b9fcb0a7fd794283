"""The options of ``format("kafkalog")``: names, where they apply, and refused names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UsageError
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.tables.table import Table

# What Spark has besides the options of reading, by name, and for which tables; None is all.
# Spark itself adds `path` for load(a) and `paths`, as JSON, for load([a]).
_OF_SPARK: Final[dict[str, frozenset[str] | None]] = {
    "path": None, "paths": None, "followLinks": None, "table": None, "columns": None,
    "subscribe": None, "subscribePattern": None, "assign": None, "minPartitions": None,
    "startingOffsets": OPTIONS["from_offset"].tables, "endingOffsets": OPTIONS["to_offset"].tables,
    "includeHeaders": frozenset({"records"}),
}  # fmt: skip
READING: Final = {option.spark: name for name, option in OPTIONS.items() if option.spark}
"""The Python names of the options of reading that Spark has, by their names there."""
KNOWN: Final = (*_OF_SPARK, *READING)

# Options of Spark's Kafka source with a meaning for files that is not implemented yet. To ignore
# one would be to answer another question than the one asked.
NOT_YET: Final = (
    "endingOffsetsByTimestamp", "endingTimestamp", "failOnDataLoss", "maxOffsetsPerTrigger",
    "maxRecordsPerPartition", "maxTriggerDelay", "minOffsetsPerTrigger",
    "startingOffsetsByTimestamp", "startingOffsetsByTimestampStrategy", "startingTimestamp",
    "until",
)  # fmt: skip

# Options of Spark's Kafka source about talking to a broker, besides all others that begin with
# `kafka.`: they mean nothing for files, and a query that is moved here still has them.
BROKER_ONLY: Final = (
    "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
)  # fmt: skip


def canonical(options: Mapping[str, str]) -> dict[str, str]:
    """The options under the names they have in the documentation; Spark ignores their case.

    Those about talking to brokers are left out: see ``about_brokers``.

    Raises:
        UsageError: an option that is not known; the message names the nearest that is.
    """
    known = {name.lower(): name for name in KNOWN}
    for name in options:
        if name.lower() not in known and not _is_about_brokers(name):
            raise UsageError(_refusal(name))
    return {known[n.lower()]: value for n, value in options.items() if n.lower() in known}


def about_brokers(options: Mapping[str, str]) -> tuple[str, ...]:
    """The options that say how to talk to brokers, which files do not need."""
    known = {name.lower() for name in KNOWN}
    return tuple(
        sorted(name for name in options if name.lower() not in known and _is_about_brokers(name))
    )


def check_applicable(given: Mapping[str, str], table: Table) -> None:
    """Refuse what this table would silently ignore.

    Raises:
        UsageError: an option that another table has.
    """
    for name in given:
        tables = OPTIONS[READING[name]].tables if name in READING else _OF_SPARK[name]
        if tables is not None and table.name not in tables:
            raise UsageError(f"option {name} does not apply to table {table.name}")


def _is_about_brokers(name: str) -> bool:
    return name.lower().startswith("kafka.") or name.lower() in map(str.lower, BROKER_ONLY)


def _refusal(name: str) -> str:
    for later in NOT_YET:
        if name.lower() == later.lower():
            return f"option {later} is not supported yet: leave it out to read all there is"
    hint = nearest(name, KNOWN) or f". There are: {', '.join(KNOWN)}"
    return f"no option named {name!r}{hint}"
