"""Finds replicas that a starting broker sets aside, because they are not assigned to it.

Source: Kafka 4.3, BrokerMetadataPublisher#initializeManagers and LogManager#isStrayReplica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.files import topic_id_of_peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.evidence import PartitionDirectory

_MIN_PEERS: Final = 2
"""Number of other brokers' copies that must agree on a topic id to make it the cluster's."""
_ASIDE: Final = "the directory is renamed -stray and the partition starts empty"


def why_stray(
    directory: PartitionDirectory,
    topic_id: str | None,
    topics: ClusterTopics | None,
    peers: Sequence[PartitionDirectory],
) -> str:
    """Why a directory is set aside; empty if it is not, or if that cannot be known.

    Args:
        directory: the replica.
        topic_id: from its ``partition.metadata``; None without the file.
        topics: those of the cluster; None if its metadata log was not supplied.
        peers: the replicas of the same partition on other brokers, which are used if ``topics`` is
            None.
    """
    root = directory.log_directory
    if topics is None and root.directory_id is None:  # a broker that uses ZooKeeper keeps it
        return ""
    if topic_id is None:
        return f"no topic id: partition.metadata is missing: {_ASIDE}"
    if topics is not None:
        known = topics.topic_ids.get(directory.topic or "")
        if known == topic_id:
            why = _why_not_assigned(directory, topics)
            return f"{why}: {_ASIDE}" if why else ""
        other = "has no such topic" if known is None else f"has {known}"
        return f"topic id {topic_id}, and the cluster {other}: {_ASIDE}"
    others = [topic_id_of_peer(peer) for peer in peers]
    theirs = {other for other in others if other is not None}
    if len(theirs) == 1 and topic_id not in theirs and len(others) >= _MIN_PEERS:
        return f"topic id {topic_id}, and {theirs.pop()} on the other brokers: {_ASIDE}"
    return ""


def _why_not_assigned(directory: PartitionDirectory, topics: ClusterTopics) -> str:
    """Why the metadata log says that its broker should not have it; empty if it should."""
    broker_id, partition = directory.log_directory.broker_id, directory.partition
    if topics.replicas is None or broker_id is None or partition is None:
        return ""
    assigned = topics.replicas.get((directory.topic or "", partition))
    if assigned is None:
        return f"the metadata log has no partition {partition} of the topic"
    if broker_id in assigned:
        return ""
    ids = ", ".join(map(str, assigned))
    return f"the metadata log assigns the partition to brokers {ids}, not to {broker_id}"
