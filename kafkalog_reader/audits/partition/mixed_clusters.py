"""KL-008: several clusters among what was supplied as one.

``cluster_identity`` says which cluster id is wrong where they are one cluster after all.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.input_rules import MIXED_CLUSTERS
from kafkalog_reader.audits.integrity.file_repair import RunAgain
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.cluster_identity import (
    clusters_of_one_directory,
    wrong_cluster_ids,
)
from kafkalog_reader.audits.partition.other_controllers import other_controller_findings
from kafkalog_reader.io.checkpoints import topic_id_of
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import METADATA_TOPIC, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import LogDirectory

_TOPICS_COMPARED: Final = 32


def cluster_findings(
    roots: Sequence[LogDirectory],
    directories: Iterable[PartitionDirectory],
    metadata: Mapping[str | None, ClusterMetadata] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Yield KL-008: several clusters under one broker's name, or one topic id in two clusters.

    Topic ids are random: the same one in two clusters means that one cluster id is wrong. The id of
    the cluster metadata topic is a constant of Kafka (``Uuid.METADATA_TOPIC_ID``).

    Args:
        roots: the log directories.
        directories: their live replicas.
        metadata: their metadata logs, by cluster id.
    """
    by_name: dict[str, dict[str, LogDirectory]] = defaultdict(dict)
    for root in roots:
        if root.named is not None and root.cluster_id is not None:
            by_name[root.named].setdefault(root.cluster_id, root)
    named: set[frozenset[str]] = set()
    for name, clusters in by_name.items():
        if len(clusters) > 1:
            named |= {frozenset(pair) for pair in combinations(clusters, 2)}
            yield _mixed(
                list(clusters.values()),
                f"the paths named {shown(name)} hold several clusters: {_ids(clusters.values())}",
                roots,
            )
    by_topic: dict[str, dict[str, PartitionDirectory]] = defaultdict(dict)
    places: dict[str, dict[TopicPartition, PartitionDirectory]] = defaultdict(dict)
    brokers: dict[str, set[int | None]] = defaultdict(set)
    for directory in directories:
        cluster_id = directory.log_directory.cluster_id
        is_known = directory.topic not in (None, METADATA_TOPIC) and cluster_id is not None
        if is_known:
            key = (directory.topic or "", directory.partition or 0)
            places[cluster_id or ""][key] = directory
            brokers[cluster_id or ""].add(directory.log_directory.broker_id)
        if is_known and (directory.topic in by_topic or len(by_topic) < _TOPICS_COMPARED):
            by_topic[directory.topic or ""].setdefault(cluster_id or "", directory)
    reported: set[frozenset[str]] = set()
    of_one_cluster = (_with_a_topic_id(by_topic), clusters_of_one_directory(roots, metadata))
    for pair, why in chain.from_iterable(of_one_cluster):
        if pair not in reported:
            reported.add(pair)
            yield from wrong_cluster_ids(pair, why, roots)
    yield from _looks_like_one(places, brokers, reported | named, roots)
    yield from other_controller_findings(roots, places.keys(), metadata)


def _with_a_topic_id(
    by_topic: Mapping[str, Mapping[str, PartitionDirectory]],
) -> Iterator[tuple[frozenset[str], str]]:
    """Cluster ids that have a topic id in common.

    Args:
        by_topic: a copy in each cluster, by topic and cluster id.

    Yields:
        the ids of clusters, and why they are one cluster's.
    """
    for topic, by_cluster in by_topic.items():
        clusters: dict[str, set[str]] = defaultdict(set)
        for cluster_id, directory in by_cluster.items():
            clusters[topic_id_of(directory) or ""].add(cluster_id)
        for topic_id, same in clusters.items():
            if topic_id and len(same) > 1:
                yield (
                    frozenset(same),
                    f"topic {shown(topic)} has the id {topic_id} in all of them",
                )


def _looks_like_one(
    places: Mapping[str, Mapping[TopicPartition, PartitionDirectory]],
    brokers: Mapping[str, set[int | None]],
    reported: Collection[frozenset[str]],
    supplied: Sequence[LogDirectory],
) -> Iterator[Finding]:
    """Clusters that share partitions but no broker: brokers of one cluster look like that.

    Where a node id appears in both, these are two clusters that happen to use the same names.
    """
    for one, other in combinations(sorted(places), 2):
        same = places[one].keys() & places[other].keys()
        common = brokers[one] & brokers[other] - {None}
        if frozenset((one, other)) in reported or not same or common:
            continue
        topic, partition = min(same)
        roots = [places[cluster][topic, partition].log_directory for cluster in (one, other)]
        paths = ", ".join(f"{shown(root.path)}: {shown(root.cluster_id or '')}" for root in roots)
        yield _mixed(
            roots,
            f"the log directories belong to different clusters ({paths}), and both have "
            f"{shown(topic)}-{partition}, which is not compared across clusters",
            supplied,
            severity="H",
            confidence="possible",
        )


def _mixed(
    roots: Sequence[LogDirectory],
    problem: str,
    supplied: Sequence[LogDirectory],
    severity: str | None = None,
    confidence: str = "proven",
) -> Finding:
    """KL-008, with the commands that audit each of the clusters alone."""
    first = roots[0]
    alone = [
        RunAgain(
            why=f"only cluster {cluster_id}",
            paths=tuple(each.path for each in supplied if each.cluster_id == cluster_id),
        )
        for cluster_id in dict.fromkeys(root.cluster_id for root in roots)
    ]
    return finding(
        MIXED_CLUSTERS,
        problem,
        severity=severity,
        confidence=confidence,
        directory=PartitionDirectory.whole(first),
        evidence={
            "clusters": _ids(roots),
            "directories": ", ".join(shown(root.path) for root in roots),
        },
        repairs=tuple(alone),
    )


def _ids(roots: Iterable[LogDirectory]) -> str:
    return ", ".join(shown(root.cluster_id or "") for root in roots)
