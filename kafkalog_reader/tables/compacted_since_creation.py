"""Topics from which only the log cleaner has ever removed records, by a whole metadata log.

Their logs begin at 0 on every broker. Source: Kafka 4.4, UnifiedLog.deleteOldSegments and
Partition.deleteRecordsOnLeader, which refuses DeleteRecords without ``delete`` in cleanup.policy;
LogCleaner, whose segments keep the base offset of the first that they replace.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.messages.decoder import MessageError, read_unsigned_varint
from kafkalog_reader.format.messages.records import decode_framed
from kafkalog_reader.format.messages.schema import Family, Part, messages_of
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.internal_topic import record_schema
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.metadata_history import (
    FIRST_OFFSETS,
    MetadataRecord,
    MetadataTransactions,
)
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

TopicIds = frozenset[str]

_POLICY: Final = "cleanup.policy"
_TOPIC: Final = 2
"""Of org.apache.kafka.common.config.ConfigResource.Type."""
_NO_MIGRATION: Final = 0
"""Of a cluster that was never in ZooKeeper (KIP-866, ZkMigrationState.NONE)."""
_OF_TOPICS: Final = frozenset({
    "TopicRecord", "RemoveTopicRecord", "PartitionRecord", "ConfigRecord", "ZkMigrationStateRecord",
    "BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord",
})  # fmt: skip
_REQUEST: Final = ReadRequest(columns=("value",), topics=frozenset({METADATA_TOPIC}))
_SCHEMA: Final = record_schema(("value",))


def compacted_since_creation(evidence: Evidence) -> dict[str | None, TopicIds]:
    """The ids of the topics that never had another policy than ``compact``, by cluster id.

    Empty for a cluster unless the copy of its metadata log that ends last is whole: a snapshot in
    place of its beginning has no history, damage may hide a change, and topics that came from
    ZooKeeper are older than the log. A topic without a policy of its own has the brokers', which
    may be in no file.
    """
    newest: dict[str | None, tuple[tuple[int, int], PartitionDirectory]] = {}
    for copy in evidence.partition_directories(_REQUEST):
        if not copy.is_replica:
            continue
        cluster_id = copy.log_directory.cluster_id
        try:
            tail = scan_tail(copy)
        except KafkaLogError:  # perhaps this one ends last
            reached = 1 << 63, 0
        else:
            reached = tail.last_leader_epoch or 0, tail.next_offset
        if cluster_id not in newest or newest[cluster_id][0] < reached:
            newest[cluster_id] = reached, copy
    return {cluster_id: _of_copy(copy) for cluster_id, (_, copy) in newest.items()}


def _of_copy(copy: PartitionDirectory) -> TopicIds:
    history = _History()
    try:
        found = [each for each in segments(copy) if each.log_size]
        if not found or found[0].base_offset > FIRST_OFFSETS:
            return frozenset()
        for record in _records(copy):
            history.apply(record)
    except (KafkaLogError, MessageError):  # others report it
        return frozenset()
    return history.topic_ids()


def _records(copy: PartitionDirectory) -> Iterator[MetadataRecord]:
    """The records of ``_OF_TOPICS``. Most others are NoOpRecords, and none of them is decoded."""
    wanted = {
        number
        for number, shapes in messages_of(Family.METADATA, Part.VALUE).items()
        if any(each.name in _OF_TOPICS for each in shapes)
    }
    transactions = MetadataTransactions()
    for segment_slice in slices_of(copy, _REQUEST):
        for rows in read_slice(segment_slice, _SCHEMA, _REQUEST, Damage(Mode.FAILFAST)):
            for value in rows["value"].to_pylist():
                if value is None or _type_of(value) not in wanted:
                    continue
                decoded = decode_framed(Family.METADATA, value)
                if decoded.message is not None:
                    record = MetadataRecord({}, decoded.message.name, decoded.fields)
                    yield from transactions.applied_by(record)


def _type_of(value: bytes) -> int:
    try:
        _, position = read_unsigned_varint(value, 0)
        return read_unsigned_varint(value, position)[0]
    except IndexError as error:
        raise MessageError("the record ends within its frame", len(value)) from error


@dataclass(slots=True)
class _History:
    """The topics of a replay, and those that once had another policy."""

    _names: dict[str, str] = field(default_factory=dict)  # by topic id
    _ids: dict[str, str] = field(default_factory=dict)  # by topic
    _policies: dict[str, str] = field(default_factory=dict)  # by topic
    _others: set[str] = field(default_factory=set)  # ids of topics that had another policy
    _with_partitions: set[str] = field(default_factory=set)  # ids
    _was_migrated: bool = False

    def apply(self, record: MetadataRecord) -> None:
        """Replay a record. The settings of a new topic come before its first partition."""
        fields = record.fields
        match record.name:
            case "TopicRecord":
                topic_id, topic = fields["topicId"], fields["name"]
                self._names[topic_id], self._ids[topic] = topic, topic_id
            case "RemoveTopicRecord":
                topic = self._names.pop(fields["topicId"], "")
                self._ids.pop(topic, None)
                self._policies.pop(topic, None)
            case "PartitionRecord":
                topic_id = fields["topicId"]
                self._with_partitions.add(topic_id)
                self._check(topic_id, self._policies.get(self._names.get(topic_id, ""), ""))
            case "ConfigRecord" if (fields["resourceType"], fields["name"]) == (_TOPIC, _POLICY):
                topic, policy = fields["resourceName"], fields["value"] or ""
                self._policies[topic] = policy
                self._check(self._ids.get(topic, ""), policy)
            case "ZkMigrationStateRecord":
                self._was_migrated |= fields["zkMigrationState"] != _NO_MIGRATION
            case _:
                pass

    def _check(self, topic_id: str, policy: str) -> None:
        if topic_id in self._with_partitions and policy.strip() != "compact":
            self._others.add(topic_id)

    def topic_ids(self) -> TopicIds:
        if self._was_migrated:
            return frozenset()
        return frozenset((self._with_partitions & self._names.keys()) - self._others)
