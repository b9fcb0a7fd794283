"""KL-010 for partitions that only have folders a broker set aside (``-stray``).

A broker does that with replicas of topics that the metadata does not name: of deleted topics, or of
all topics where the controllers lost their metadata log. It serves and deletes nothing in them.
Source: Kafka 4.3, LogManager#isStrayReplica.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import RENAME_STRAY
from kafkalog_reader.audits.catalogue.input_rules import NOT_A_REPLICA_DIRECTORY
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.io.partition_directory import segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.directories import Identity, LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


def set_aside_findings(
    evidence: Evidence, request: ReadRequest, clusters: Mapping[str | None, ClusterMetadata]
) -> Iterator[Finding]:
    """Yield one finding for each log directory with such folders that hold records.

    High if the cluster has no live partition left, else medium: then the topics were most likely
    deleted. Of partitions that the metadata log names, KL-310 says it.

    Args:
        evidence: the supplied paths.
        request: which partitions are requested.
        clusters: what the metadata logs have, by cluster id.
    """
    live: set[Identity] = set()
    stray: dict[LogDirectory, list[PartitionDirectory]] = defaultdict(list)
    for each in evidence.partition_directories(request):
        if each.is_replica and each.topic != METADATA_TOPIC:
            live.add(each.identity)
        elif each.state == "stray" and not _is_known(each, clusters):
            stray[each.log_directory].append(each)
    alive = {cluster_id for cluster_id, *_ in live}
    for root, folders in stray.items():
        found = [each for each in folders if each.identity not in live and _has_log(each)]
        if found:
            yield _finding(root, found, is_alive=root.cluster_id in alive)


def _is_known(
    directory: PartitionDirectory, clusters: Mapping[str | None, ClusterMetadata]
) -> bool:
    known = clusters.get(directory.log_directory.cluster_id)
    place = directory.topic or "", directory.partition or 0
    return known is not None and place in known.partitions


def _has_log(directory: PartitionDirectory) -> bool:
    """Whether a log of it has any bytes."""
    try:
        return any(each.log_size for each in segments(directory))
    except LocatedError:  # unreadable: it may have
        return True


def _finding(root: LogDirectory, folders: list[PartitionDirectory], *, is_alive: bool) -> Finding:
    partitions = sorted({(each.topic or "", each.partition or 0) for each in folders})
    names = [f"{topic}-{partition}" for topic, partition in partitions]
    what = shown(names[0])
    if len(names) > 1:
        what = f"{len(names):,} partitions (first {what})"
    why = "if its topic was deleted on purpose, these are leftovers"
    if not is_alive:
        why = (
            "no partition of this cluster has a live folder: the controllers began with an empty "
            "or older metadata log"
        )
    return finding(
        NOT_A_REPLICA_DIRECTORY,
        f"the broker set {what} aside (-stray): records are in these folders alone, and no "
        f"start serves them; {why}",
        severity="M" if is_alive else "H",
        directory=PartitionDirectory.whole(root),
        evidence={"partitions": len(names), "first": ", ".join(map(shown, names[:20]))},
        actions=(RENAME_STRAY,),
    )
