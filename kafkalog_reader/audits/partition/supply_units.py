"""Adds to the units of findings which replicas were not supplied."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.missing_directories import had_replica
from kafkalog_reader.audits.integrity.partial_copy import is_part_of_log_directory
from kafkalog_reader.audits.partition.other_cluster_copies import OtherClusterCopies
from kafkalog_reader.audits.partition.supply_findings import (
    Supply,
    assigned_supply,
    suggested_supply,
)
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.missing_directories import MissingDirectory
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.io.directories import Identity, LogDirectory, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence


def with_supply(
    units: Iterable[PartitionUnit], evidence: Evidence, missing: Sequence[MissingDirectory] = ()
) -> Iterator[PartitionUnit]:
    """Yield the units of each topic once all of them are known.

    Args:
        units: sorted by topic.
        evidence: which brokers were supplied completely; nothing is missing from a partial copy,
            and anything may be in a log directory that was skipped.
        missing: registered log directories that were not supplied.
    """
    brokers: dict[str | None, set[int]] = defaultdict(set)
    for root in () if evidence.skipped else evidence.roots:
        if root.broker_id is not None and not is_part_of_log_directory(root):
            brokers[root.cluster_id].add(root.broker_id)
    renamed, elsewhere = _Renamed(evidence), OtherClusterCopies(evidence, ReadRequest())
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
                if supply.absent or supply.lacking:
                    identity, topic_id = unit.directories[0].identity, unit.membership.topic_id
                    supply = supply.without(elsewhere.brokers(identity, topic_id))
            elif topic == METADATA_TOPIC:
                yield replace(unit, supply=_metadata_supply(unit, evidence))
                continue
            elif topic is None or unit.topics is not None:
                yield unit  # a metadata log assigns the partition to nobody
                continue
            else:
                supply = suggested_supply(unit.directories, replicas[cluster_id], here)
                if supply.absent:
                    supply = supply.without(renamed.deleting(unit.directories[0], supply.absent))
                if unit.directories[0].log_directory.meta_version == 0:
                    folders = renamed.of(unit.directories[0], sorted(here))
                    deleting = tuple(each for each in folders if each.state == "delete")
                    supply = replace(supply, deleting=deleting)
            if supply.lacking and unit.membership is not None:
                supply = replace(supply, missing=_missing(missing, supply.lacking, unit))
            if supply.lacking:
                supply = replace(supply, renamed=renamed.of(unit.directories[0], supply.lacking))
            yield replace(unit, supply=supply)


def _missing(
    missing: Sequence[MissingDirectory], lacking: Sequence[int], unit: PartitionUnit
) -> tuple[MissingDirectory, ...]:
    """The log directories that may have the replicas of brokers without a folder of it."""
    cluster_id = unit.directories[0].log_directory.cluster_id
    assert unit.membership is not None
    return tuple(
        each
        for each in missing
        if each.broker_id in lacking
        and each.root.cluster_id == cluster_id
        and had_replica(each, unit.membership)
    )


def _metadata_supply(unit: PartitionUnit, evidence: Evidence) -> Supply:
    # It imports the decoder of metadata records.
    from kafkalog_reader.audits.quorum.held_topics import read_younger

    younger = read_younger(evidence, unit.directories)
    return Supply(without_log=_without_log(unit, evidence), younger=younger)


def _without_log(unit: PartitionUnit, evidence: Evidence) -> tuple[LogDirectory, ...]:
    """One log directory of each node of the cluster that has no copy of the metadata log."""
    cluster_id = unit.directories[0].log_directory.cluster_id
    nodes = {each.log_directory.broker_id for each in unit.directories}
    found: dict[int, LogDirectory] = {}
    for root in evidence.roots:
        if root.broker_id is None or root.broker_id in nodes or root.cluster_id != cluster_id:
            continue
        if not is_part_of_log_directory(root):
            found.setdefault(root.broker_id, root)
    return tuple(found.values())


class _Renamed:
    """Folders of replicas that brokers do not load; listed when one is first asked for."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    @cached_property
    def _found(self) -> Mapping[tuple[Identity, int | None], Sequence[PartitionDirectory]]:
        found = defaultdict(list)
        for each in self._evidence.partition_directories(ReadRequest()):
            if not each.is_replica:
                found[each.identity, each.log_directory.broker_id].append(each)
        return found

    def of(
        self, replica: PartitionDirectory, brokers: Iterable[int]
    ) -> tuple[PartitionDirectory, ...]:
        """Those of some brokers, of the same partition as a replica."""
        return tuple(
            each for broker in brokers for each in self._found.get((replica.identity, broker), ())
        )

    def deleting(self, replica: PartitionDirectory, brokers: Iterable[int]) -> frozenset[int]:
        """Those of some brokers that delete the partition: it is no longer assigned to them."""
        return frozenset(
            broker
            for broker in brokers
            if any(each.state == "delete" for each in self.of(replica, [broker]))
        )
