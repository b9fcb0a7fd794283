"""The messages of KRaft's control records: leader changes, voters, snapshot borders.

Each is flexible (KIP-482): a struct ends with its tagged fields, which are ignored here. Source:
Kafka 4.3, LeaderChangeMessage.json and the like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from construct import (
    Adapter,
    Array,
    Bytes,
    Construct,
    ConstructError,
    FocusedSeq,
    If,
    Int16sb,
    Int16ub,
    Int32sb,
    Int64sb,
    PrefixedArray,
    Struct,
    VarInt,
    this,
)

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.java_text import java_text
from kafkalog_reader.format.uuid import uuid_text

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition


class _Uuid(Adapter):  # type: ignore[misc]  # construct has no types
    def _decode(self, content: bytes, _context: Any, _path: str) -> str:  # noqa: ANN401  construct's
        return uuid_text(content)


class _Text(Adapter):  # type: ignore[misc]  # construct has no types
    def _decode(self, content: bytes, _context: Any, _path: str) -> str:  # noqa: ANN401  construct's
        return java_text(content)


def _compact(element: Construct) -> Construct:
    """A compact array: the count is stored one greater, 0 is null."""
    return FocusedSeq("items", "stored" / VarInt, "items" / Array(_less_one, element))


def _less_one(context: Any) -> int:  # noqa: ANN401  construct's
    return max(0, int(context.stored) - 1)


COMPACT_STRING: Final = _Text(
    FocusedSeq("content", "stored" / VarInt, "content" / Bytes(_less_one))
)
UUID: Final = _Uuid(Bytes(16))
TAGGED_FIELDS: Final = PrefixedArray(
    VarInt, Struct("tag" / VarInt, "size" / VarInt, "content" / Bytes(this.size))
)
_VOTER: Final = Struct(
    "voterId" / Int32sb,
    "voterDirectoryId" / If(this._root.version >= 1, UUID),
    "_tagged" / TAGGED_FIELDS,
)
_ENDPOINT: Final = Struct(
    "name" / COMPACT_STRING, "host" / COMPACT_STRING, "port" / Int16ub, "_tagged" / TAGGED_FIELDS
)
_VERSION_RANGE: Final = Struct(
    "minSupportedVersion" / Int16sb, "maxSupportedVersion" / Int16sb, "_tagged" / TAGGED_FIELDS
)
_KRAFT_VOTER: Final = Struct(
    "voterId" / Int32sb,
    "voterDirectoryId" / UUID,
    "endpoints" / _compact(_ENDPOINT),
    "kRaftVersionFeature" / _VERSION_RANGE,
    "_tagged" / TAGGED_FIELDS,
)
KRAFT_MESSAGES: Final[dict[ControlType, Construct]] = {
    ControlType.LEADER_CHANGE: Struct(
        "version" / Int16sb,
        "leaderId" / Int32sb,
        "voters" / _compact(_VOTER),
        "grantingVoters" / _compact(_VOTER),
        "_tagged" / TAGGED_FIELDS,
    ),
    ControlType.SNAPSHOT_HEADER: Struct(
        "version" / Int16sb,
        "lastContainedLogTimestamp" / Int64sb,
        "_tagged" / TAGGED_FIELDS,
    ),
    ControlType.SNAPSHOT_FOOTER: Struct("version" / Int16sb, "_tagged" / TAGGED_FIELDS),
    ControlType.KRAFT_VERSION: Struct(
        "version" / Int16sb, "kRaftVersion" / Int16sb, "_tagged" / TAGGED_FIELDS
    ),
    ControlType.KRAFT_VOTERS: Struct(
        "version" / Int16sb, "voters" / _compact(_KRAFT_VOTER), "_tagged" / TAGGED_FIELDS
    ),
}


def parse_kraft_message(kind: ControlType, value: bytes | None, where: LogPosition) -> Any:  # noqa: ANN401  construct's
    """Parse the value of a control record whose type is in ``KRAFT_MESSAGES``.

    Raises:
        CorruptRecordError: the bytes are not such a message.
    """
    try:
        return KRAFT_MESSAGES[kind].parse(b"" if value is None else value)
    except (ConstructError, OverflowError, MemoryError) as error:
        size = 0 if value is None else len(value)
        raise CorruptRecordError(f"{size} bytes are not a {kind.name} message", where) from error
