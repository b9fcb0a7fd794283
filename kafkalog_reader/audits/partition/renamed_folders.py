"""Finds folders that were renamed to a partition that their broker does not have.

Only folders that the metadata log does not assign to their broker are looked into.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS, RECOVERY_POINTS
from kafkalog_reader.audits.partition.misnamed import Misnamed, name_of
from kafkalog_reader.audits.partition.same_content import fits_rows, is_content_of
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined
from kafkalog_reader.io.checkpoints import checkpointed_offsets, topic_id_of
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.evidence import Evidence, Identity, PartitionDirectory

_MOST_COMPARED: Final = 64
"""Partitions without a folder that one renamed folder is compared with."""
_Folders = dict["TopicPartition", list["PartitionDirectory"]]


def renamed_folders(
    evidence: Evidence, request: ReadRequest, clusters: Mapping[str | None, ClusterMetadata]
) -> dict[Identity, tuple[Misnamed, ...]]:
    """The renamed folders, by each partition that they concern.

    Args:
        evidence: the supplied paths.
        request: whose brokers are requested.
        clusters: what the metadata logs have, by cluster id.
    """
    if not clusters:
        return {}
    live: dict[str | None, _Folders] = defaultdict(lambda: defaultdict(list))
    for each in evidence.partition_directories(ReadRequest(brokers=request.brokers)):
        if each.is_replica and each.topic not in (None, METADATA_TOPIC):
            live[each.log_directory.cluster_id][each.topic, each.partition or 0].append(each)
    found: dict[Identity, tuple[Misnamed, ...]] = {}
    for cluster_id, cluster in clusters.items():
        for misnamed in _renamed(live[cluster_id], cluster):
            for topic, partition in misnamed.places:
                key = cluster_id, topic, partition
                found[key] = (*found.get(key, ()), misnamed)
    return found


def _renamed(live: _Folders, cluster: ClusterMetadata) -> Iterator[Misnamed]:
    strange = [
        folder
        for place, folders in live.items()
        for folder in folders
        if _is_strange(folder, place, cluster)
    ]
    if not strange:
        return
    names = cluster.topics().names
    of_topic: dict[str, list[TopicPartition]] = defaultdict(list)
    for place in cluster.partitions:
        of_topic[place[0]].append(place)
    for folder in strange:
        topic = names.get(topic_id_of(folder) or "")
        if topic is not None:
            missing = [
                place
                for place in sorted(of_topic[topic])
                if folder.log_directory.broker_id in cluster.partitions[place].replicas
                and not _of_broker(live.get(place, ()), folder)
            ]
            yield from _recognised(folder, missing[:_MOST_COMPARED], live, cluster)


def _is_strange(
    folder: PartitionDirectory, place: TopicPartition, cluster: ClusterMetadata
) -> bool:
    root, known = folder.log_directory, cluster.partitions.get(place)
    is_whole = root.broker_id is not None and root.clean_shutdown is not None
    return is_whole and (known is None or root.broker_id not in known.replicas)


def _recognised(
    folder: PartitionDirectory,
    missing: Sequence[TopicPartition],
    live: _Folders,
    cluster: ClusterMetadata,
) -> Iterator[Misnamed]:
    """Which of the partitions without a folder it holds; nothing if that is not clear."""
    named = folder.topic or "", folder.partition or 0
    copies = {place: _others(live.get(place, ()), folder) for place in missing}
    same = {place: is_content_of(folder, copies[place]) for place in missing}
    equal = [place for place in missing if same[place]]
    if len(equal) > 1:
        equal = [place for place in equal if fits_rows(folder, *place)]
    exists = named in cluster.partitions
    if exists and is_content_of(folder, _others(live[named], folder)) is not False:
        return  # another broker's copy of that partition, or unknown
    possible = [place for place in missing if same[place] is not False]
    if not equal and not exists and len(possible) == 1 and not _has_rows(folder, named):
        equal = possible
    if len(equal) != 1:
        return
    (held,) = equal
    why = f"the metadata log has no {name_of(named)}"
    if exists:
        why = f"the metadata log does not assign {name_of(named)} to {folder.replica_name}"
    reasons = [f"{why}, but {name_of(held)}, of which the broker has no folder"]
    if same[held]:
        reasons.append(f"the first batches are those of {copies_of_text(copies[held])}")
    if fits_rows(folder, *held):
        reasons.append(f"the log end is that of {name_of(held)} in the checkpoints of the broker")
    yield Misnamed(
        folders=((folder, held),),
        reasons=tuple(reasons),
        effect="The next start would rename it to -stray, and create an empty replica of "
        f"{name_of(held)}",
        confidence="likely" if same[held] else "possible",
    )


def copies_of_text(copies: Sequence[PartitionDirectory]) -> str:
    """The copies of a partition in a sentence: ``orders-4 on brokers 1 and 2``."""
    place = copies[0].topic or "", copies[0].partition or 0
    return f"{name_of(place)} on {joined([each.replica_name for each in copies])}"


def _others(
    copies: Sequence[PartitionDirectory], folder: PartitionDirectory
) -> list[PartitionDirectory]:
    """Those of other brokers."""
    broker_id = folder.log_directory.broker_id
    return [each for each in copies if each.log_directory.broker_id != broker_id]


def _of_broker(
    copies: Sequence[PartitionDirectory], folder: PartitionDirectory
) -> list[PartitionDirectory]:
    """Those of the same broker."""
    broker_id = folder.log_directory.broker_id
    return [each for each in copies if each.log_directory.broker_id == broker_id]


def _has_rows(folder: PartitionDirectory, place: TopicPartition) -> bool:
    """Whether the checkpoints of its log directory name a partition; True if that is unknown."""
    try:
        return any(
            place in checkpointed_offsets(folder.log_directory, name)
            for name in (RECOVERY_POINTS, HIGH_WATERMARKS)
        )
    except LocatedError:  # has its own finding
        return True
