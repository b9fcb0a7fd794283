"""Finds replicas that a starting broker sets aside, because they are not assigned to it.

A broker looks a replica up by its topic id and partition number, not by the name of its directory.
Source: Kafka 4.3, BrokerMetadataPublisher#initializeManagers and LogManager#isStrayReplica.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.files import topic_id_of_peer
from kafkalog_reader.audits.recovery.node_releases import KAFKA_3_7

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import PartitionDirectory

_MIN_PEERS: Final = 2
"""Number of other brokers' copies that must agree on a topic id to make it the cluster's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """Why a directory is set aside.

    Attributes:
        reason: as text.
        has_topic_id: whether ``partition.metadata`` names one.
        topic_id: of the topic in this cluster; None if it is not known, or if this broker should
            not have the partition.
        is_only_replica: whether no other broker has a replica of the partition in this cluster.
        is_unloaded: the cluster may have the topic: the broker does not load all that its own copy
            of the metadata log should say.
    """

    reason: str
    has_topic_id: bool
    topic_id: str | None = None
    is_only_replica: bool = False
    is_unloaded: bool = False


_RENAMED: Final = "the directory is renamed -stray"
_DELETED: Final = "the directory is renamed -delete, and deleted a minute later"
"""By KRaft before 3.7. Source: Kafka 3.6, BrokerMetadataPublisher#findStrayPartitions."""


def why_stray(
    directory: PartitionDirectory,
    topic_id: str | None,
    topics: ClusterTopics | None,
    peers: Sequence[PartitionDirectory],
) -> Stray | None:
    """Why a directory is set aside; None if it is not, or if that cannot be known.

    Args:
        directory: the replica.
        topic_id: from its ``partition.metadata``; None without the file.
        topics: those of the cluster; None if its metadata log was not supplied.
        peers: the replicas of the same partition on other brokers, which are used if ``topics`` is
            None.
    """
    root = directory.log_directory
    if topics is None and root.directory_id is None:  # a broker that uses ZooKeeper keeps it
        return None
    of_peers = [topic_id_of_peer(peer) for peer in peers]
    theirs = {other for other in of_peers if other is not None}
    if topics is not None:
        known = topics.topic_ids.get(directory.topic or "")
    else:
        known = next(iter(theirs)) if len(theirs) == 1 else None
    is_deleted = topics is not None and topics.releases.before(KAFKA_3_7)
    renamed = _DELETED if is_deleted and root.directory_id is None else _RENAMED
    emptied = f"{renamed} and the partition starts empty"
    is_unloaded = topics is not None and bool(topics.lacks)
    if topic_id is None:
        reason = f"no topic id: partition.metadata is missing: {emptied}"
        return Stray(reason=reason, has_topic_id=False, topic_id=known)
    if topics is not None and (name := topics.names.get(topic_id)) is not None:
        why = _why_not_assigned(directory, name, topics)
        if not why:
            return None
        return Stray(reason=f"{why}: {renamed}", has_topic_id=True, is_unloaded=is_unloaded)
    if known == topic_id:
        return None
    if topics is not None:
        other = f"the cluster has {known}"
        if known is None:
            other = topics.lacks or "the cluster has no such topic"
    elif known is None or len(of_peers) < _MIN_PEERS:
        return None
    else:
        other = f"{known} on the other brokers"
    reason = f"topic id {topic_id}, and {other}: {renamed if known is None else emptied}"
    assigned = None if topics is None or topics.replicas is None else topics.replicas.get(
        (directory.topic or "", directory.partition or 0)
    )  # fmt: skip
    return Stray(
        reason=reason,
        has_topic_id=True,
        topic_id=known,
        is_only_replica=assigned == (root.broker_id,),
        is_unloaded=is_unloaded,
    )


def _why_not_assigned(directory: PartitionDirectory, topic: str, topics: ClusterTopics) -> str:
    """Why, by the metadata log, its broker should not have the replica; empty if it should."""
    broker_id, partition = directory.log_directory.broker_id, directory.partition
    if topics.replicas is None or broker_id is None or partition is None:
        return ""
    assigned = topics.replicas.get((topic, partition))
    if assigned is None:
        return topics.lacks or f"the metadata log has no partition {partition} of the topic"
    if broker_id in assigned:
        return ""
    ids = ", ".join(map(str, assigned))
    word = "broker" if ids.isdigit() else "brokers"
    return f"the metadata log assigns the partition to {word} {ids}, not to {broker_id}"
