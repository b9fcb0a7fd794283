"""Units of work of the audit tables: a topic partition with all its live replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.recovery_topics import METADATA_TOPIC, read_cluster_topics
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.recovery_rule import ClusterTopics
    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionUnit(Unit):
    """One topic partition; its size is not known before its files are listed: 0.

    Attributes:
        topics: what the cluster's metadata log says of this one topic; None where no copy of it was
            supplied, or nobody asked.
    """

    directories: tuple[PartitionDirectory, ...]
    topics: ClusterTopics | None = None


def partition_units(
    evidence: Evidence, request: ReadRequest, *, with_topics: bool = False
) -> Iterator[PartitionUnit]:
    """Yield the topic partitions asked for, each once.

    Args:
        evidence: what was supplied.
        request: what is asked of it.
        with_topics: read the metadata log first, because predictions need it.
    """
    clusters = read_cluster_topics(evidence) if with_topics else {}
    for (cluster_id, topic, _), directories in evidence.topic_partitions(request):
        known = clusters.get(cluster_id)
        yield PartitionUnit(
            size_in_bytes=0,
            directories=directories,
            topics=None if known is None or topic == METADATA_TOPIC else known.only({topic}),
        )
