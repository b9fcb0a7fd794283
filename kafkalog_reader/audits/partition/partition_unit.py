"""Units of work of the audit tables: a topic partition with all its live replicas."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.copied_earlier import Moments, metadata_moments
from kafkalog_reader.audits.partition.renamed_folders import renamed_folders
from kafkalog_reader.audits.partition.supply_findings import NOTHING_KNOWN, Supply
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.commit import Commit
    from kafkalog_reader.audits.partition.misnamed import Misnamed
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.open_transactions_table import Coordinators

_METADATA: Final = ReadRequest(topics=frozenset({METADATA_TOPIC}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionUnit(Unit):
    """One topic partition. Its size is 0, because it is unknown before its files are listed.

    Attributes:
        topics: this one topic by the cluster's metadata log; None if no copy of that log was
            supplied, or it was not requested.
        membership: of this partition, according to that log.
        supply: which other replicas there should be.
        unread: findings of brokers that should have a replica, but no readable one is there.
        lacking: node ids of brokers that were supplied and should have a replica, but have no
            folder of it: each creates an empty one.
        lacking_roots: the log directory of each of those where it would be.
        replaced: brokers among those whose copy was moved aside, and a copy here reaches as far.
        down: brokers among those that do not start, each with the reason.
        commits: what consumer groups committed of it.
        coordinators: of the cluster's transactions; None if that was not requested.
        misnamed: folders with a wrong name that concern it.
        moments: of which the copies of each node are, by the metadata logs.
        of_groups: findings about the groups in it, if it is a partition of ``__consumer_offsets``.
        remote: folders of its remote segments (KIP-405), also those of a deleted topic of the name.
    """

    directories: tuple[PartitionDirectory, ...]
    topics: ClusterTopics | None = None
    membership: PartitionMembership | None = None
    supply: Supply = NOTHING_KNOWN
    unread: tuple[Finding, ...] = ()
    lacking: tuple[int, ...] = ()
    lacking_roots: tuple[tuple[int, LogDirectory], ...] = ()
    replaced: tuple[int, ...] = ()
    down: tuple[tuple[int, str], ...] = ()
    commits: tuple[Commit, ...] = ()
    coordinators: Coordinators | None = None
    misnamed: tuple[Misnamed, ...] = ()
    of_groups: tuple[Finding, ...] = ()
    moments: Moments = field(default_factory=dict)
    remote: tuple[PartitionDirectory, ...] = ()


def partition_units(
    evidence: Evidence,
    request: ReadRequest,
    clusters: Mapping[str | None, ClusterMetadata] | None = None,
) -> Iterator[PartitionUnit]:
    """Yield each requested topic partition once.

    Args:
        evidence: the supplied paths.
        request: which partitions and columns are requested.
        clusters: see ``cluster_metadata``; by default they are read first, because predictions
            need them.
    """
    supplied = evidence.allowing(request.max_batch_bytes)
    clusters = cluster_metadata(evidence) if clusters is None else clusters
    topics = _with_history(clusters, supplied)
    alone = {cluster_id: each.each_alone() for cluster_id, each in topics.items()}
    misnamed = renamed_folders(supplied, request, clusters)
    moments = metadata_moments(supplied)
    remote: dict[tuple[str | None, int | None], list[PartitionDirectory]] = {}
    for part in supplied.remote:
        remote.setdefault((part.topic, part.partition), []).append(part)
    for (cluster_id, topic, partition), directories in supplied.topic_partitions(request):
        known = None if topic == METADATA_TOPIC else clusters.get(cluster_id)
        unit = PartitionUnit(
            size_in_bytes=0,
            directories=directories,
            misnamed=misnamed.get((cluster_id, topic, partition), ()),
            moments=moments,
            remote=tuple(remote.get((topic, partition), ())),
        )
        if known is not None and topic is not None and partition is not None:
            unit = replace(
                unit,
                # all topics, if the directory may be a renamed one of any of them
                topics=alone[cluster_id].get(topic, topics[cluster_id]),
                membership=known.partitions.get((topic, partition)),
            )
        yield unit


def _with_history(
    clusters: Mapping[str | None, ClusterMetadata], evidence: Evidence
) -> dict[str | None, ClusterTopics]:
    """The topics of each cluster, and which of them were only ever compacted."""
    if not clusters:
        return {}
    # As long to import as in ``cluster_metadata``.
    from kafkalog_reader.tables.compacted_since_creation import compacted_since_creation

    compacted = compacted_since_creation(evidence)
    return {
        cluster_id: replace(known.topics(), since_creation=compacted.get(cluster_id, frozenset()))
        for cluster_id, known in clusters.items()
    }


def cluster_metadata(evidence: Evidence) -> dict[str | None, ClusterMetadata]:
    """The content of the metadata logs that were supplied, by cluster id."""
    if not any(each.is_replica for each in evidence.partition_directories(_METADATA)):
        return {}
    # Their decoder takes as long to import as everything else that a log directory needs.
    from kafkalog_reader.audits.election.node_load import with_node_loads
    from kafkalog_reader.audits.quorum.held_topics import read_leading_metadata

    return with_node_loads(evidence, read_leading_metadata(evidence))
