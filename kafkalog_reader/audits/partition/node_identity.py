"""Whose a log directory is by the metadata log, where ``meta.properties`` is lost or wrong.

Source: Kafka 4.0, BrokerRegistration (directory ids since 3.7, KIP-858), MetaPropertiesEnsemble.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.recovery.names import is_of_broker
from kafkalog_reader.io.log_directory import doubtful_nodes, live_partitions, with_disks
from kafkalog_reader.io.names import METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.evidence import Evidence, LogDirectory

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
        here = [each for each in evidence.roots if each.cluster_id == cluster_id]
        taken = {nodes.get(each, each.broker_id) for each in here}
        unknown = [each for each in here if each.broker_id is None and each not in nodes]
        nodes |= _left_over([u for u in unknown if u.broker_label is None], metadata, taken)
    changed = [root for root in evidence.roots if nodes.get(root, root.broker_id) != root.broker_id]
    if not changed:
        return evidence
    roots = [
        replace(root, broker_id=nodes[root], named=str(nodes[root])) if root in changed else root
        for root in evidence.roots
    ]
    return replace(evidence, roots=tuple(with_disks([replace(r, disk=None) for r in roots])))


def lines_of_meta_properties(root: LogDirectory, metadata: ClusterMetadata) -> tuple[str, ...]:
    """The whole ``meta.properties`` of a log directory; empty if not all of it is known."""
    if root.cluster_id is None or root.broker_id is None:
        return ()
    registered = metadata.brokers.get(root.broker_id, ())
    directory_id = root.directory_id
    if directory_id is None and len(registered) == 1:
        (directory_id,) = registered
    if directory_id is None and registered:
        return ()
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


def _left_over(
    unknown: Sequence[LogDirectory], metadata: ClusterMetadata, taken: Iterable[int | None]
) -> dict[LogDirectory, int]:
    """Directories without a node id of which only one node can be the owner."""
    assigned: dict[int, set[str]] = defaultdict(set)
    for (topic, number), each in metadata.partitions.items():
        for broker in each.replicas:
            assigned[broker].add(f"{topic}-{number}")
    free = set(taken)
    candidates = {
        root: [
            node
            for node in (metadata.brokers if is_of_broker(root) else metadata.controllers)
            if node not in free
            and live_partitions(root) - {f"{METADATA_TOPIC}-0"} <= assigned.get(node, set())
        ]
        for root in unknown
    }
    nodes = {root: nodes[0] for root, nodes in candidates.items() if len(nodes) == 1}
    chosen = list(nodes.values())
    return {root: node for root, node in nodes.items() if chosen.count(node) == 1}
