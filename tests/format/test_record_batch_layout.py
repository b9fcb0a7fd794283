"""Record batches, field by field: format reference 14.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch_layout import (
    record_batch_header_structure,
    record_batch_structures,
)
from tests.format.vectors import (
    ABORT,
    CLEANER_EMPTY,
    CLEANER_RESULT,
    COMMIT,
    PLAIN,
    TRANSACTIONAL,
    T,
)

if TYPE_CHECKING:
    from kafkalog_reader.format.layout import Structure

WHERE = LogPosition("segment.log", 1000)


def meanings(structure: Structure) -> dict[str, str]:
    return {field.name: field.meaning for field in structure.fields}


def header_of(content: bytes) -> dict[str, str]:
    return meanings(record_batch_header_structure(content, WHERE))


def with_bytes(content: bytes, position: int, other: str) -> bytes:
    new = bytes.fromhex(other)
    return content[:position] + new + content[position + len(new) :]


def with_records(payload: str, count: int, **fields: int) -> bytes:
    return build_record_batch(
        [], payload=bytes.fromhex(payload), records_count=count, max_timestamp=T, **fields
    )


def test_header_and_records_of_the_reference_have_their_places() -> None:
    header, *records = record_batch_structures(PLAIN, WHERE)
    assert header.title == "record batch, offsets 100 to 102"
    assert [field.position - 1000 for field in header.fields] == [
        0, 8, 12, 16, 17, 21, 23, 27, 35, 43, 51, 53, 57,
    ]  # fmt: skip
    assert [record.title for record in records] == [
        "record 0, offset 100", "record 1, offset 101", "record 2, offset 102",
    ]  # fmt: skip
    assert [record.fields[0].position for record in records] == [1061, 1072, 1080]
    last = meanings(records[2])
    assert last["timestampDelta"].startswith(f"3   {T + 3} ")
    assert last["offsetDelta"].startswith("2   offset 102")
    assert (last["key"], last["valueLength"][:7]) == ("'k2'", "-1 null")
    assert (last["headersCount"][:1], last["header 0 key"], last["header 1 key"]) == (
        "2", "'h'", "'n'",
    )  # fmt: skip
    assert "value" not in last
    assert "header 1 value" not in last
    assert meanings(records[1])["keyLength"].startswith("-1 null")


def test_crc_is_checked_and_shown() -> None:
    assert header_of(PLAIN)["crc"] == "0x0b806d4c   valid"
    wrong = header_of(with_bytes(PLAIN, 17, "00000000"))["crc"]
    assert wrong == "0x00000000   WRONG, computed 0x0b806d4c"
    not_whole = "0x0b806d4c   not checked: the batch is not whole"
    assert header_of(PLAIN[:-1])["crc"] == not_whole
    assert header_of(with_bytes(PLAIN, 8, "00000030"))["crc"] == not_whole, "60 bytes"
    assert "WRONG" in header_of(with_bytes(PLAIN, 8, "00000031"))["crc"], "61 bytes"


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ("0000", "no compression, CreateTime, not transactional"),
        ("0001", "gzip, CreateTime, not transactional"),
        ("0004", "zstd, CreateTime, not transactional"),
        ("0005", "codec ?, CreateTime, not transactional"),
        ("0008", "no compression, LogAppendTime, not transactional"),
        ("0030", "no compression, CreateTime, transactional, control batch"),
        ("0040", "no compression, CreateTime, not transactional, delete horizon set"),
        ("0080", "no compression, CreateTime, not transactional, reserved bits 0x0080 set"),
        ("8000", "no compression, CreateTime, not transactional, reserved bits 0x8000 set"),
    ],
)
def test_attributes_are_named(attributes: str, text: str) -> None:
    assert header_of(with_bytes(PLAIN, 21, attributes))["attributes"] == text


def test_times_say_what_they_are() -> None:
    append = header_of(with_bytes(PLAIN, 21, "0008"))
    assert append["maxTimestamp"].endswith("   of every record")
    assert not header_of(PLAIN)["maxTimestamp"].endswith("   of every record")
    assert header_of(CLEANER_RESULT)["baseTimestamp"].endswith("   this is the delete horizon")
    assert not header_of(PLAIN)["baseTimestamp"].endswith("horizon")


def test_sequences_and_counts_are_explained() -> None:
    assert header_of(TRANSACTIONAL)["baseSequence"] == "0   last sequence 0"
    assert header_of(PLAIN)["baseSequence"] == "-1 none"
    assert header_of(PLAIN)["producerId"] == "-1 none"
    assert header_of(PLAIN)["recordsCount"] == "3"
    assert header_of(CLEANER_RESULT)["recordsCount"] == "2   of 3 offsets: rewritten by the cleaner"
    assert header_of(CLEANER_EMPTY)["recordsCount"] == "0   empty batch, kept by the cleaner"
    assert len(list(record_batch_structures(CLEANER_EMPTY, WHERE))) == 1


@pytest.mark.parametrize(
    ("content", "key"), [(ABORT, "version 0, type 0 ABORT"), (COMMIT, "version 0, type 1 COMMIT")]
)
def test_markers_are_read(content: bytes, key: str) -> None:
    _, record = record_batch_structures(content, WHERE)
    assert meanings(record)["key"] == key
    assert meanings(record)["value"] == "version 0, coordinator epoch 5"


def test_damaged_markers_are_named() -> None:
    content = with_records("14 00 00 00 06 000000 02 00 00", 1, flags=0x30)
    _, record = record_batch_structures(content, WHERE)
    assert meanings(record)["key"] == "not a control record key"
    assert meanings(record)["value"] == "not an end-transaction marker"
    content = with_records("14 00 00 00 06 000000 02 00 00", 1)
    _, record = record_batch_structures(content, WHERE)
    assert meanings(record)["key"] == r"'\x00\x00\x00'"


def test_positions_of_compressed_records_are_those_of_the_payload() -> None:
    content = build_record_batch(
        [Record(offset_delta=0, key=b"k"), Record(offset_delta=1)], codec=Codec.GZIP
    )
    _, first, second = record_batch_structures(content, WHERE)
    assert first.title == "record 0, offset 0   (byte positions in the 15 bytes decompressed)"
    assert (first.fields[0].position, second.fields[0].position) == (0, 8)


def test_record_of_the_leaders_time_says_so() -> None:
    content = build_record_batch([Record(offset_delta=0)], max_timestamp=T, flags=8)
    _, record = record_batch_structures(content, WHERE)
    note = f"{T} 2023-11-14T22:13:20.000Z   (LogAppendTime: the batch's)"
    assert note in meanings(record)["timestampDelta"]


@pytest.mark.parametrize(
    ("payload", "count", "reason", "position"),
    [
        pytest.param(
            "0c000000010100 0a000000010100", 2, "record 1 of 2, at byte 7", 1068, id="length"
        ),
        pytest.param("0e000000010101 00", 1, "record 0 of 1, at byte 0", 1061, id="headers_-1"),
        pytest.param("0e000000030100 00", 1, "record 0 of 1, at byte 0", 1061, id="key_-2"),
    ],
)
def test_damaged_record_is_shown_then_raised(
    payload: str, count: int, reason: str, position: int
) -> None:
    shown: list[Structure] = []
    with pytest.raises(CorruptRecordError, match=reason) as caught:
        shown.extend(record_batch_structures(with_records(payload, count, base_offset=7), WHERE))
    assert shown == [] or shown[-1].title == f"record {count - 1}, damaged"
    assert caught.value.where == LogPosition("segment.log", position, 7)


def test_bytes_after_the_last_record_are_an_error() -> None:
    found = record_batch_structures(with_records("0c000000010100 00", 1), WHERE)
    assert [next(found).title, next(found).title][1] == "record 0, offset 0"
    with pytest.raises(CorruptRecordError, match="1 bytes remain after the last of 1 records"):
        next(found)


def test_batch_that_is_cut_short_is_an_error_after_its_header() -> None:
    found = record_batch_structures(PLAIN[:-1], WHERE)
    assert next(found).title == "record batch, offsets 100 to 102"
    with pytest.raises(CorruptRecordError, match="batch cut short: 95 of 96 bytes"):
        next(found)
