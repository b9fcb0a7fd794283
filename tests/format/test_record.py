"""Records of a magic-2 batch, byte by byte: format reference 14.5."""

from __future__ import annotations

import pytest

from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.format.record import MIN_RECORD_SIZE, Record, RecordHeader, parse_records

WHERE = LogPosition("segment.log", 1061, 100)
EMPTY = bytes.fromhex("0c 00 00 00 01 01 00")
"""Length 6: attributes, two deltas, null key, null value, no headers."""
FULL = bytes.fromhex("20 00 05 02 02 6b 00 06 02 68 02 31 02 6e 01 00 00")
"""Length 16: timestamp delta -3, offset delta 1, key k, empty value, headers h=1, n=null, =."""


def test_smallest_record_has_seven_bytes_and_neither_key_nor_value() -> None:
    assert len(EMPTY) == MIN_RECORD_SIZE
    (record,) = parse_records(EMPTY, 1, WHERE)
    assert (record.key, record.value, record.headers) == (None, None, ())


def test_null_and_empty_differ_in_values_and_headers() -> None:
    (record,) = parse_records(FULL, 1, WHERE)
    assert record == Record(
        offset_delta=1,
        timestamp_delta=-3,
        key=b"k",
        value=b"",
        headers=(
            RecordHeader(key="h", value=b"1"),
            RecordHeader(key="n", value=None),
            RecordHeader(key="", value=b""),
        ),
    )


def test_header_key_that_is_not_utf8_is_replaced() -> None:
    content = bytes.fromhex("12 00 00 00 01 01 02 02 ff 01")
    (record,) = parse_records(content, 1, WHERE)
    assert record.headers == (RecordHeader(key="\ufffd", value=None),)


def test_no_records_are_no_bytes() -> None:
    assert parse_records(b"", 0, WHERE) == ()


@pytest.mark.parametrize(
    ("content", "count", "problem", "position"),
    [
        pytest.param(EMPTY, -1, "-1 records do not fit in 7 bytes", 1061, id="negative_count"),
        pytest.param(EMPTY[:6], 1, "1 records do not fit in 6 bytes", 1061, id="byte_too_few"),
        pytest.param(EMPTY * 2, 3, "3 records do not fit in 14 bytes", 1061, id="one_too_many"),
        pytest.param(EMPTY, 0, "7 bytes remain after the last of 0", 1061, id="records_of_none"),
        pytest.param(EMPTY * 2, 1, "7 bytes remain after the last of 1", 1068, id="one_too_few"),
        pytest.param(EMPTY + b"\x0a" + EMPTY[1:], 2, "record 1 of 2, at byte 7", 1068, id="second"),
    ],
)
def test_count_and_bytes_must_agree(
    content: bytes, count: int, problem: str, position: int
) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        parse_records(content, count, WHERE)
    assert caught.value.problem.startswith(problem)
    assert caught.value.where == LogPosition("segment.log", position, 100)


@pytest.mark.parametrize("content", [EMPTY * 2, EMPTY + b"\x0a" + EMPTY[1:]])
def test_bytes_of_compressed_records_have_no_position_in_the_file(content: bytes) -> None:
    count = 1 if content == EMPTY * 2 else 2
    with pytest.raises(CorruptRecordError) as caught:
        parse_records(content, count, WHERE, is_compressed=True)
    assert caught.value.where == WHERE


def test_place_without_a_position_stays_without() -> None:
    where = LogPosition("segment.log")
    with pytest.raises(CorruptRecordError) as caught:
        parse_records(EMPTY * 2, 1, where)
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param("0e 00 00 00 01 01 00 00", "expected end", id="byte_after_the_headers"),
        pytest.param("0a 00 00 00 01 01 00", "", id="length_before_the_headers"),
        pytest.param("0e 00 00 00 03 01 00 00", "", id="key_length_-2"),
        pytest.param("10 00 00 00 01 01 02 01 01", "", id="header_key_null"),
    ],
)
def test_record_must_fill_its_length(content: str, reason: str) -> None:
    with pytest.raises(CorruptRecordError, match="record 0 of 1, at byte 0") as caught:
        parse_records(bytes.fromhex(content), 1, WHERE)
    assert reason in caught.value.problem
