"""Shows a message of magic 0 or 1 field by field, and the messages inside a wrapper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from construct import Bytes, ConstructError, Int32sb, Int64sb

from kafkalog_reader.format.batch_fields import CODEC_MASK, LENGTH_END, LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.crc import compute_crc32
from kafkalog_reader.format.layout import Structure, Walk, bytes_text, timestamp_text
from kafkalog_reader.format.message import (
    CRC_COVERS_FROM,
    KNOWN_ATTRIBUTES,
    MESSAGE_HEADERS,
    parse_message,
    parse_message_entry,
)
from kafkalog_reader.format.message_set import parse_message_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.format.layout import Meaning
    from kafkalog_reader.format.message_set import MessageSet

_NAMES: Final = {"length": "size"}


def message_structures(content: bytes, where: LogPosition) -> Iterator[Structure]:
    """Yield the message at the start of ``content``, then each message inside a wrapper.

    A wrong CRC is shown, not raised. Other damage is raised after the last structure that could be
    read.

    Raises:
        CorruptRecordError: not a message, cut short, or lengths or offsets contradict each other.
        UnsupportedFormatError: another magic, or an unknown codec.
        LimitReachedError: too much to decompress.
    """
    entry = parse_message_entry(content, where)
    where = replace(where, offset=entry.base_offset)
    yield _structure(content, where.position or 0, f"message, offset {entry.base_offset}")
    message = parse_message(content, where, check_crc=False)
    if message.is_wrapper:
        yield from _inner_structures(parse_message_set(message, where))


def _inner_structures(message_set: MessageSet) -> Iterator[Structure]:
    place = f"byte positions in the {len(message_set.content)} bytes decompressed"
    for index, (start, entry) in enumerate(message_set.entries()):
        offset = message_set.base_offset + Int64sb.parse(entry)
        title = f"inner message {index}, offset {offset}   ({place})"
        yield _structure(entry, start, title, message_set)
        message_set.parse_entry(start, entry, check_crc=False)


def _structure(
    content: bytes, position: int, title: str, message_set: MessageSet | None = None
) -> Structure:
    """Show all fields that can be read; the caller raises the error of the others."""
    walk = Walk(content, position)
    try:
        _take_fields(walk, content, message_set)
    except ConstructError:
        title += ", damaged"
    return Structure(title=title, fields=walk.fields())


def _take_fields(walk: Walk, content: bytes, message_set: MessageSet | None) -> None:
    magic = content[CRC_COVERS_FROM]
    meanings = _meanings(content, magic, message_set)
    attributes = 0
    for field in MESSAGE_HEADERS[magic].subcons:
        value = walk.take(_NAMES.get(field.name, field.name), field, meanings.get(field.name, str))
        attributes = value if field.name == "attributes" else attributes
    codec = attributes & CODEC_MASK
    _take_nullable(walk, "key", bytes_text)
    _take_nullable(
        walk, "value", bytes_text if codec == Codec.NONE else lambda _: f"{_codec_text(codec)} data"
    )


def _take_nullable(walk: Walk, name: str, meaning: Meaning) -> None:
    length = walk.take(f"{name}Length", Int32sb, _null_text)
    if length != -1:
        walk.take(name, Bytes(length), meaning)


def _meanings(content: bytes, magic: int, message_set: MessageSet | None) -> dict[str, Meaning]:
    def offset_text(offset: int) -> str:
        if message_set is None or message_set.wrapper.magic == 0:
            return str(offset)
        return f"{offset}   relative, offset {message_set.base_offset + offset}"

    return {
        "offset": offset_text,
        "length": lambda value: f"{value}   {LENGTH_END + value} bytes in all",
        "crc": lambda value: f"0x{value:08x}   {_crc_verdict(content, value)}",
        "attributes": lambda value: _attributes_text(value, magic),
        "timestamp": timestamp_text,
    }


def _crc_verdict(content: bytes, stored: int) -> str:
    size = LENGTH_END + Int32sb.parse(content[LENGTH_END - 4 : LENGTH_END])
    if size > len(content):
        return "not checked: the message is not whole"
    computed = compute_crc32(content[CRC_COVERS_FROM:size])
    return "valid" if computed == stored else f"WRONG, computed 0x{computed:08x}"


def _attributes_text(attributes: int, magic: int) -> str:
    parts = [_codec_text(attributes & CODEC_MASK)]
    if magic > 0:
        parts.append("LogAppendTime" if attributes & LOG_APPEND_TIME_BIT else "CreateTime")
    if unknown := attributes & 0xFF & ~KNOWN_ATTRIBUTES[magic]:
        parts.append(f"reserved bits 0x{unknown:02x} set")
    return ", ".join(parts)


def _codec_text(codec: int) -> str:
    if codec == Codec.NONE:
        return "no compression"
    return Codec(codec).text if codec <= Codec.LZ4 else f"codec {codec}, which messages lack"


def _null_text(length: int) -> str:
    return {-1: "-1 null", 0: "0 empty, not null"}.get(length, str(length))
