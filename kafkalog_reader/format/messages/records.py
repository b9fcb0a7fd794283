"""Decodes the keys and values of records of internal topics.

A coordinator's key begins with the record type, its value with the version (two bytes each). Values
of ``__cluster_metadata`` and ``__remote_log_metadata`` begin with three unsigned varints: frame
version, type and version. Source: CoordinatorRecordSerde, AbstractApiMessageSerde.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kafkalog_reader.format.messages.decoder import (
    UNKNOWN_TAGS,
    MessageError,
    UnknownVersionError,
    Value,
    decode,
    read_unsigned_varint,
)
from kafkalog_reader.format.messages.schema import Family, MessageSpec, Part, messages_of

FRAME_VERSION: Final = 1
_NUMBER: Final = struct.Struct(">h")
_UNKNOWN_TYPE: Final = "no known release has record type"


@dataclass(frozen=True, slots=True)
class DecodedMessage:
    """A key or value.

    Attributes:
        type: number of the record type.
        version: of the message; for a key, the only version of its definition.
        message: None if no known release has the type.
        fields: by name; empty if the type is unknown.
    """

    type: int
    version: int
    message: MessageSpec | None
    fields: Mapping[str, Value]

    @property
    def unknown_tags(self) -> str | None:
        """Tagged fields of later releases as JSON: path and number to hexadecimal; None: none."""
        found: dict[str, str] = {}
        waiting: list[tuple[str, object]] = [("", self.fields)]
        while waiting:
            path, value = waiting.pop()
            if isinstance(value, list):
                waiting += [(f"{path}{number}.", each) for number, each in enumerate(value)]
            elif isinstance(value, Mapping):
                for tag, raw in value.get(UNKNOWN_TAGS, {}).items():
                    found[f"{path}{tag}"] = raw.hex()
                known = (each for each in value.items() if each[0] != UNKNOWN_TAGS)
                waiting += [(f"{path}{name}.", each) for name, each in known]
        return json.dumps(found) if found else None


def unknown_type(number: int) -> str:
    """The problem of a record whose type no known release has: its coordinator passes over it."""
    return f"{_UNKNOWN_TYPE} {number}"


def is_unknown_type(problem: str) -> bool:
    """Whether a row's problem is that one."""
    return problem.startswith(_UNKNOWN_TYPE)


def decode_key(family: Family, content: bytes) -> DecodedMessage:
    """Decode a coordinator's key.

    Raises:
        MessageError: the bytes do not fit the definition of their type.
    """
    number = _number(content)
    known = messages_of(family, Part.KEY).get(number)
    if known is None:
        return DecodedMessage(number, 0, None, {})
    version = known[0].versions.first  # keys have one version each
    return DecodedMessage(number, version, known[0], decode(known[0], version, content, 2))


def decode_value(family: Family, type_: int, content: bytes) -> DecodedMessage:
    """Decode a coordinator's value; the type is in the key.

    Raises:
        UnknownVersionError: no known release has the version.
        MessageError: the bytes do not fit the definition.
    """
    return _decoded(family, type_, _number(content), content, 2)


def decode_framed(family: Family, content: bytes) -> DecodedMessage:
    """Decode a value of ``__cluster_metadata`` or ``__remote_log_metadata``.

    Raises:
        UnknownVersionError: no known release has the frame version or the version.
        MessageError: the bytes do not fit the definition.
    """
    try:
        frame, position = read_unsigned_varint(content, 0)
        type_, position = read_unsigned_varint(content, position)
        version, position = read_unsigned_varint(content, position)
    except IndexError as error:
        raise MessageError("the record ends within its frame", len(content)) from error
    if frame != FRAME_VERSION:
        raise UnknownVersionError(f"frame version {frame}, expected {FRAME_VERSION}", 0)
    return _decoded(family, type_, version, content, position)


def _number(content: bytes) -> int:
    if len(content) < _NUMBER.size:
        raise MessageError(f"{len(content)} bytes where at least 2 are needed", 0)
    number: int = _NUMBER.unpack_from(content)[0]
    return number


def _decoded(
    family: Family, type_: int, version: int, content: bytes, position: int
) -> DecodedMessage:
    """Try the shapes of a type, the newest first."""
    known = messages_of(family, Part.VALUE).get(type_)
    if known is None:
        return DecodedMessage(type_, version, None, {})
    problem: MessageError | None = None
    for message in known:
        try:
            fields = decode(message, version, content, position)
        except MessageError as error:
            problem = problem or error
        else:
            return DecodedMessage(type_, version, message, fields)
    assert problem is not None
    raise problem
