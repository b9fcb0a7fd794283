"""Applies the records of one copy of the metadata log, in order, to the state of the cluster.

It goes on without a record that a controller refuses (``replay_rules``), and notes the first one.
No controller leads with that record: nodes that come up know the state without it.
Source: Kafka 4.3, MetadataDelta, PartitionRegistration.merge.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.election.feature_levels import (
    FeatureLevel,
    FeatureRanges,
    Role,
    feature_ranges,
)
from kafkalog_reader.audits.election.membership import NO_LEADER
from kafkalog_reader.audits.election.replay_rules import RefusedRecord, Registrations
from kafkalog_reader.audits.recovery.node_releases import (
    KAFKA_3_6,
    METADATA_VERSION,
    NodeReleases,
)
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_framed
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.metadata_history import MetadataRecord
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.format.messages.decoder import Value
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.scan.segment_slice import SegmentSlice

logger = logging.getLogger(__name__)

_NO_LEADER_CHANGE: Final = -2
UNCLEAN_EPOCH: Final = "uncleanEpoch"
"""Added to the fields of a PartitionRecord during a replay."""
_LISTS: Final = (
    "replicas", "isr", "eligibleLeaderReplicas", "lastKnownElr", "directories", "addingReplicas",
    "removingReplicas",
)  # fmt: skip
"""Fields that a change replaces where it has them."""
_TOPIC_RESOURCE: Final = 2
"""Of org.apache.kafka.common.config.ConfigResource.Type."""
_COLUMNS: Final = ("offset", "leaderEpoch", "controlType", "value")
METADATA_REQUEST: Final = ReadRequest(columns=_COLUMNS, topics=frozenset({METADATA_TOPIC}))
_SCHEMA: Final = RecordsTable().projected(METADATA_REQUEST)


@dataclass
class MetadataReplay:
    """The state of the cluster during a replay.

    Attributes:
        names: of topics, by id.
        partitions: by topic id and partition, the fields of PartitionRecord.
        is_blank: no record was replayed, control records aside.
        levels: every record of a feature level, also of those that were aborted.
        ranges: by role and node id, the levels of features that a node registered.
        registrations: what the rules of a replay need besides.
        refused: the first record that a controller does not replay.
        in_snapshot: the records are those of a snapshot.
        snapshot_end: where the replayed snapshot ends; None without one.
    """

    leader_epoch: int = -1
    last_offset: int = -1
    names: dict[str, str] = field(default_factory=dict)
    configs: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    features: dict[str, int] = field(default_factory=dict)
    partitions: defaultdict[str, dict[int, dict[str, Value]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    brokers: dict[int, tuple[str, ...]] = field(default_factory=dict)
    controllers: set[int] = field(default_factory=set)
    supported: dict[int, int] = field(default_factory=dict)
    registrations: Registrations = field(default_factory=Registrations)
    refused: RefusedRecord | None = None
    levels: list[FeatureLevel] = field(default_factory=list)
    ranges: dict[tuple[Role, int], FeatureRanges] = field(default_factory=dict)
    is_blank: bool = True
    in_snapshot: bool = False
    snapshot_end: int | None = None
    _before_transaction: dict[str, Any] | None = None

    def apply_snapshot(self, segment_slice: SegmentSlice, end_offset: int) -> str | None:
        """Replay a snapshot; returns the control type of its last record."""
        self.in_snapshot, self.snapshot_end = True, end_offset
        last_type = None
        self.last_offset = end_offset - 1
        for _, leader_epoch, last_type, value in _rows(segment_slice):
            self.apply(end_offset - 1, leader_epoch, last_type, value)
        self.in_snapshot = False
        return last_type

    def apply_log(self, directory: PartitionDirectory, start: int) -> None:
        """Replay the log from an offset on; a transaction that is open at its end is aborted."""
        for segment_slice in slices_of(directory, replace(METADATA_REQUEST, from_offset=start)):
            for offset, leader_epoch, control_type, value in _rows(segment_slice):
                self.apply(offset, leader_epoch, control_type, value)
        self._abort()

    def apply(
        self, offset: int, leader_epoch: int, control_type: str | None, value: bytes | None
    ) -> None:
        """Replay one record; log a warning if it cannot be read."""
        self.last_offset, self.leader_epoch = offset, leader_epoch
        if control_type is not None:
            return
        self.is_blank = False
        try:
            record = decode_framed(Family.METADATA, value or b"")
        except MessageError as error:
            logger.warning("metadata record at offset %d: %s; left out", offset, error)
            self._refuse(offset, "a record", str(error), is_unreadable=True)
            return
        if record.message is None:
            return
        self.replay(MetadataRecord({"offset": offset}, record.message.name, record.fields))

    def replay(self, readable: MetadataRecord) -> None:
        """Replay a decoded record; its place has its offset.

        A controller replays what is in a transaction at once, and goes back where that is aborted.
        Source: Kafka 3.6, OffsetControlManager.
        """
        if not self._check(readable):
            return
        match readable.name:
            case "BeginTransactionRecord":
                self._before_transaction = self._copied()
                self.registrations.is_in_transaction = True
            case "EndTransactionRecord":
                self._before_transaction = None
                self.registrations.is_in_transaction = False
            case "AbortTransactionRecord":
                self._abort()
            case _:
                self._take(readable)

    def _copied(self) -> dict[str, Any]:
        """What an aborted transaction does not change, by attribute."""
        partitions = {
            topic_id: {number: dict(fields) for number, fields in inside.items()}
            for topic_id, inside in self.partitions.items()
        }
        return {
            "names": dict(self.names),
            "configs": defaultdict(dict, {name: dict(said) for name, said in self.configs.items()}),
            "features": dict(self.features),
            "partitions": defaultdict(dict, partitions),
            "brokers": dict(self.brokers),
            "controllers": set(self.controllers),
            "supported": dict(self.supported),
            "ranges": dict(self.ranges),
            "registrations": self.registrations.copied(),
        }

    def _abort(self) -> None:
        """Go back to the state before the open transaction, if there is one."""
        for name, value in (self._before_transaction or {}).items():
            setattr(self, name, value)
        self._before_transaction = None

    def _check(self, record: MetadataRecord) -> bool:
        """Whether a controller replays a record; note the first one that it does not."""
        reason = self.registrations.refusal(
            self, record.name, record.fields, in_snapshot=self.in_snapshot
        )
        if record.name == "TopicRecord" and self._releases.before(KAFKA_3_6):
            return True
        begins = record.name == "BeginTransactionRecord"
        if begins and not reason and record.place["offset"] == self.snapshot_end:
            reason = "the transaction begins where the loaded snapshot ends"
        if reason:
            self._refuse(record.place["offset"], record.name, reason)
        return not reason

    @property
    def _releases(self) -> NodeReleases:
        return NodeReleases(finalised=self.features.get(METADATA_VERSION), supported=self.supported)

    def _refuse(self, offset: int, name: str, reason: str, *, is_unreadable: bool = False) -> None:
        self.refused = self.refused or RefusedRecord(
            offset=offset, name=name, reason=reason, is_unreadable=is_unreadable,
            in_snapshot=self.in_snapshot,
        )  # fmt: skip

    def _take(self, record: MetadataRecord) -> None:
        fields = record.fields
        self.registrations.take(record.name, fields)
        match record.name:
            case "TopicRecord":
                self.names[fields["topicId"]] = fields["name"]
            case "RemoveTopicRecord":
                name = self.names.pop(fields["topicId"], None)
                self.partitions.pop(fields["topicId"], None)
                if name is not None:
                    self.configs.pop(name, None)
                    self.registrations.remove_topic(name, fields["topicId"])
            case "ConfigRecord" if fields["resourceType"] == _TOPIC_RESOURCE:
                if fields["value"] is None:
                    self.configs[fields["resourceName"]].pop(fields["name"], None)
                else:
                    self.configs[fields["resourceName"]][fields["name"]] = fields["value"]
            case "FeatureLevelRecord":
                self.features[fields["name"]] = fields["featureLevel"]
                self.levels.append(
                    FeatureLevel(
                        record.place["offset"], fields["name"], fields["featureLevel"],
                        self.in_snapshot,
                    )
                )  # fmt: skip
            case "PartitionRecord":
                self.partitions[fields["topicId"]][fields["partitionId"]] = dict(fields)
            case "PartitionChangeRecord":
                known = self.partitions[fields["topicId"]].get(fields["partitionId"])
                if known is not None:
                    _merge(known, fields)
            case "RegisterBrokerRecord":
                self.brokers[fields["brokerId"]] = tuple(fields.get("logDirs") or ())
                self.supported[fields["brokerId"]] = _supported(fields)
                self.ranges[Role.BROKER, fields["brokerId"]] = feature_ranges(fields)
            case "BrokerRegistrationChangeRecord" if fields.get("logDirs"):
                self.brokers[fields["brokerId"]] = tuple(fields["logDirs"])
            case "UnregisterBrokerRecord":
                self.brokers.pop(fields["brokerId"], None)
                self.supported.pop(fields["brokerId"], None)
            case "RegisterControllerRecord":
                self.controllers.add(fields["controllerId"])
                self.supported[fields["controllerId"]] = _supported(fields)
                self.ranges[Role.CONTROLLER, fields["controllerId"]] = feature_ranges(fields)
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


def _rows(segment_slice: SegmentSlice) -> Iterator[tuple[int, int, str | None, bytes | None]]:
    for rows in read_slice(segment_slice, _SCHEMA, METADATA_REQUEST, Damage(Mode.FAILFAST)):
        columns = (rows[name].to_pylist() for name in _COLUMNS)
        yield from zip(*columns, strict=True)


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
            known[UNCLEAN_EPOCH] = known["leaderEpoch"] + 1
        known["leader"] = change["leader"]
        known["leaderEpoch"] += 1
    known["partitionEpoch"] += 1
    for name in _LISTS:
        if change.get(name) is not None:
            known[name] = change[name]
