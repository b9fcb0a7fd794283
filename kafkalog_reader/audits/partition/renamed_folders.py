"""Finds folders that were renamed to a partition that their broker does not have.

Only folders that the metadata log does not assign to their broker are looked into; without a
metadata log, those that no checkpoint of their log directory names and no other broker has.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS, RECOVERY_POINTS
from kafkalog_reader.audits.integrity.partial_copy import folders_of, named_partitions
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
    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

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
    live: dict[str | None, _Folders] = defaultdict(lambda: defaultdict(list))
    for each in evidence.partition_directories(ReadRequest(brokers=request.brokers)):
        if each.is_replica and each.topic not in (None, METADATA_TOPIC):
            live[each.log_directory.cluster_id][each.topic, each.partition or 0].append(each)
    found: dict[Identity, tuple[Misnamed, ...]] = {}
    for cluster_id, folders in live.items():
        cluster = clusters.get(cluster_id)
        names = _Names(folders) if cluster is None else _AssignedNames(folders, cluster)
        for misnamed in _renamed(names):
            for topic, partition in misnamed.places:
                key = cluster_id, topic, partition
                found[key] = (*found.get(key, ()), misnamed)
    return found


class _Names:
    """Which names the folders of a cluster without a metadata log should have.

    Args:
        live: the folders by name.
    """

    def __init__(self, live: _Folders) -> None:
        self.live = live

    def is_strange(self, folder: PartitionDirectory, place: TopicPartition) -> bool:
        """Whether a folder may have a wrong name."""
        if not _is_whole(folder) or _others(self.live[place], folder):
            return False
        return not _has_rows(folder, place)

    def missing(self, folder: PartitionDirectory) -> list[TopicPartition]:
        """Partitions of its topic that its broker should have, and has no folder of."""
        topic_id = topic_id_of(folder)
        root = folder.log_directory
        return [
            place
            for place in sorted(named_partitions(root) - folders_of(root))
            if topic_id in {topic_id_of(each) for each in self.live.get(place, ())}
        ]

    def exists(self, place: TopicPartition) -> bool | None:
        """Whether there is such a partition; None if nobody knows."""
        del place
        return None

    def reason(self, folder: PartitionDirectory, held: TopicPartition) -> str:
        """Why the name is wrong."""
        return (
            f"the checkpoints of the broker have no row of {name_of(_place(folder))}, but one of "
            f"{name_of(held)}, of which the broker has no folder"
        )

    def effect(self, held: TopicPartition) -> str:
        """What the next start does."""
        return (
            "After the next start the broker would not serve it, and create an empty replica of "
            f"{name_of(held)}"
        )


class _AssignedNames(_Names):
    """The same of a cluster with a metadata log."""

    def __init__(self, live: _Folders, cluster: ClusterMetadata) -> None:
        super().__init__(live)
        self._cluster = cluster

    @cached_property
    def _of_topic(self) -> Mapping[str, Sequence[TopicPartition]]:
        found: dict[str, list[TopicPartition]] = defaultdict(list)
        for place in self._cluster.partitions:
            found[place[0]].append(place)
        return found

    @cached_property
    def _topic_names(self) -> Mapping[str, str]:
        return self._cluster.topics().names

    def is_strange(self, folder: PartitionDirectory, place: TopicPartition) -> bool:
        known = self._cluster.partitions.get(place)
        broker_id = folder.log_directory.broker_id
        return _is_whole(folder) and (known is None or broker_id not in known.replicas)

    def missing(self, folder: PartitionDirectory) -> list[TopicPartition]:
        topic = self._topic_names.get(topic_id_of(folder) or "")
        return [
            place
            for place in sorted(self._of_topic.get(topic or "", ()))
            if folder.log_directory.broker_id in self._cluster.partitions[place].replicas
            and not _of_broker(self.live.get(place, ()), folder)
        ]

    def exists(self, place: TopicPartition) -> bool | None:
        return place in self._cluster.partitions

    def reason(self, folder: PartitionDirectory, held: TopicPartition) -> str:
        named = _place(folder)
        why = f"the metadata log has no {name_of(named)}"
        if self.exists(named):
            why = f"the metadata log does not assign {name_of(named)} to {folder.replica_name}"
        return f"{why}, but {name_of(held)}, of which the broker has no folder"

    def effect(self, held: TopicPartition) -> str:
        return (
            "The next start would rename it to -stray, and create an empty replica of "
            f"{name_of(held)}"
        )


def _renamed(names: _Names) -> Iterator[Misnamed]:
    strange = [
        folder
        for place, folders in names.live.items()
        for folder in folders
        if names.is_strange(folder, place)
    ]
    for folder in strange:
        yield from _recognised(folder, names.missing(folder)[:_MOST_COMPARED], names)


def _recognised(
    folder: PartitionDirectory, missing: Sequence[TopicPartition], names: _Names
) -> Iterator[Misnamed]:
    """Which of the partitions without a folder it holds; nothing if that is not clear."""
    named, live = _place(folder), names.live
    copies = {place: _others(live.get(place, ()), folder) for place in missing}
    same = {place: is_content_of(folder, copies[place]) for place in missing}
    equal = [place for place in missing if same[place]]
    if len(equal) > 1:
        equal = [place for place in equal if fits_rows(folder, *place)]
    exists = names.exists(named)
    if exists and is_content_of(folder, _others(live[named], folder)) is not False:
        return  # another broker's copy of that partition, or unknown
    possible = [place for place in missing if same[place] is not False]
    if not equal and exists is False and len(possible) == 1 and not _has_rows(folder, named):
        equal = possible
    if len(equal) != 1:
        return
    (held,) = equal
    reasons = [names.reason(folder, held)]
    if same[held]:
        reasons.append(f"the first batches are those of {copies_of_text(copies[held])}")
    if fits_rows(folder, *held):
        reasons.append(f"the log end is that of {name_of(held)} in the checkpoints of the broker")
    yield Misnamed(
        folders=((folder, held),),
        reasons=tuple(reasons),
        effect=names.effect(held),
        confidence="likely" if same[held] else "possible",
    )


def _is_whole(folder: PartitionDirectory) -> bool:
    """Whether its whole log directory was supplied, and is known to be that of a broker."""
    root = folder.log_directory
    return root.broker_id is not None and root.clean_shutdown is not None


def _place(folder: PartitionDirectory) -> TopicPartition:
    return folder.topic or "", folder.partition or 0


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
