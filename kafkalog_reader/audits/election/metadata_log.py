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
from kafkalog_reader.audits.election.metadata_record import (
    NO_LEADER_CHANGE,
    TOPIC_RESOURCE,
    ClearElrRecord,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    MetadataRecordType,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
    TransactionRecord,
    decode_metadata_record,
)
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import metadata_snapshots, segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory

logger = logging.getLogger(__name__)

_FIRST_OFFSETS: Final = 1
"""A complete log begins at 0, or at 1 after the marker of its first leader."""
_ANY_END: Final = (math.inf, math.inf)
_FOOTER: Final = "SNAPSHOT_FOOTER"
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
    """

    source: str
    leader_epoch: int
    last_offset: int
    topic_ids: Mapping[str, str]
    configs: Mapping[str, Mapping[str, str]]
    features: Mapping[str, int]
    partitions: Mapping[tuple[str, int], PartitionMembership]

    def topics(self) -> ClusterTopics:
        """The parts that the prediction of a start needs."""
        return ClusterTopics(
            topic_ids=self.topic_ids,
            configs=self.configs,
            replicas={place: each.replicas for place, each in self.partitions.items()},
        )


def read_cluster_metadata(evidence: Evidence) -> dict[str | None, ClusterMetadata]:
    """Read the most advanced usable copy of each metadata log, by cluster id.

    Of several copies, the one that ends last is replayed; if that fails, the next one.

    A copy is used only if it can be replayed without a gap. If it is damaged, or its beginning was
    replaced by a snapshot that is missing, a warning names it.
    """
    best: dict[str | None, ClusterMetadata] = {}
    copies = [d for d in evidence.partition_directories(_REQUEST) if d.is_replica]
    ends = {copy: _end(copy) for copy in copies}
    for directory in sorted(copies, key=ends.__getitem__, reverse=True):
        known = best.get(directory.log_directory.cluster_id)
        if known is not None and _progress(known) >= ends[directory]:
            continue
        try:
            found = read_metadata_log(directory)
        except KafkaLogError as error:
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
        segment_slice = SegmentSlice(
            directory=directory,
            segment=snapshot,
            start=0,
            stop=snapshot.log_size,
            from_offset=0,
            to_offset=None,
            is_log_end=True,
        )
        candidate = _Replay()
        last_type = None
        for _, leader_epoch, last_type, value in _rows(segment_slice):
            candidate.apply(end_offset - 1, leader_epoch, last_type, value)
        if last_type == _FOOTER:
            replay, start = candidate, end_offset
            break
        logger.warning("%s: a snapshot without its footer, not used", snapshot.path("log"))
    found = segments(directory)
    if start == 0 and (not found or found[0].base_offset > _FIRST_OFFSETS):
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
    partitions: defaultdict[str, dict[int, PartitionRecord]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    open_transaction: list[MetadataRecord] | None = None

    def apply(
        self, offset: int, leader_epoch: int, control_type: str | None, value: bytes | None
    ) -> None:
        """Replay one record; log a warning if it cannot be read."""
        self.last_offset, self.leader_epoch = offset, leader_epoch
        if control_type is not None:
            return
        try:
            record = decode_metadata_record(value or b"")
        except ValueError as error:
            logger.warning("metadata record at offset %d: %s; left out", offset, error)
            return
        if isinstance(record, TransactionRecord):
            if record.type is MetadataRecordType.END_TRANSACTION:
                for each in self.open_transaction or ():
                    self._take(each)
            begins = record.type is MetadataRecordType.BEGIN_TRANSACTION
            self.open_transaction = [] if begins else None
        elif record is not None:
            if self.open_transaction is None:
                self._take(record)
            else:
                self.open_transaction.append(record)

    def _take(self, record: MetadataRecord) -> None:
        match record:
            case TopicRecord():
                self.names[record.topic_id] = record.name
            case RemoveTopicRecord():
                name = self.names.pop(record.topic_id, None)
                self.partitions.pop(record.topic_id, None)
                if name is not None:
                    self.configs.pop(name, None)
            case ConfigRecord() if record.resource_type == TOPIC_RESOURCE:
                if record.value is None:
                    self.configs[record.resource_name].pop(record.name, None)
                else:
                    self.configs[record.resource_name][record.name] = record.value
            case FeatureLevelRecord():
                self.features[record.name] = record.feature_level
            case PartitionRecord():
                self.partitions[record.topic_id][record.partition] = record
            case PartitionChangeRecord():
                known = self.partitions[record.topic_id].get(record.partition)
                if known is not None:
                    self.partitions[record.topic_id][record.partition] = _merged(known, record)
            case ClearElrRecord():
                self._clear_elr(record.topic)
            case _:
                pass

    def _clear_elr(self, topic: str) -> None:
        for topic_id, name in self.names.items():
            if topic in ("", name):
                self.partitions[topic_id] = {
                    number: replace(each, elr=(), last_known_elr=())
                    for number, each in self.partitions[topic_id].items()
                }

    def result(self, source: str) -> ClusterMetadata:
        return ClusterMetadata(
            source=source,
            leader_epoch=self.leader_epoch,
            last_offset=self.last_offset,
            topic_ids={name: topic_id for topic_id, name in self.names.items()},
            configs={name: settings for name, settings in self.configs.items() if settings},
            features=self.features,
            partitions={
                (self.names[topic_id], number): _membership(each, source, self.last_offset)
                for topic_id, inside in self.partitions.items()
                if topic_id in self.names
                for number, each in inside.items()
            },
        )


def _merged(known: PartitionRecord, change: PartitionChangeRecord) -> PartitionRecord:
    """Apply a change; setting the leader, even to the same broker, raises the leader epoch."""
    has_leader = change.leader != NO_LEADER_CHANGE
    return replace(
        known,
        leader=change.leader if has_leader else known.leader,
        leader_epoch=known.leader_epoch + has_leader,
        partition_epoch=known.partition_epoch + 1,
        replicas=known.replicas if change.replicas is None else change.replicas,
        isr=known.isr if change.isr is None else change.isr,
        elr=known.elr if change.elr is None else change.elr,
        last_known_elr=(
            known.last_known_elr if change.last_known_elr is None else change.last_known_elr
        ),
    )


def _membership(record: PartitionRecord, source: str, offset: int) -> PartitionMembership:
    return PartitionMembership(
        leader=max(record.leader, NO_LEADER),
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
        replicas=record.replicas,
        isr=record.isr,
        elr=record.elr,
        last_known_elr=record.last_known_elr,
        topic_id=record.topic_id,
        source=source,
        source_offset=offset,
    )
