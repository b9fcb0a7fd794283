"""Partitions of which no copy is left, although every broker that should have one was supplied."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import LOOK_FOR_A_COPY
from kafkalog_reader.audits.catalogue.checkpoint_rules import REPLICA_DIRECTORY_MISSING
from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import is_part_of_log_directory
from kafkalog_reader.audits.partition.moved_aside import moved_copy
from kafkalog_reader.audits.partition.partition_audit import joined_ids
from kafkalog_reader.audits.partition.supply_findings import renamed_text
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.evidence import PartitionDirectory
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.evidence import Evidence, Identity, LogDirectory
    from kafkalog_reader.tables.request import ReadRequest


def lost_partitions(
    evidence: Evidence, request: ReadRequest, clusters: Mapping[str | None, ClusterMetadata]
) -> Iterator[Finding]:
    """Yield KL-310 for each partition that the metadata log has and no log directory.

    It is critical if a broker checkpointed a high watermark of it: then records were committed. A
    partition is left out if a log directory of one of its brokers may not have been supplied.

    Args:
        evidence: the supplied paths.
        request: which partitions are requested.
        clusters: what the metadata logs have, by cluster id.
    """
    roots: dict[tuple[str | None, int | None], list[LogDirectory]] = defaultdict(list)
    for root in () if evidence.skipped else evidence.roots:
        if not is_part_of_log_directory(root):
            roots[root.cluster_id, root.broker_id].append(root)
    folders: dict[Identity, list[PartitionDirectory]] = defaultdict(list)
    for directory in evidence.partition_directories(request):
        folders[directory.identity].append(directory)
    for cluster_id, cluster in clusters.items():
        for (topic, partition), membership in sorted(cluster.partitions.items()):
            found = folders[cluster_id, topic, partition]
            if not request.selects(topic, partition) or any(each.is_replica for each in found):
                continue
            brokers = sorted(membership.replicas)
            own = [roots[cluster_id, broker] for broker in brokers]
            registered = [cluster.brokers.get(broker, ()) for broker in brokers]
            if own and all(map(_are_all, own, registered)):
                yield _lost(topic, partition, brokers, own, found)


def _are_all(roots: Sequence[LogDirectory], registered: Sequence[str]) -> bool:
    """Whether these can be all log directories of a broker."""
    return len(roots) >= max(1, len(registered))


def _lost(
    topic: str,
    partition: int,
    brokers: Sequence[int],
    roots: Sequence[Sequence[LogDirectory]],
    renamed: Sequence[PartitionDirectory],
) -> Finding:
    every = [root for of_broker in roots for root in of_broker]
    committed = max(_high_watermark(root, topic, partition) for root in every)
    moved = [copy for root in every if (copy := moved_copy(root, topic, partition)) is not None]
    none = "which has no folder" if len(brokers) == 1 else "and none of them has a folder"
    effect = renamed_text(renamed, brokers)
    if len(brokers) > 1:
        effect = effect.replace("it will create an empty one", "they will create empty ones")
    name = f"{shown(topic)}-{partition}"
    text = f"according to the metadata log {name} is on {joined_ids(brokers)}, {none} of it{effect}"
    if moved:
        text += f"; moved aside: {', '.join(shown(copy.path) for copy in moved)}"
    if committed:
        text += f"; by a checkpoint, records below offset {committed:,} were committed"
    path = posixpath.join(every[0].path, f"{topic}-{partition}")
    return finding(
        REPLICA_DIRECTORY_MISSING,
        text,
        severity="C" if committed and not moved else None,
        confidence="proven" if all(root.clean_shutdown for root in every) else "possible",
        directory=PartitionDirectory(
            path=path, log_directory=every[0], topic=topic, partition=partition
        ),
        evidence={
            "topic": shown(topic),
            "partition": partition,
            "brokers": ", ".join(map(str, brokers)),
            "highWatermark": committed,
        },
        actions=(LOOK_FOR_A_COPY,),
    )


def _high_watermark(root: LogDirectory, topic: str, partition: int) -> int:
    try:
        return checkpointed_offsets(root, HIGH_WATERMARKS).get((topic, partition), 0)
    except LocatedError:  # has its own finding
        return 0
