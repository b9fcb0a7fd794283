"""Cut a read into Spark tasks: units of work, small ones together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import InputPartition

from kafkalog_reader.errors import UsageError
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.table import Table, Unit

OPEN_COST: Final = 1 << 20
"""What opening a unit costs, in bytes that could be read instead: ten thousand empty segments are
work too."""


@dataclass(frozen=True)
class PackedUnits(InputPartition):
    """What one task reads, one after another: plain values, because Spark pickles them."""

    units: tuple[Unit, ...]


def plan(
    table: Table, evidence: Evidence, request: ReadRequest, min_partitions: int | None = None
) -> list[PackedUnits]:
    """Cut the whole table into tasks of about ``request.max_partition_bytes``.

    Args:
        table: what is read.
        evidence: where from.
        request: what is asked of it.
        min_partitions: smaller tasks, where that makes so many of them; a hint, as in Spark's
            Kafka source: what cannot be cut stays whole.
    """
    units = list(table.units(evidence, request))
    target = request.max_partition_bytes
    if min_partitions is not None:
        share = max(1, sum(map(_cost, units)) // min_partitions)
        target = min(target, share)
        if any(unit.size_in_bytes > target for unit in units):
            units = list(table.units(evidence, replace(request, max_partition_bytes=target)))
    return [PackedUnits(packed) for packed in _pack(units, target)]


def check_selection(evidence: Evidence, request: ReadRequest) -> None:
    """Refuse what was named and is not there: no rows is no answer.

    Raises:
        UsageError: the broker of ``replica``, or a topic or partition of ``subscribe``, ``assign``
            or one of the offsets.
    """
    numbers = {root.broker_id for root in evidence.log_directories}
    brokers = sorted(number for number in numbers if number is not None)
    if request.replica.startswith("broker:") and int(request.replica[7:]) not in brokers:
        there = ", ".join(map(str, brokers)) or "none known by its number"
        raise UsageError(f"option replica: {request.replica}: brokers in what was given: {there}")
    named = {*request.starting_offsets, *request.ending_offsets, *(request.assigned or ())}
    topics = {topic for topic, _ in named} | set(request.topics or ())
    if not topics:
        return
    everything = evidence.partition_directories(ReadRequest())
    found = {(directory.topic, directory.partition) for directory in everything}
    known = {topic for topic, _ in found if topic is not None}
    for topic in sorted(topics - known):
        raise UsageError(f"no topic {topic!r} in what was given{nearest(topic, known)}")
    for topic, partition in sorted(named):
        if (topic, partition) not in found:
            raise UsageError(f"no partition {partition} of topic {topic!r} in what was given")
        if not request.selects(topic, partition):
            raise UsageError(f"offsets are given for {topic}-{partition}, which is not subscribed")


def _pack(units: Iterable[Unit], target: int) -> Iterator[tuple[Unit, ...]]:
    packed: list[Unit] = []
    cost = 0
    for unit in units:
        if packed and cost + _cost(unit) > target:
            yield tuple(packed)
            packed, cost = [], 0
        packed.append(unit)
        cost += _cost(unit)
    if packed:
        yield tuple(packed)


def _cost(unit: Unit) -> int:
    return unit.size_in_bytes + OPEN_COST
