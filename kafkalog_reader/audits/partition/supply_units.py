"""Adds to the units of findings which replicas were not supplied."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.partial_copy import is_part_of_log_directory
from kafkalog_reader.audits.partition.supply_findings import assigned_supply, suggested_supply
from kafkalog_reader.io.names import METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.io.evidence import Evidence


def with_supply(units: Iterable[PartitionUnit], evidence: Evidence) -> Iterator[PartitionUnit]:
    """Yield the units of each topic once all of them are known.

    Args:
        units: sorted by topic.
        evidence: which brokers were supplied completely; nothing is missing from a partial copy.
    """
    brokers: dict[str | None, set[int]] = defaultdict(set)
    for root in evidence.roots:
        if root.broker_id is not None and not is_part_of_log_directory(root):
            brokers[root.cluster_id].add(root.broker_id)
    for topic, of_topic in groupby(units, key=lambda unit: unit.directories[0].topic):
        same = list(of_topic)
        replicas: dict[str | None, int] = defaultdict(int)
        for unit in same:
            cluster_id = unit.directories[0].log_directory.cluster_id
            replicas[cluster_id] = max(replicas[cluster_id], len(unit.directories))
        for unit in same:
            cluster_id = unit.directories[0].log_directory.cluster_id
            here = frozenset(brokers[cluster_id])
            if unit.membership is not None:
                supply = assigned_supply(unit.membership, unit.directories, here)
            elif topic is None or topic == METADATA_TOPIC or unit.topics is not None:
                yield unit  # a metadata log assigns the partition to nobody
                continue
            else:
                supply = suggested_supply(unit.directories, replicas[cluster_id], here)
            yield replace(unit, supply=supply)
