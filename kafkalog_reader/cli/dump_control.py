"""Prints control records as ``kafka-dump-log`` 4.3 does, KRaft's messages as JSON.

Source: Kafka 4.3, tools.DumpLogSegments#printControlRecord.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.format.control_record import (
    ControlType,
    parse_control_record_key,
    parse_end_transaction_marker,
)
from kafkalog_reader.format.kraft_message import parse_kraft_message

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition


_LABELS: Final = {
    ControlType.LEADER_CHANGE: "LeaderChange:",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeader",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooter",
    ControlType.KRAFT_VERSION: "KRaftVersion",
    ControlType.KRAFT_VOTERS: "KRaftVoters",
}


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
    if kind not in _LABELS:
        return f" controlType: UNKNOWN({parsed.type_id})"
    fields = parse_kraft_message(kind, value, where)
    return f" {_LABELS[kind]} {json.dumps(_as_json(fields), separators=(',', ':'))}"


def _as_json(fields: Any) -> Any:  # noqa: ANN401  whatever construct parsed
    if isinstance(fields, dict):
        return {
            name: _as_json(field)
            for name, field in fields.items()
            if not name.startswith("_") and field is not None
        }
    return [_as_json(field) for field in fields] if isinstance(fields, list) else fields
