"""Replays the most advanced copy of each cluster's metadata log: topics, settings, partitions.

A copy is replayed from its newest complete snapshot, or from its first record. What a node itself
loads of its copy is another question (``node_load``). Source: Kafka 4.3, MetadataDelta,
PartitionRegistration.merge.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.election.membership import NO_LEADER, PartitionMembership
from kafkalog_reader.audits.election.metadata_replay import (
    METADATA_REQUEST,
    UNCLEAN_EPOCH,
    MetadataReplay,
)
from kafkalog_reader.audits.recovery.metadata_snapshot import SnapshotEnd, newest_snapshot
from kafkalog_reader.audits.recovery.node_releases import METADATA_VERSION, NodeReleases
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.io.partition_directory import metadata_snapshots, segments
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.metadata_history import (
    FIRST_OFFSETS,
    SNAPSHOT_FOOTER,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kafkalog_reader.audits.election.feature_levels import FeatureLevel, FeatureRanges, Role
    from kafkalog_reader.audits.election.replay_rules import RefusedRecord
    from kafkalog_reader.format.messages.decoder import Value
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

logger = logging.getLogger(__name__)

_ANY_END: Final = (math.inf, math.inf)


@dataclass(frozen=True, kw_only=True)
class ClusterMetadata:
    """The state of a cluster at the end of one copy of its metadata log.

    Attributes:
        source: path of the copy.
        leader_epoch, last_offset: of its last record. One copy does not show whether a majority of
            controllers had it.
        topic_ids: by topic.
        configs: settings by topic; only those that were set.
        features: finalised levels by name, including ``metadata.version``.
        partitions: by topic and partition.
        brokers: registered brokers, each with the ids of its log directories, which it registers
            since 3.7.
        controllers: registered controllers, which register since 3.7.
        supported: by node id, the highest ``metadata.version`` that it registered.
        is_blank: no record was replayed: a controller that leads then begins a new cluster.
        levels: every record of a feature level.
        ranges: by role and node id, the levels of features that a node registered.
        refused: the first record that a controller does not replay; None if it replays all, but for
            levels of features, which depend on the node.
        nodes: by node id, the topics of nodes that load something else from their own copies, or
            nothing (``node_load``).
    """

    source: str
    leader_epoch: int
    last_offset: int
    topic_ids: Mapping[str, str]
    configs: Mapping[str, Mapping[str, str]]
    features: Mapping[str, int]
    partitions: Mapping[tuple[str, int], PartitionMembership]
    brokers: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    controllers: frozenset[int] = frozenset()
    supported: Mapping[int, int] = field(default_factory=dict)
    is_blank: bool = False
    levels: tuple[FeatureLevel, ...] = ()
    ranges: Mapping[tuple[Role, int], FeatureRanges] = field(default_factory=dict)
    refused: RefusedRecord | None = None
    nodes: Mapping[int, ClusterTopics] = field(default_factory=dict)

    def topics(self) -> ClusterTopics:
        """The parts that the prediction of a start needs."""
        return ClusterTopics(
            topic_ids=self.topic_ids,
            configs=self.configs,
            replicas={place: each.replicas for place, each in self.partitions.items()},
            releases=self.releases(),
            nodes=self.nodes,
        )

    def releases(self) -> NodeReleases:
        """The releases of the nodes."""
        return NodeReleases(finalised=self.features.get(METADATA_VERSION), supported=self.supported)


def read_cluster_metadata(
    evidence: Evidence, *, is_silent: bool = False, passed_over: Collection[str] = ()
) -> dict[str | None, ClusterMetadata]:
    """Read the most advanced usable copy of each metadata log, by cluster id.

    Of several copies, the one that ends last is replayed; if that fails, the next one.

    A copy is used only if it can be replayed without a gap. If it is damaged, or its beginning was
    replaced by a snapshot that is missing, a warning names it, unless the caller says it by itself.

    Args:
        evidence: the supplied paths.
        is_silent: see above.
        passed_over: paths of copies that must not lead (``audits.quorum.held_topics``).
    """
    best: dict[str | None, ClusterMetadata] = {}
    copies = [d for d in evidence.partition_directories(METADATA_REQUEST) if d.is_replica]
    copies = [each for each in copies if each.path not in passed_over]
    ends = {copy: _end(copy) for copy in copies}
    for directory in sorted(copies, key=ends.__getitem__, reverse=True):
        known = best.get(directory.log_directory.cluster_id)
        if known is not None and _progress(known) >= ends[directory]:
            continue
        try:
            found = read_metadata_log(directory)
        except KafkaLogError as error:
            if not is_silent:
                logger.warning("%s; this copy of the metadata log is not used", error)
            continue
        if found is None:
            continue
        cluster_id = directory.log_directory.cluster_id
        if known is None or _progress(found) > _progress(known):
            best[cluster_id] = found
    return best


def _end(copy: PartitionDirectory) -> tuple[float, float]:
    """The last leader epoch and offset that a replay can reach; infinite if unknown."""
    try:
        tail = scan_tail(copy)
    except KafkaLogError:
        return _ANY_END
    if tail.last_leader_epoch is None or tail.end is not ScanEnd.COMPLETE:
        return _ANY_END
    return tail.last_leader_epoch, tail.next_offset - 1


def read_metadata_log(directory: PartitionDirectory) -> ClusterMetadata | None:
    """Replay one copy; None if nothing in it can be replayed from the beginning.

    Raises:
        LocatedError: the copy is damaged.
        UnreadableFileError: a file cannot be opened or read.
    """
    replay = MetadataReplay()
    start = 0
    newest = newest_snapshot(directory)
    for end_offset, snapshot in reversed(metadata_snapshots(directory)):
        if snapshot.log_size is None:
            continue
        if (
            newest is not None
            and newest.end is not SnapshotEnd.WHOLE
            and (newest.loaded.path == snapshot.path("log"))
        ):
            logger.warning("%s: %s; this snapshot is not used", newest.where, newest.problem)
            continue
        segment_slice = SegmentSlice.whole(directory, snapshot, is_log_end=True)
        candidate = MetadataReplay()
        last_type = candidate.apply_snapshot(segment_slice, end_offset)
        if last_type == SNAPSHOT_FOOTER:
            replay, start = candidate, end_offset
            break
        logger.warning("%s: a snapshot without its footer, not used", snapshot.path("log"))
    found = segments(directory)
    if start == 0 and (not found or found[0].base_offset > FIRST_OFFSETS):
        return None
    if start and found and found[0].base_offset > start:
        return None
    replay.apply_log(directory, start)
    return _result(replay, directory.path)


def read_metadata_from(
    directory: PartitionDirectory, snapshot: SegmentSlice | None, end_offset: int
) -> ClusterMetadata:
    """Replay what a node loads: a snapshot as far as it is read, and the log above its end.

    Args:
        directory: the copy.
        snapshot: what is loaded of a snapshot; None for none.
        end_offset: where the log begins to be replayed.

    Raises:
        LocatedError: the log is damaged.
        UnreadableFileError: a file cannot be opened or read.
    """
    replay = MetadataReplay()
    if snapshot is not None:
        replay.apply_snapshot(snapshot, end_offset)
    replay.apply_log(directory, end_offset)
    return _result(replay, directory.path)


def _progress(metadata: ClusterMetadata) -> tuple[int, int]:
    return metadata.leader_epoch, metadata.last_offset


def _result(replay: MetadataReplay, source: str) -> ClusterMetadata:
    topic_ids: dict[str, str] = {}
    for topic_id, name in replay.names.items():
        topic_ids.setdefault(name, topic_id)  # before 3.6 a second topic leaves the first one
    return ClusterMetadata(
        source=source,
        leader_epoch=replay.leader_epoch,
        last_offset=replay.last_offset,
        topic_ids=topic_ids,
        configs={name: settings for name, settings in replay.configs.items() if settings},
        features=replay.features,
        brokers=replay.brokers,
        controllers=frozenset(replay.controllers),
        supported=replay.supported,
        is_blank=replay.is_blank,
        levels=tuple(replay.levels),
        ranges=replay.ranges,
        refused=replay.refused,
        partitions={
            (replay.names[topic_id], number): _membership(each, source, replay.last_offset)
            for topic_id, inside in replay.partitions.items()
            if topic_id in replay.names
            for number, each in inside.items()
        },
    )


def _membership(fields: Mapping[str, Value], source: str, offset: int) -> PartitionMembership:
    directories = fields.get("directories") or ()
    return PartitionMembership(
        leader=max(fields["leader"], NO_LEADER),
        leader_epoch=fields["leaderEpoch"],
        partition_epoch=fields["partitionEpoch"],
        replicas=tuple(fields["replicas"]),
        isr=tuple(fields["isr"]),
        elr=tuple(fields.get("eligibleLeaderReplicas") or ()),
        last_known_elr=tuple(fields.get("lastKnownElr") or ()),
        topic_id=fields["topicId"],
        source=source,
        source_offset=offset,
        unclean_epoch=fields.get(UNCLEAN_EPOCH),
        directories=tuple(directories) if len(directories) == len(fields["replicas"]) else (),
        adding=tuple(fields.get("addingReplicas") or ()),
        removing=tuple(fields.get("removingReplicas") or ()),
    )
