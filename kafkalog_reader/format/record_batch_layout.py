"""Shows a record batch field by field: header, then decompressed records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from construct import Bytes, ConstructError, Int8sb

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.batch_fields import HEADER_SIZE
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.control_record import (
    CONTROL_RECORD_KEY,
    END_TRANSACTION_MARKER,
    KEY_SIZE,
    ControlRecordKey,
)
from kafkalog_reader.format.layout import (
    Structure,
    Walk,
    bytes_text,
    none_if_minus_one,
    struct_fields,
    timestamp_text,
)
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch import batch_payload, compute_batch_crc
from kafkalog_reader.format.record_batch_header import (
    RECORD_BATCH_HEADER,
    TIMESTAMP_TYPE_NAMES,
    RecordBatchHeader,
    TimestampType,
    parse_record_batch_header,
)
from kafkalog_reader.format.varint import VARINT, VARLONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.format.layout import Meaning

_NAMES: Final = {"length": "batchLength", "leader_epoch": "partitionLeaderEpoch"}
_KNOWN_ATTRIBUTES: Final[int] = 0x7F


def record_batch_structures(content: bytes, where: LogPosition) -> Iterator[Structure]:
    """Yield the header of the batch at the start of ``content``, then each of its records.

    A wrong CRC is shown, not raised. Other damage is raised after the last structure that could be
    read.

    Raises:
        CorruptRecordError: not a batch, cut short, or a record contradicts its lengths.
        UnsupportedFormatError: another magic, or an unknown codec.
        LimitReachedError: too much to decompress.
    """
    header = parse_record_batch_header(content, where)
    yield record_batch_header_structure(content, where)
    where = replace(where, offset=header.base_offset)
    if len(content) < header.size_in_bytes:
        raise CorruptRecordError(
            f"batch cut short: {len(content)} of {header.size_in_bytes} bytes", where
        )
    if header.records_count != 0:
        yield from _record_structures(content, header, where)


def record_batch_header_structure(content: bytes, where: LogPosition) -> Structure:
    """Show 61 bytes as a header, with any values; check the CRC of a whole batch."""
    header = RecordBatchHeader(
        **{
            name: value
            for name, value in RECORD_BATCH_HEADER.parse(content).items()
            if name in RecordBatchHeader.__slots__
        }
    )
    fields = struct_fields(
        RECORD_BATCH_HEADER,
        content,
        where.position or 0,
        names=_NAMES,
        meanings=_header_meanings(content, header),
    )
    offsets = offsets_words(header.base_offset, header.last_offset + 1)
    return Structure(title=f"record batch, {offsets}", fields=tuple(fields))


def _header_meanings(content: bytes, header: RecordBatchHeader) -> dict[str, Meaning]:
    is_log_append = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    horizon = "   this is the delete horizon" if header.delete_horizon is not None else ""
    return {
        "length": lambda value: f"{value}   {header.size_in_bytes} bytes in all",
        "leader_epoch": none_if_minus_one,
        "crc": lambda value: f"0x{value:08x}   {_crc_verdict(content, header)}",
        "attributes": lambda value: _attributes_text(value, header),
        "last_offset_delta": lambda value: f"{value}   last offset {header.last_offset}",
        "base_timestamp": lambda value: timestamp_text(value) + horizon,
        "max_timestamp": lambda value: (
            timestamp_text(value) + ("   of every record" if is_log_append else "")
        ),
        "producer_id": none_if_minus_one,
        "producer_epoch": none_if_minus_one,
        "base_sequence": lambda value: (
            "-1 none" if value < 0 else f"{value}   last sequence {header.last_sequence}"
        ),
        "records_count": lambda value: f"{value}{_count_text(value, header)}",
    }


def _crc_verdict(content: bytes, header: RecordBatchHeader) -> str:
    if not HEADER_SIZE <= header.size_in_bytes <= len(content):
        return "not checked: the batch is not whole"
    computed = compute_batch_crc(content, header)
    return "valid" if computed == header.crc else f"WRONG, computed 0x{computed:08x}"


def _attributes_text(attributes: int, header: RecordBatchHeader) -> str:
    codec = header.codec_id
    known = codec <= max(Codec)
    parts = [
        "no compression" if codec == Codec.NONE else Codec(codec).text if known else "codec ?",
        TIMESTAMP_TYPE_NAMES[header.timestamp_type],
        "transactional" if header.is_transactional else "not transactional",
    ]
    if header.is_control:
        parts.append("control batch")
    if header.delete_horizon is not None:
        parts.append("delete horizon set")
    if reserved := attributes & 0xFFFF & ~_KNOWN_ATTRIBUTES:
        parts.append(f"reserved bits 0x{reserved:04x} set")
    return ", ".join(parts)


def _count_text(count: int, header: RecordBatchHeader) -> str:
    offsets = header.last_offset_delta + 1
    if count == 0:
        return "   empty batch, kept by the cleaner"
    return "" if count == offsets else f"   of {offsets} offsets: rewritten by the cleaner"


def _record_structures(
    content: bytes, header: RecordBatchHeader, where: LogPosition
) -> Iterator[Structure]:
    is_compressed = header.codec_id != Codec.NONE
    payload = batch_payload(content, header, where)
    origin = 0 if is_compressed else (where.position or 0) + HEADER_SIZE
    place = f"   (byte positions in the {len(payload)} bytes decompressed)" if is_compressed else ""
    start = 0
    for index in range(header.records_count):
        walk = Walk(payload, origin, start)
        try:
            record = _take_record(walk, header)
        except ConstructError as error:
            fields = walk.fields()
            yield Structure(title=f"record {index}, damaged{place}", fields=fields)
            raise CorruptRecordError(
                f"record {index} of {header.records_count}, at byte {start} of the records: "
                f"{str(error).splitlines()[-1].strip()}",
                where if is_compressed else replace(where, position=origin + start),
            ) from error
        start = walk.tell()
        yield Structure(
            title=f"record {index}, offset {header.offset_of(record)}{place}", fields=walk.fields()
        )
    if start != len(payload):
        raise CorruptRecordError(
            f"{len(payload) - start} bytes remain after the last of {header.records_count} records",
            where,
        )


def _take_record(walk: Walk, header: RecordBatchHeader) -> Record:
    length = walk.take("length", VARINT)
    end = walk.tell() + length
    walk.take("attributes", Int8sb, lambda value: f"{value}   unused")
    timestamp_delta = walk.take(
        "timestampDelta", VARLONG, lambda delta: f"{delta}   {_record_time(header, delta)}"
    )
    offset_delta = walk.take(
        "offsetDelta", VARINT, lambda delta: f"{delta}   offset {header.base_offset + delta}"
    )
    key = _take_nullable(walk, "key", _control_text if header.is_control else bytes_text)
    is_marker = header.is_control and header.is_transactional
    value = _take_nullable(walk, "value", _marker_text if is_marker else bytes_text)
    count = walk.take("headersCount", VARINT)
    if count < 0:
        raise ConstructError(f"{count} headers")
    for number in range(count):
        size = walk.take(f"header {number} keyLength", VARINT)
        walk.take(f"header {number} key", Bytes(size), bytes_text)
        _take_nullable(walk, f"header {number} value")
    if walk.tell() != end:
        raise ConstructError(f"its fields end at byte {walk.tell()}, its length says {end}")
    return Record(offset_delta=offset_delta, timestamp_delta=timestamp_delta, key=key, value=value)


def _record_time(header: RecordBatchHeader, delta: int) -> str:
    record = Record(offset_delta=0, timestamp_delta=delta)
    note = (
        "   (LogAppendTime: the batch's)"
        if header.timestamp_type is TimestampType.LOG_APPEND_TIME
        else ""
    )
    return timestamp_text(header.timestamp_of(record)) + note


def _take_nullable(walk: Walk, name: str, meaning: Meaning = bytes_text) -> bytes | None:
    length = walk.take(f"{name}Length", VARINT, _null_text)
    if length == -1:
        return None
    return bytes(walk.take(name, Bytes(length), meaning))


def _null_text(length: int) -> str:
    return {-1: "-1 null", 0: "0 empty, not null"}.get(length, str(length))


def _control_text(content: bytes) -> str:
    if len(content) < KEY_SIZE:
        return "not a control record key"
    key = CONTROL_RECORD_KEY.parse(content)
    name = ControlRecordKey(version=key.version, type_id=key.type).control_type.name
    return f"version {key.version}, type {key.type} {name}"


def _marker_text(content: bytes) -> str:
    if len(content) < END_TRANSACTION_MARKER.sizeof():
        return "not an end-transaction marker"
    marker = END_TRANSACTION_MARKER.parse(content)
    return f"version {marker.version}, coordinator epoch {marker.coordinator_epoch}"
