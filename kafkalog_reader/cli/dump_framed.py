"""Framed values of internal topics as ``kafka-dump-log`` 4.3 prints them.

Those of ``__cluster_metadata`` and ``__remote_log_metadata`` begin with a frame. What the tool
prints about a value that it cannot read is Kafka's text, too. Source: AbstractApiMessageSerde, and
DumpLogSegments with its parsers of these topics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.messages.decoder import (
    MessageError,
    Value,
    decode_prefix,
    read_unsigned_varint,
)
from kafkalog_reader.format.messages.records import FRAME_VERSION, DecodedMessage
from kafkalog_reader.format.messages.schema import Family, Part, messages_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Fields = Mapping[str, Value]

_FRAME: Final = ("frame version", "type", "version")
_SEGMENT_STATES: Final = (
    "COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED",
)  # fmt: skip
"""RemoteLogSegmentState by its id."""
_PARTITION_STATES: Final = (
    "DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED",
)  # fmt: skip
"""RemotePartitionDeleteState by its id."""


_NULL: Final = (
    'Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value of '
    '"org.apache.kafka.common.record.internal.Record.value()" is null'
)
"""What Java says about a tombstone, which no release writes."""


class RefusedError(ValueError):
    """Kafka's tool cannot read the value; the message is what it prints."""


def decode_as_the_tool(family: Family, content: bytes) -> DecodedMessage:
    """Decode a framed value with the newest definition of its type, as the tool does.

    A newer version is read as the newest known one, as Kafka's generated code does.

    Raises:
        RefusedError: the tool cannot read it.
    """
    frame, type_, version, position = _frame(content)
    if frame == 0:
        raise RefusedError(
            "Could not deserialize metadata record with frame version 0. Note that upgrades from "
            "the preview release of KRaft in 2.8 to newer versions are not supported."
        )
    if frame != FRAME_VERSION:
        raise RefusedError(
            f"Could not deserialize metadata record due to unknown frame version {frame}"
            f"(only frame version {FRAME_VERSION} is supported)"
        )
    known = messages_of(family, Part.VALUE).get(type_)
    if known is None:
        raise RefusedError(
            "org.apache.kafka.common.errors.UnsupportedVersionException: "
            f"Unknown metadata id {type_}"
        )
    message = known[0]
    try:
        read_as = min(version, message.versions.last)
        fields, end = decode_prefix(message, read_as, content, position)
    except MessageError:
        raise RefusedError(f"Failed to deserialize record with type {type_}") from None
    if end != len(content):
        raise RefusedError(f"Found {len(content) - end} byte(s) of garbage after {type_}")
    return DecodedMessage(type_, version, message, fields)


def remote_log_metadata(
    offset: int, _key: bytes | None, value: bytes | None
) -> tuple[str | None, str | None]:
    """A value of ``__remote_log_metadata`` as Java's ``toString`` writes it."""
    if value is None:
        return None, f"Error at offset {offset}, skipping. {_NULL}"
    try:
        decoded = decode_as_the_tool(Family.REMOTE, value)
        return None, _SHOWN[decoded.type](decoded.fields)
    except RefusedError as error:
        return None, f"Error at offset {offset}, skipping. {error}"


def _frame(content: bytes) -> tuple[int, int, int, int]:
    """Frame version, type, version, and where the message begins."""
    found, position = [], 0
    for what in _FRAME:
        try:
            number, position = read_unsigned_varint(content, position)
        except (IndexError, MessageError):
            raise RefusedError(f"Error while reading {what}") from None
        found.append(number)
    frame, type_, version = found
    return frame, type_, version, position


def _segment(fields: Fields) -> str:
    _check_segment(fields)
    return _java_object(
        "RemoteLogSegmentMetadata",
        remoteLogSegmentId=_segment_id(fields["remoteLogSegmentId"]),
        startOffset=fields["startOffset"],
        endOffset=fields["endOffset"],
        brokerId=fields["brokerId"],
        maxTimestampMs=fields["maxTimestampMs"],
        eventTimestampMs=fields["eventTimestampMs"],
        **_shared(fields),
    )


def _snapshot(fields: Fields) -> str:
    return _java_object(
        "RemoteLogSegmentMetadataSnapshot",
        segmentId=fields["segmentId"],
        startOffset=fields["startOffset"],
        endOffset=fields["endOffset"],
        maxTimestampMs=fields["maxTimestampMs"],
        **_shared(fields),
    )


def _shared(fields: Fields) -> dict[str, object]:
    if not fields["segmentLeaderEpochs"]:
        raise RefusedError("segmentLeaderEpochs can not be null or empty")
    epochs = {each["leaderEpoch"]: each["offset"] for each in fields["segmentLeaderEpochs"]}
    in_order = ", ".join(f"{epoch}={epochs[epoch]}" for epoch in sorted(epochs))
    return {
        "segmentLeaderEpochs": f"{{{in_order}}}",
        "segmentSizeInBytes": fields["segmentSizeInBytes"],
        "customMetadata": _custom(fields),
        "state": _segment_state(fields),
        "txnIdxEmpty": "true" if fields["txnIndexEmpty"] else "false",
    }


def _update(fields: Fields) -> str:
    return _java_object(
        "RemoteLogSegmentMetadataUpdate",
        remoteLogSegmentId=_segment_id(fields["remoteLogSegmentId"]),
        customMetadata=_custom(fields),
        state=_segment_state(fields),
        eventTimestampMs=fields["eventTimestampMs"],
        brokerId=fields["brokerId"],
    )


def _deletion(fields: Fields) -> str:
    number = fields["remotePartitionDeleteState"]
    if not 0 <= number < len(_PARTITION_STATES):
        raise RefusedError("null")
    return _java_object(
        "RemotePartitionDeleteMetadata",
        topicPartition=_topic_partition(fields["topicIdPartition"]),
        state=_PARTITION_STATES[number],
        eventTimestampMs=fields["eventTimestampMs"],
        brokerId=fields["brokerId"],
    )


_SHOWN: Final[dict[int, Callable[[Fields], str]]] = {
    0: _segment, 1: _update, 2: _deletion, 3: _snapshot
}  # fmt: skip
"""By record type."""


def _check_segment(fields: Fields) -> None:
    """Check what the constructor of RemoteLogSegmentMetadata does, in its order.

    Raises:
        RefusedError: Kafka has no such segment.
    """
    start, end = fields["startOffset"], fields["endOffset"]
    if start < 0:
        raise RefusedError(
            f"Unexpected start offset = {start}. StartOffset for a remote segment cannot be "
            "negative"
        )
    if end < start:
        raise RefusedError(
            f"Unexpected end offset = {end}. EndOffset for a remote segment cannot be less than "
            f"startOffset = {start}"
        )


def _segment_state(fields: Fields) -> str:
    number = fields["remoteLogSegmentState"]
    if not 0 <= number < len(_SEGMENT_STATES):
        raise RefusedError("state can not be null")
    return _SEGMENT_STATES[number]


def _segment_id(fields: Fields) -> str:
    return _java_object(
        "RemoteLogSegmentId",
        topicIdPartition=_topic_partition(fields["topicIdPartition"]),
        id=fields["id"],
    )


def _topic_partition(fields: Fields) -> str:
    return f"{fields['id']}:{fields['name']}-{fields['partition']}"


def _custom(fields: Fields) -> str:
    content = fields["customMetadata"]
    if content is None:
        return "Optional.empty"
    return f"Optional[CustomMetadata{{{len(content)} bytes}}]"


def _java_object(name: str, **fields: object) -> str:
    return f"{name}{{{', '.join(f'{each}={value}' for each, value in fields.items())}}}"
