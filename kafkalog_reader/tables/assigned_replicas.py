"""Which brokers have each partition, by the metadata log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.partition_states import PartitionStatesTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence


def assigned_replicas(evidence: Evidence) -> dict[tuple[str | None, str, int], tuple[int, ...]]:
    """Node ids of the replicas by cluster id, topic and partition; empty without a metadata log."""
    table, request = PartitionStatesTable(), ReadRequest(mode=Mode.PERMISSIVE)
    found: dict[tuple[str | None, str, int], tuple[int, ...]] = {}
    for unit in table.units(evidence, request):
        for part in table.read(unit, request):
            for row in part.to_pylist():
                if row["endOffset"] is None and row["change"] != "removed":
                    place = row["clusterId"], row["topic"], row["partition"]
                    found[place] = tuple(row["replicas"] or ())
    return found
