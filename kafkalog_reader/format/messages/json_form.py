"""The JSON in which Kafka's tools print a message (its generated JsonConverter classes)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.messages.decoder import Value, default_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.format.messages.schema import Field, MessageSpec

_BLOBS: Final = ("bytes", "records")


def as_json(message: MessageSpec, version: int, value: Mapping[str, Value]) -> dict[str, Value]:
    """Values that ``json.dumps`` takes: bytes as base64, tagged fields only where not default.

    Like Kafka's tools, it omits tagged fields that the definition does not name.
    """
    return _structure(message.fields, version, value)


def _structure(
    fields: Sequence[Field], version: int, value: Mapping[str, Value]
) -> dict[str, Value]:
    shown = {}
    for field in fields:
        if version not in field.versions:
            continue
        one = value[field.name]
        if version in field.tagged and one == default_of(field, version):
            continue
        shown[field.name] = _value(field, version, one)
    return shown


def _value(field: Field, version: int, value: Value) -> Value:
    if value is None:
        return None
    if field.fields and field.type.startswith("[]"):
        return [_structure(field.fields, version, each) for each in value]
    if field.fields:
        return _structure(field.fields, version, value)
    if field.type in _BLOBS:
        return base64.b64encode(value).decode()
    return value
