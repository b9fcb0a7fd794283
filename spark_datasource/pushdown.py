"""Filters that Spark hands down, as far as they narrow what must be read.

Needs a Spark in which every scan has a plan of its own; see ``source``.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from spark_datasource.reader import KafkaLogReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql.datasource import Filter

    from kafkalog_reader.tables.request import ReadRequest

# Tables whose rows come from one replica each. The others compare replicas: to leave one out would
# change what is said about the rest.
ONE_REPLICA_TABLES: Final = frozenset({
    "records", "batches", "segments", "replicas", "offset_index", "time_index",
    "transaction_index", "leader_epochs", "producers", "checkpoints", "gaps",
})  # fmt: skip
NEVER_NULL: Final = frozenset({"offset", "timestamp"})
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
INT32: Final = (-(2**31), 2**31 - 1)
INT64: Final = (-(2**63), 2**63 - 1)

Bounds = tuple[int | None, int | None]
"""Lowest and highest value that pass; None is unbounded."""


class FilteringReader(KafkaLogReader):
    """A reader that takes filters; Spark refuses it where filter pushdown is switched off."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802  Spark's name
        """Narrow the request and yield the filters that Spark must still apply to each row."""
        for pushed in filters:
            narrowed = narrow(self.options.table, self.request, pushed)
            if narrowed is not None:
                self.request = narrowed
            if narrowed is None or not is_exact(self.options.table, pushed):
                yield pushed

    def pushLimit(self, limit: int) -> bool:  # noqa: N802  Spark's name
        """Let each task end after so many rows; Spark limits their total. Source: SPARK-58551."""
        self.request = replace(self.request, limit=limit)
        return True


def narrow(table: str, request: ReadRequest, pushed: Filter) -> ReadRequest | None:
    """The request with everything left out that fails this filter; None if it is not understood.

    A narrowed request may still read rows that fail the filter, never lose one that passes.
    """
    column = _column(pushed)
    if column == "topic" and (topics := _values(pushed, str)) is not None:
        return replace(request, topics=_both(request.topics, topics))
    if column == "partition" and (partitions := _values(pushed, int)) is not None:
        return replace(request, partitions=_both(request.partitions, partitions))
    if column == "brokerId" and (brokers := _values(pushed, int)) is not None:
        return _narrow_brokers(table, request, brokers)
    if table != "records":
        return None
    if column in NEVER_NULL and isinstance(pushed, IsNotNull):
        return request
    if column == "offset" and (bounds := _bounds(pushed, INT64)) is not None:
        return _narrow_offsets(request, *bounds)
    if column == "leaderEpoch" and (bounds := _bounds(pushed, INT32)) is not None:
        return _narrow_leader_epochs(request, *bounds)
    if column == "timestamp":
        return _narrow_timestamps(request, pushed)
    return None


def is_exact(table: str, pushed: Filter) -> bool:
    """Whether a narrowed request yields only rows that pass this filter.

    Whole replicas are chosen by topic, partition and broker. Rows are left to Spark to test once
    more, which costs next to nothing.
    """
    column = _column(pushed)
    return table == "records" and (
        column in ("topic", "partition", "brokerId") or isinstance(pushed, IsNotNull)
    )


def _narrow_brokers(
    table: str, request: ReadRequest, brokers: frozenset[int]
) -> ReadRequest | None:
    if table not in ONE_REPLICA_TABLES or request.replica == "best":
        return None  # the best copy of all is not the best among some
    return replace(request, brokers=_both(request.brokers, brokers))


def _narrow_offsets(request: ReadRequest, low: int | None, high: int | None) -> ReadRequest:
    if low is not None:
        request = replace(request, from_offset=max(low, request.from_offset or 0))
    if high is not None:
        stop = min(max(high + 1, 0), INT64[1])
        request = replace(request, to_offset=_smaller(stop, request.to_offset))
    return request


def _narrow_leader_epochs(request: ReadRequest, low: int | None, high: int | None) -> ReadRequest:
    if low is not None:
        request = replace(request, min_leader_epoch=_greater(low, request.min_leader_epoch))
    if high is not None:
        request = replace(request, max_leader_epoch=_smaller(high, request.max_leader_epoch))
    return request


def _narrow_timestamps(request: ReadRequest, pushed: Filter) -> ReadRequest | None:
    """Spark compares microseconds, Kafka keeps milliseconds: round so that no row is lost."""
    bounds = _bounds(_in_microseconds(pushed), INT64)
    if bounds is None:
        return None
    low, high = bounds
    if low is not None:
        start = -(-low // 1000)
        request = replace(request, from_timestamp=_greater(start, request.from_timestamp))
    if high is not None:
        stop = high // 1000 + 1
        request = replace(request, to_timestamp=_smaller(stop, request.to_timestamp))
    return request


def _column(pushed: Filter) -> str | None:
    path: tuple[str, ...] = getattr(pushed, "attribute", ())  # Not has none
    return path[0] if len(path) == 1 else None


def _values(pushed: Filter, wanted: type[Any]) -> frozenset[Any] | None:
    """The values that the column may have; null equals none of them."""
    if isinstance(pushed, In):
        values = [value for value in pushed.value if value is not None]
    elif isinstance(pushed, (EqualTo, EqualNullSafe)):
        values = [pushed.value]
    else:
        return None
    return frozenset(values) if all(type(value) is wanted for value in values) else None


def _bounds(pushed: Filter | None, limits: tuple[int, int]) -> Bounds | None:
    """The range of whole numbers that contains all values that pass."""
    if pushed is None:
        return None
    if (values := _values(pushed, int)) is not None:
        low, high = min(values, default=limits[1]), max(values, default=limits[0])
    else:
        value = getattr(pushed, "value", None)
        if type(value) is not int:
            return None
        low, high = limits
        if isinstance(pushed, (GreaterThan, GreaterThanOrEqual)):
            low = value + isinstance(pushed, GreaterThan)
        elif isinstance(pushed, (LessThan, LessThanOrEqual)):
            high = value - isinstance(pushed, LessThan)
        else:
            return None
    # a bound at or beyond a limit is none, and one on the wrong side is the limit
    lowest = None if low <= limits[0] else min(low, limits[1])
    highest = None if high >= limits[1] else max(high, limits[0])
    return lowest, highest


def _in_microseconds(pushed: Filter) -> Filter | None:
    """The same comparison with its moments as whole numbers; None if it has none."""
    value: Any = getattr(pushed, "value", None)
    moments = value if isinstance(pushed, In) else [value]
    numbers = []
    for moment in moments:
        if isinstance(pushed, In) and moment is None:
            continue
        if not isinstance(moment, datetime) or moment.tzinfo is None:
            return None
        numbers.append((moment - EPOCH) // MICROSECOND)
    kind: Any = type(pushed)
    translated: Filter = kind(
        attribute=("timestamp",), value=numbers if isinstance(pushed, In) else numbers[0]
    )
    return translated


def _both(one: frozenset[Any] | None, other: frozenset[Any]) -> frozenset[Any]:
    return other if one is None else one & other


def _smaller(one: int, other: int | None) -> int:
    return one if other is None else min(one, other)


def _greater(one: int, other: int | None) -> int:
    return one if other is None else max(one, other)
