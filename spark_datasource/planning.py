"""Split a read into Spark tasks: units of work, small ones combined."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from kafkalog_reader.tables.log_shares import OPEN_COST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import AnyTable, Unit


@dataclass(frozen=True)
class PackedUnits(InputPartition):
    """What one task reads, one after another: plain values, because Spark pickles them."""

    units: tuple[Unit, ...]


def plan(
    table: AnyTable, evidence: Evidence, request: ReadRequest, min_partitions: int | None = None
) -> list[PackedUnits]:
    """Cut the whole table into tasks of about ``request.max_partition_bytes``.

    Args:
        table: what is read.
        evidence: where from.
        request: what is asked of it.
        min_partitions: smaller tasks, to make at least this many; a hint, as in Spark's
            Kafka source: what cannot be cut stays whole.
    """
    with _no_garbage_collection():
        return cut(lambda asked: table.units(evidence, asked), request, min_partitions)


def cut(
    units_of: Callable[[ReadRequest], Iterable[Unit]],
    request: ReadRequest,
    min_partitions: int | None,
) -> list[PackedUnits]:
    """Cut what any source of units yields, as ``plan`` does.

    Args:
        units_of: yields units for a request; called again if smaller ones are needed.
        request: what is asked.
        min_partitions: as for ``plan``.
    """
    units = list(units_of(request))
    target = request.max_partition_bytes
    if min_partitions is not None:
        share = max(1, sum(map(_cost, units)) // min_partitions)
        target = min(target, share)
        if any(unit.size_in_bytes > target for unit in units):
            units = list(units_of(replace(request, max_partition_bytes=target)))
        if len(units) < min_partitions:  # of many small segments or folders
            units = [part for unit in units for part in unit.parts()]
    if request.max_records_per_unit is not None:  # together they would hold more
        return [PackedUnits((unit,)) for unit in units]
    return [PackedUnits(packed) for packed in pack(units, target)]


def pack(units: Iterable[Unit], target: int) -> Iterator[tuple[Unit, ...]]:
    """Yield units together until they cost as much as a task should."""
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


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Leave objects alone meanwhile: the millions of a large plan all stay, and form no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _cost(unit: Unit) -> int:
    return unit.size_in_bytes + OPEN_COST * unit.opened
