"""Prints control records as ``kafka-dump-log`` 4.3 does, KRaft's messages as JSON.

Source: Kafka 4.3, tools.DumpLogSegments#printControlRecord; LeaderChangeMessage.json and the like.
"""

from __future__ import annotations

import json
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
from kafkalog_reader.format.control_record import (
    ControlType,
    parse_control_record_key,
    parse_end_transaction_marker,
)
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
# Flexible messages: each struct ends with its tagged fields, which are ignored here.
MESSAGES: Final[dict[ControlType, tuple[str, Construct]]] = {
    ControlType.LEADER_CHANGE: (
        "LeaderChange:",
        Struct(
            "version" / Int16sb,
            "leaderId" / Int32sb,
            "voters" / _compact(_VOTER),
            "grantingVoters" / _compact(_VOTER),
            "_tagged" / TAGGED_FIELDS,
        ),
    ),
    ControlType.SNAPSHOT_HEADER: (
        "SnapshotHeader",
        Struct(
            "version" / Int16sb,
            "lastContainedLogTimestamp" / Int64sb,
            "_tagged" / TAGGED_FIELDS,
        ),
    ),
    ControlType.SNAPSHOT_FOOTER: (
        "SnapshotFooter",
        Struct("version" / Int16sb, "_tagged" / TAGGED_FIELDS),
    ),
    ControlType.KRAFT_VERSION: (
        "KRaftVersion",
        Struct("version" / Int16sb, "kRaftVersion" / Int16sb, "_tagged" / TAGGED_FIELDS),
    ),
    ControlType.KRAFT_VOTERS: (
        "KRaftVoters",
        Struct(
            "version" / Int16sb,
            "voters" / _compact(Struct(
                "voterId" / Int32sb,
                "voterDirectoryId" / UUID,
                "endpoints" / _compact(_ENDPOINT),
                "kRaftVersionFeature" / _VERSION_RANGE,
                "_tagged" / TAGGED_FIELDS,
            )),
            "_tagged" / TAGGED_FIELDS,
        ),
    ),
}  # fmt: skip


def control_record_words(key: bytes | None, value: bytes | None, where: LogPosition) -> str:
    """The rest of the line of a control record, beginning with a space.

    Raises:
        CorruptRecordError: a key or value does not match its type.
    """
    parsed = parse_control_record_key(key, where)
    kind = parsed.control_type
    if kind in (ControlType.ABORT, ControlType.COMMIT):
        marker = parse_end_transaction_marker(value, where)
        return f" endTxnMarker: {kind.name} coordinatorEpoch: {marker.coordinator_epoch}"
    if kind not in MESSAGES:
        return f" controlType: UNKNOWN({parsed.type_id})"
    label, message = MESSAGES[kind]
    try:
        fields = message.parse(b"" if value is None else value)
    except (ConstructError, OverflowError, MemoryError) as error:
        size = 0 if value is None else len(value)
        raise CorruptRecordError(f"{size} bytes are not a {kind.name} message", where) from error
    return f" {label} {json.dumps(_as_json(fields), separators=(',', ':'))}"


def _as_json(fields: Any) -> Any:  # noqa: ANN401  whatever construct parsed
    if isinstance(fields, dict):
        return {
            name: _as_json(field)
            for name, field in fields.items()
            if not name.startswith("_") and field is not None
        }
    return [_as_json(field) for field in fields] if isinstance(fields, list) else fields
