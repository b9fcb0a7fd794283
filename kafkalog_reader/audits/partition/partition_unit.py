"""Units of work of the audit tables: a topic partition with all its live replicas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.partition.supply_findings import NOTHING_KNOWN, Supply
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory

_METADATA: Final = ReadRequest(topics=frozenset({METADATA_TOPIC}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionUnit(Unit):
    """One topic partition; its size is not known before its files are listed: 0.

    Attributes:
        topics: what the cluster's metadata log says of this one topic; None where no copy of it was
            supplied, or it was not requested.
        membership: what it says of this one partition.
        supply: which replicas there should be besides these.
    """

    directories: tuple[PartitionDirectory, ...]
    topics: ClusterTopics | None = None
    membership: PartitionMembership | None = None
    supply: Supply = NOTHING_KNOWN


def partition_units(
    evidence: Evidence, request: ReadRequest, *, with_topics: bool = False
) -> Iterator[PartitionUnit]:
    """Yield the topic partitions asked for, each once.

    Args:
        evidence: what was supplied.
        request: what is asked of it.
        with_topics: read the metadata log first, because predictions need it.
    """
    clusters = cluster_metadata(evidence) if with_topics else {}
    for (cluster_id, topic, partition), directories in evidence.topic_partitions(request):
        known = None if topic == METADATA_TOPIC else clusters.get(cluster_id)
        unit = PartitionUnit(size_in_bytes=0, directories=directories)
        if known is not None and topic is not None and partition is not None:
            unit = replace(
                unit,
                topics=known.topics().only({topic}),
                membership=known.partitions.get((topic, partition)),
            )
        yield unit


def cluster_metadata(evidence: Evidence) -> dict[str | None, ClusterMetadata]:
    """What the metadata log says, by cluster id; nothing where no copy of it was supplied."""
    if not any(each.is_replica for each in evidence.partition_directories(_METADATA)):
        return {}
    # Decoding it takes as long to import as all of the rest that a broker's directory needs.
    from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata

    return read_cluster_metadata(evidence)
