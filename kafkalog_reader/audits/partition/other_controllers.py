"""KL-008 for the controllers of another cluster beside brokers whose own controllers are not here.

A new controller that was formatted to replace lost ones has a cluster id of its own. The usual
advice, to write that id into ``meta.properties`` of the brokers, makes them rename all partitions
to ``-stray``: a 4.3.1 broker did so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import COMPARE_METADATA_LOGS
from kafkalog_reader.audits.catalogue.input_rules import MIXED_CLUSTERS
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.recovery.names import is_of_broker
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.directories import LogDirectory


def other_controller_findings(
    roots: Sequence[LogDirectory],
    with_partitions: Collection[str],
    metadata: Mapping[str | None, ClusterMetadata],
) -> Iterator[Finding]:
    """Yield one finding for each controller without a broker beside brokers without a controller.

    Args:
        roots: the log directories.
        with_partitions: ids of clusters of which there are replicas.
        metadata: the metadata logs, by cluster id.
    """
    brokers = {(each.cluster_id, each.broker_id) for each in roots if is_of_broker(each)}
    for lost in sorted({*with_partitions} & {each for each in metadata if each is not None}):
        own = [each for each in roots if each.cluster_id == lost]
        controllers, topics = metadata[lost].controllers, metadata[lost].topic_ids
        if not topics or any(
            each.broker_id in controllers or (lost, each.broker_id) not in brokers for each in own
        ):
            continue
        told: set[int | None] = set()
        for root in roots:
            known = metadata.get(root.cluster_id)
            node = root.cluster_id, root.broker_id
            if known is None or root.cluster_id in with_partitions or node in brokers:
                continue
            if not {*topics.values()} & {*known.topic_ids.values()} and root.broker_id not in told:
                told.add(root.broker_id)
                yield _finding(root, lost, own[0])


def _finding(root: LogDirectory, lost: str, broker: LogDirectory) -> Finding:
    return finding(
        MIXED_CLUSTERS,
        f"node {root.broker_id} is a controller of cluster {shown(root.cluster_id or '')} without "
        f"brokers, and no controller of cluster {shown(lost)} is here, of which "
        f"{shown(broker.path)} is: if it was formatted to replace a lost controller, do not write "
        "its cluster.id into meta.properties of the brokers: it never named their topics, so they "
        "would set all partitions aside (-stray)",
        severity="H",
        confidence="possible",
        directory=PartitionDirectory.whole(root),
        evidence={
            "clusters": f"{shown(lost)}, {shown(root.cluster_id or '')}",
            "directories": f"{shown(broker.path)}, {shown(root.path)}",
        },
        actions=(COMPARE_METADATA_LOGS,),
    )
