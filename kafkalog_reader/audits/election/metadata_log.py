"""Replays the most advanced copy of each cluster's metadata log: topics, settings, partitions.

A copy is replayed from its newest complete snapshot, or from its first record. Source: Kafka 4.3,
MetadataDelta, PartitionRegistration.merge.
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.election.membership import NO_LEADER, PartitionMembership
from kafkalog_reader.audits.recovery.node_releases import METADATA_VERSION, NodeReleases
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_framed
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import metadata_snapshots, segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.metadata_history import (
    FIRST_OFFSETS,
    SNAPSHOT_FOOTER,
    MetadataRecord,
    MetadataTransactions,
)
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kafkalog_reader.format.messages.decoder import Value
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

logger = logging.getLogger(__name__)

_ANY_END: Final = (math.inf, math.inf)
_NO_LEADER_CHANGE: Final = -2
_UNCLEAN_EPOCH: Final = "uncleanEpoch"
"""Added to the fields of a PartitionRecord during a replay."""
_LISTS: Final = (
    "replicas", "isr", "eligibleLeaderReplicas", "lastKnownElr", "directories", "addingReplicas",
    "removingReplicas",
)  # fmt: skip
"""Fields that a change replaces where it has them."""
_TOPIC_RESOURCE: Final = 2
"""Of org.apache.kafka.common.config.ConfigResource.Type."""
_COLUMNS: Final = ("offset", "leaderEpoch", "controlType", "value")
_REQUEST: Final = ReadRequest(columns=_COLUMNS, topics=frozenset({METADATA_TOPIC}))
_SCHEMA: Final = RecordsTable().projected(_REQUEST)


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

    def topics(self) -> ClusterTopics:
        """The parts that the prediction of a start needs."""
        return ClusterTopics(
            topic_ids=self.topic_ids,
            configs=self.configs,
            replicas={place: each.replicas for place, each in self.partitions.items()},
            releases=self.releases(),
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
    copies = [d for d in evidence.partition_directories(_REQUEST) if d.is_replica]
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
    replay = _Replay()
    start = 0
    for end_offset, snapshot in reversed(metadata_snapshots(directory)):
        if snapshot.log_size is None:
            continue
        segment_slice = SegmentSlice.whole(directory, snapshot, is_log_end=True)
        candidate = _Replay()
        last_type = None
        for _, leader_epoch, last_type, value in _rows(segment_slice):
            candidate.apply(end_offset - 1, leader_epoch, last_type, value)
        if last_type == SNAPSHOT_FOOTER:
            replay, start = candidate, end_offset
            break
        logger.warning("%s: a snapshot without its footer, not used", snapshot.path("log"))
    found = segments(directory)
    if start == 0 and (not found or found[0].base_offset > FIRST_OFFSETS):
        return None
    if start and found and found[0].base_offset > start:
        return None
    for segment_slice in slices_of(directory, replace(_REQUEST, from_offset=start)):
        for offset, leader_epoch, control_type, value in _rows(segment_slice):
            replay.apply(offset, leader_epoch, control_type, value)
    return replay.result(directory.path)


def _rows(segment_slice: SegmentSlice) -> Iterator[tuple[int, int, str | None, bytes | None]]:
    for rows in read_slice(segment_slice, _SCHEMA, _REQUEST, Damage(Mode.FAILFAST)):
        columns = (rows[name].to_pylist() for name in _COLUMNS)
        yield from zip(*columns, strict=True)


def _progress(metadata: ClusterMetadata) -> tuple[int, int]:
    return metadata.leader_epoch, metadata.last_offset


@dataclass
class _Replay:
    """The state of the cluster during a replay."""

    leader_epoch: int = -1
    last_offset: int = -1
    names: dict[str, str] = field(default_factory=dict)  # by topic id
    configs: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    features: dict[str, int] = field(default_factory=dict)
    partitions: defaultdict[str, dict[int, dict[str, Value]]] = field(
        default_factory=lambda: defaultdict(dict)
    )  # by topic id and partition, the fields of PartitionRecord
    transactions: MetadataTransactions = field(default_factory=MetadataTransactions)
    brokers: dict[int, tuple[str, ...]] = field(default_factory=dict)
    controllers: set[int] = field(default_factory=set)
    supported: dict[int, int] = field(default_factory=dict)

    def apply(
        self, offset: int, leader_epoch: int, control_type: str | None, value: bytes | None
    ) -> None:
        """Replay one record; log a warning if it cannot be read."""
        self.last_offset, self.leader_epoch = offset, leader_epoch
        if control_type is not None:
            return
        try:
            record = decode_framed(Family.METADATA, value or b"")
        except MessageError as error:
            logger.warning("metadata record at offset %d: %s; left out", offset, error)
            return
        if record.message is None:
            return
        readable = MetadataRecord({}, record.message.name, record.fields)
        for each in self.transactions.applied_by(readable):
            self._take(each)

    def _take(self, record: MetadataRecord) -> None:
        fields = record.fields
        match record.name:
            case "TopicRecord":
                self.names[fields["topicId"]] = fields["name"]
            case "RemoveTopicRecord":
                name = self.names.pop(fields["topicId"], None)
                self.partitions.pop(fields["topicId"], None)
                if name is not None:
                    self.configs.pop(name, None)
            case "ConfigRecord" if fields["resourceType"] == _TOPIC_RESOURCE:
                if fields["value"] is None:
                    self.configs[fields["resourceName"]].pop(fields["name"], None)
                else:
                    self.configs[fields["resourceName"]][fields["name"]] = fields["value"]
            case "FeatureLevelRecord":
                self.features[fields["name"]] = fields["featureLevel"]
            case "PartitionRecord":
                self.partitions[fields["topicId"]][fields["partitionId"]] = dict(fields)
            case "PartitionChangeRecord":
                known = self.partitions[fields["topicId"]].get(fields["partitionId"])
                if known is not None:
                    _merge(known, fields)
            case "RegisterBrokerRecord":
                self.brokers[fields["brokerId"]] = tuple(fields.get("logDirs") or ())
                self.supported[fields["brokerId"]] = _supported(fields)
            case "BrokerRegistrationChangeRecord" if fields.get("logDirs"):
                self.brokers[fields["brokerId"]] = tuple(fields["logDirs"])
            case "UnregisterBrokerRecord":
                self.brokers.pop(fields["brokerId"], None)
                self.supported.pop(fields["brokerId"], None)
            case "RegisterControllerRecord":
                self.controllers.add(fields["controllerId"])
                self.supported[fields["controllerId"]] = _supported(fields)
            case "UnregisterControllerRecord":
                self.controllers.discard(fields["controllerId"])
            case "ClearElrRecord":
                self._clear_elr(fields["topicName"])
            case _:
                pass

    def _clear_elr(self, topic: str) -> None:
        for topic_id, name in self.names.items():
            if topic in ("", name):
                for each in self.partitions[topic_id].values():
                    each["eligibleLeaderReplicas"] = each["lastKnownElr"] = None

    def result(self, source: str) -> ClusterMetadata:
        return ClusterMetadata(
            source=source,
            leader_epoch=self.leader_epoch,
            last_offset=self.last_offset,
            topic_ids={name: topic_id for topic_id, name in self.names.items()},
            configs={name: settings for name, settings in self.configs.items() if settings},
            features=self.features,
            brokers=self.brokers,
            controllers=frozenset(self.controllers),
            supported=self.supported,
            partitions={
                (self.names[topic_id], number): _membership(each, source, self.last_offset)
                for topic_id, inside in self.partitions.items()
                if topic_id in self.names
                for number, each in inside.items()
            },
        )


def _supported(registration: Mapping[str, Value]) -> int:
    """The highest ``metadata.version`` of a registration; 0 before 3.3, which did not name any."""
    return max(
        (
            each["maxSupportedVersion"]
            for each in registration.get("features") or ()
            if each["name"] == METADATA_VERSION
        ),
        default=0,
    )


def _merge(known: dict[str, Value], change: Mapping[str, Value]) -> None:
    """Apply a change; setting the leader, even to the same broker, raises the leader epoch."""
    if change["leader"] != _NO_LEADER_CHANGE:
        eligible = {*known["isr"], *(known.get("eligibleLeaderReplicas") or ())}
        if change["leader"] > NO_LEADER and change["leader"] not in eligible:
            known[_UNCLEAN_EPOCH] = known["leaderEpoch"] + 1
        known["leader"] = change["leader"]
        known["leaderEpoch"] += 1
    known["partitionEpoch"] += 1
    for name in _LISTS:
        if change.get(name) is not None:
            known[name] = change[name]


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
        unclean_epoch=fields.get(_UNCLEAN_EPOCH),
        directories=tuple(directories) if len(directories) == len(fields["replicas"]) else (),
        adding=tuple(fields.get("addingReplicas") or ()),
        removing=tuple(fields.get("removingReplicas") or ()),
    )
