"""Records of the KRaft metadata log about topics, their settings and their partitions.

A value is a frame (version, type, record version, as unsigned varints) around a message in flexible
encoding (KIP-482). Source: Kafka 4.3, MetadataRecordSerde and the messages in metadata/src/main.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.uuid import UUID_SIZE, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME_VERSION: Final = 1
NO_LEADER_CHANGE: Final = -2
TOPIC_RESOURCE: Final = 2
_INT32: Final = struct.Struct(">i")
_MAX_VARINT: Final = 5
_DIRECTORIES_SINCE: Final = 1
_NEWEST_PARTITION_RECORD: Final = 2


class MetadataRecordType(IntEnum):
    """The API keys of the records that are decoded; all others are skipped."""

    TOPIC = 2
    PARTITION = 3
    CONFIG = 4
    PARTITION_CHANGE = 5
    REMOVE_TOPIC = 9
    FEATURE_LEVEL = 12
    BEGIN_TRANSACTION = 23
    END_TRANSACTION = 24
    ABORT_TRANSACTION = 25
    CLEAR_ELR = 28


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """A topic was created."""

    name: str
    topic_id: str


@dataclass(frozen=True, slots=True)
class RemoveTopicRecord:
    """A topic was deleted."""

    topic_id: str


@dataclass(frozen=True, slots=True)
class ConfigRecord:
    """A setting was given a value, or None: it was removed."""

    resource_type: int
    resource_name: str
    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class FeatureLevelRecord:
    """A feature, such as ``metadata.version``, was finalised at a level; 0 disables it."""

    name: str
    feature_level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRecord:
    """The complete state of a partition."""

    partition: int
    topic_id: str
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChangeRecord:
    """A change of a partition; None (for the leader, -2) means unchanged."""

    partition: int
    topic_id: str
    leader: int
    replicas: tuple[int, ...] | None
    isr: tuple[int, ...] | None
    elr: tuple[int, ...] | None
    last_known_elr: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class ClearElrRecord:
    """The eligible leader replicas of a topic were cleared, or of all topics if none is named."""

    topic: str


@dataclass(frozen=True, slots=True)
class TransactionRecord:
    """Begin, end or abort: records between begin and end apply together or not at all (KIP-868)."""

    type: MetadataRecordType


MetadataRecord = (
    TopicRecord
    | RemoveTopicRecord
    | ConfigRecord
    | FeatureLevelRecord
    | PartitionRecord
    | PartitionChangeRecord
    | ClearElrRecord
    | TransactionRecord
)


def decode_metadata_record(value: bytes) -> MetadataRecord | None:
    """Decode the value of one record; None for types that do not concern partitions.

    Raises:
        ValueError: the bytes are not a metadata record, or its version is unknown.
    """
    fields = _Fields(value)
    frame_version, record_type, version = fields.varint(), fields.varint(), fields.varint()
    if frame_version != FRAME_VERSION:
        raise ValueError(f"frame version {frame_version}, expected {FRAME_VERSION}")
    decode = _DECODERS.get(record_type)
    if decode is None:
        return None
    newest, read = decode
    if version > newest:
        raise ValueError(f"record type {record_type} in version {version}, known up to {newest}")
    record = read(fields, version)
    fields.expect_end()
    return record


def _topic(fields: _Fields, _version: int) -> MetadataRecord:
    record = TopicRecord(fields.text(), fields.uuid())
    fields.tags()
    return record


def _remove_topic(fields: _Fields, _version: int) -> MetadataRecord:
    record = RemoveTopicRecord(fields.uuid())
    fields.tags()
    return record


def _config(fields: _Fields, _version: int) -> MetadataRecord:
    resource_type, resource, name = fields.byte(), fields.text(), fields.text()
    record = ConfigRecord(resource_type, resource, name, fields.nullable_text())
    fields.tags()
    return record


def _feature_level(fields: _Fields, _version: int) -> MetadataRecord:
    record = FeatureLevelRecord(fields.text(), int.from_bytes(fields.take(2), "big", signed=True))
    fields.tags()
    return record


def _clear_elr(fields: _Fields, _version: int) -> MetadataRecord:
    record = ClearElrRecord(fields.text())
    fields.tags()
    return record


def _transaction(record_type: MetadataRecordType) -> Callable[[_Fields, int], MetadataRecord]:
    def read(fields: _Fields, _version: int) -> MetadataRecord:
        fields.tags()
        return TransactionRecord(record_type)

    return read


def _partition(fields: _Fields, version: int) -> MetadataRecord:
    partition, topic_id = fields.int32(), fields.uuid()
    replicas, isr = fields.int32s(), fields.int32s()
    fields.int32s()  # removing replicas
    fields.int32s()  # adding replicas
    leader, leader_epoch, partition_epoch = fields.int32(), fields.int32(), fields.int32()
    if version >= _DIRECTORIES_SINCE:
        fields.take(fields.length() * UUID_SIZE)
    tags = fields.tags()
    return PartitionRecord(
        partition=partition,
        topic_id=topic_id,
        replicas=replicas,
        isr=isr,
        leader=leader,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
        elr=_tagged_int32s(tags, 1) or (),
        last_known_elr=_tagged_int32s(tags, 2) or (),
    )


def _partition_change(fields: _Fields, _version: int) -> MetadataRecord:
    partition, topic_id = fields.int32(), fields.uuid()
    tags = fields.tags()
    leader = tags.get(1)
    return PartitionChangeRecord(
        partition=partition,
        topic_id=topic_id,
        leader=NO_LEADER_CHANGE if leader is None else _Fields(leader).int32(),
        replicas=_tagged_int32s(tags, 2),
        isr=_tagged_int32s(tags, 0),
        elr=_tagged_int32s(tags, 6),
        last_known_elr=_tagged_int32s(tags, 7),
    )


_DECODERS: Final[dict[int, tuple[int, Callable[[_Fields, int], MetadataRecord]]]] = {
    MetadataRecordType.TOPIC: (0, _topic),
    MetadataRecordType.PARTITION: (_NEWEST_PARTITION_RECORD, _partition),
    MetadataRecordType.CONFIG: (0, _config),
    MetadataRecordType.PARTITION_CHANGE: (_NEWEST_PARTITION_RECORD, _partition_change),
    MetadataRecordType.REMOVE_TOPIC: (0, _remove_topic),
    MetadataRecordType.FEATURE_LEVEL: (0, _feature_level),
    MetadataRecordType.CLEAR_ELR: (0, _clear_elr),
    **{
        each: (0, _transaction(each))
        for each in (
            MetadataRecordType.BEGIN_TRANSACTION,
            MetadataRecordType.END_TRANSACTION,
            MetadataRecordType.ABORT_TRANSACTION,
        )
    },
}
"""The newest known version and the reader of each type."""


def _tagged_int32s(tags: dict[int, bytes], tag: int) -> tuple[int, ...] | None:
    content = tags.get(tag)
    if content is None:
        return None
    fields = _Fields(content)
    return None if content[:1] == b"\0" else fields.int32s()


class _Fields:
    """Reads the fields of one message in flexible encoding, in order.

    Every method raises ValueError if the bytes end too early or contradict themselves.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = 0

    def take(self, size: int) -> bytes:
        start, self._position = self._position, self._position + size
        if self._position > len(self._content):
            raise ValueError(f"field of {size} bytes beyond the end of {len(self._content)}")
        return self._content[start : self._position]

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        position = self._position
        if position < len(self._content) and (number := self._content[position]) < 0x80:
            self._position = position + 1  # nearly all have one byte
            return number
        number = 0
        for shift in range(_MAX_VARINT):
            byte = self.byte()
            number |= (byte & 0x7F) << (7 * shift)
            if byte < 0x80:
                return number
        raise ValueError("varint of more than five bytes")

    def length(self) -> int:
        """A compact length, which is stored one higher so that 0 is null."""
        stored = self.varint()
        if stored == 0:
            raise ValueError("null where a value is required")
        return stored - 1

    def int32(self) -> int:
        (number,) = _INT32.unpack(self.take(4))
        return int(number)

    def int32s(self) -> tuple[int, ...]:
        count = self.length()
        return struct.unpack(f">{count}i", self.take(4 * count))

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8")

    def nullable_text(self) -> str | None:
        stored = self.varint()
        return None if stored == 0 else self.take(stored - 1).decode("utf-8")

    def uuid(self) -> str:
        return uuid_text(self.take(UUID_SIZE))

    def tags(self) -> dict[int, bytes]:
        """Tagged fields by tag (KIP-482)."""
        found = {}
        for _ in range(self.varint()):
            tag, size = self.varint(), self.varint()
            found[tag] = self.take(size)
        return found

    def expect_end(self) -> None:
        if self._position != len(self._content):
            raise ValueError(f"{len(self._content) - self._position} bytes after the last field")
