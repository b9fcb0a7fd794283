"""Whose a log directory is by the metadata log, where ``meta.properties`` is lost or wrong.

Source: Kafka 4.0, BrokerRegistration (directory ids since 3.7, KIP-858), MetaPropertiesEnsemble.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.recovery.disks import METADATA_LOG
from kafkalog_reader.audits.recovery.names import is_of_broker
from kafkalog_reader.io.log_directory import doubtful_nodes, live_partitions, with_disks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence

META_PROPERTIES_VERSION: Final = 1
"""Of KRaft, the only one that a metadata log can describe."""


def with_registered_nodes(evidence: Evidence) -> Evidence:
    """The evidence with the node ids that the metadata log proves or leaves as the only ones.

    Only log directories without a node id, or with one that another has too, can change.
    """
    doubtful = doubtful_nodes(evidence.roots)
    if not doubtful:
        return evidence
    clusters = cluster_metadata(evidence)
    nodes: dict[LogDirectory, int] = {}
    for root in doubtful:
        metadata = clusters.get(root.cluster_id)
        if metadata is not None and (node := _registered(root, metadata)) is not None:
            nodes[root] = node
    for cluster_id, metadata in clusters.items():
        here = [
            replace(each, broker_id=nodes.get(each, each.broker_id))
            for each in evidence.roots
            if each.cluster_id == cluster_id
        ]
        nodes |= _left_over(here, metadata)
    changed = [root for root in evidence.roots if nodes.get(root, root.broker_id) != root.broker_id]
    if not changed:
        return evidence
    roots = [
        replace(root, broker_id=nodes[root], named=str(nodes[root])) if root in changed else root
        for root in evidence.roots
    ]
    return replace(evidence, roots=tuple(with_disks([replace(r, disk=None) for r in roots])))


def lines_of_meta_properties(
    root: LogDirectory, roots: Iterable[LogDirectory], metadata: ClusterMetadata
) -> tuple[str, ...]:
    """The whole ``meta.properties`` of a log directory; empty if not all of it is known.

    Args:
        root: its node id is known.
        roots: all that were supplied; the directory id of a lost file is the one of its broker
            that no other of them has.
        metadata: of its cluster.
    """
    if root.cluster_id is None or root.broker_id is None:
        return ()
    registered = metadata.brokers.get(root.broker_id, ())
    directory_id = root.directory_id
    if directory_id is None and registered:
        others = {each.directory_id for each in roots if _is_of_same_node(each, root)}
        left = [each for each in registered if each not in others]
        if len(left) != 1:
            return ()
        (directory_id,) = left
    own = () if directory_id is None else (f"directory.id={directory_id}",)
    return (
        f"version={META_PROPERTIES_VERSION}",
        f"cluster.id={root.cluster_id}",
        f"node.id={root.broker_id}",
        *own,
    )


def _registered(root: LogDirectory, metadata: ClusterMetadata) -> int | None:
    """The broker that registered the directory's id."""
    owners = [n for n, ids in metadata.brokers.items() if root.directory_id in ids]
    return owners[0] if root.directory_id is not None and len(owners) == 1 else None


def _is_of_same_node(one: LogDirectory, other: LogDirectory) -> bool:
    return (one.cluster_id, one.broker_id) == (other.cluster_id, other.broker_id)


def _left_over(roots: Sequence[LogDirectory], metadata: ClusterMetadata) -> dict[LogDirectory, int]:
    """Directories without a node id of which only one node can be the owner.

    Args:
        roots: the log directories of one cluster.
        metadata: of that cluster.
    """
    assigned: dict[int, set[str]] = defaultdict(set)
    for (topic, number), each in metadata.partitions.items():
        for broker in each.replicas:
            assigned[broker].add(f"{topic}-{number}")
    found: dict[LogDirectory, list[int]] = {}
    for root in roots:
        if root.broker_id is not None or root.broker_label is not None:
            continue
        partitions = live_partitions(root)
        found[root] = [
            node
            for node in (metadata.brokers if is_of_broker(root) else metadata.controllers)
            if partitions - {METADATA_LOG} <= assigned[node]
            and _lacks_a_directory(node, partitions, roots, metadata)
        ]
    nodes = {root: nodes[0] for root, nodes in found.items() if len(nodes) == 1}
    chosen = list(nodes.values())
    return {root: node for root, node in nodes.items() if chosen.count(node) == 1}


def _lacks_a_directory(
    node: int, partitions: set[str], roots: Sequence[LogDirectory], metadata: ClusterMetadata
) -> bool:
    """Whether a node has one more log directory than were supplied, which may hold these."""
    supplied = [root for root in roots if root.broker_id == node]
    is_apart = not any(partitions & live_partitions(root) for root in supplied)
    return is_apart and len(supplied) < max(len(metadata.brokers.get(node, ())), 1)
