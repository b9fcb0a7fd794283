"""Keys and values of internal topics as the decoders of ``kafka-dump-log`` 4.3 print them.

Source: org.apache.kafka.tools.DumpLogSegments and its MessageParser classes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.dump_framed import (
    RefusedError,
    decode_as_the_tool,
    remote_log_metadata,
)
from kafkalog_reader.format.messages.decoder import MessageError, Value, decode_prefix
from kafkalog_reader.format.messages.json_form import as_json
from kafkalog_reader.format.messages.records import (
    DecodedMessage,
    decode_key,
    decode_value,
)
from kafkalog_reader.format.messages.schema import Family, message

if TYPE_CHECKING:
    from collections.abc import Callable

    Decoder = Callable[[int, bytes | None, bytes | None], tuple[str | None, str | None]]
    """Takes offset, key and value; returns what is printed of key and value, None for nothing."""

_GROUP_METADATA: Final = 2
_CONSUMER: Final = "consumer"
_EMBEDDED: Final = {
    "subscription": "ConsumerProtocolSubscription",
    "assignment": "ConsumerProtocolAssignment",
}
_ESCAPE: Final = re.compile(r"\\u00[0-9a-f]{2}")
_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")


def _coordinator(family: Family) -> Decoder:
    """Records of a coordinator: type and version before the data."""

    def words(offset: int, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
        if key is None:
            return f"Error at offset {offset}, skipping. The record has no key.", None
        try:
            decoded = decode_key(family, key)
            if decoded.message is None:
                return f"Unknown record type {decoded.type} at offset {offset}, skipping.", None
            shown_key = _text({"type": str(decoded.type), "data": _data(decoded)})
            if value is None:
                return shown_key, "<DELETE>"
            of_value = decode_value(family, decoded.type, value)
            data = _data(of_value)
            if family is Family.GROUP and of_value.type == _GROUP_METADATA:
                _open_members(of_value, data)
        except MessageError as error:
            return f"Error at offset {offset}, skipping. {error}", None
        return shown_key, _text({"version": str(of_value.version), "data": data})

    return words


def _metadata(
    offset: int, _key: bytes | None, value: bytes | None
) -> tuple[str | None, str | None]:
    try:
        decoded = decode_as_the_tool(Family.METADATA, value or b"")
    except RefusedError as error:
        return None, f"Error at {offset}, skipping. {error}"
    assert decoded.message is not None
    kind = _WORD.sub("_", decoded.message.name).upper()
    return None, _text({"type": kind, "version": decoded.version, "data": _data(decoded)})


DECODERS: Final[dict[str, Decoder]] = {
    "offsets": _coordinator(Family.GROUP),
    "transaction-log": _coordinator(Family.TRANSACTION),
    "share-group-state": _coordinator(Family.SHARE),
    "cluster-metadata": _metadata,
    "remote-log-metadata": remote_log_metadata,
}
"""By the option of Kafka's tool, ``--NAME-decoder``."""


def _data(decoded: DecodedMessage) -> dict[str, Value]:
    assert decoded.message is not None
    version = min(decoded.version, decoded.message.versions.last)
    return as_json(decoded.message, version, decoded.fields)


def _open_members(decoded: DecodedMessage, data: dict[str, Value]) -> None:
    """Replace the subscriptions and assignments of consumers by what they say."""
    if decoded.fields["protocolType"] != _CONSUMER:
        return
    for shown, stored in zip(data["members"], decoded.fields["members"], strict=True):
        for field, name in _EMBEDDED.items():
            content = stored[field]
            if len(content) < 2:
                raise MessageError(f"{field} has no version", 0)
            known = message(name)
            version = min(int.from_bytes(content[:2], "big", signed=True), known.versions.last)
            shown[field] = as_json(known, version, decode_prefix(known, version, content, 2)[0])


def _text(value: Value) -> str:
    """JSON as Jackson writes it."""
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPE.sub(lambda match: match[0][:4] + match[0][4:].upper(), compact)
