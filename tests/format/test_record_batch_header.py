"""The header of a batch, with the sizes and bits of the format reference 14.5."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.errors import CorruptRecordError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch_header import (
    RecordBatchHeader,
    TimestampType,
    decrement_sequence,
    increment_sequence,
    parse_record_batch_header,
)
from tests.format.vectors import ABORT, LEGACY_V0, LEGACY_V1, PLAIN, T

WHERE = LogPosition("segment.log", 1000)
FIELDS: dict[str, Any] = {
    "base_offset": 100, "length": 84, "leader_epoch": 7, "magic": 2, "crc": 0x0B806D4C,
    "attributes": 0, "last_offset_delta": 2, "base_timestamp": T, "max_timestamp": T + 5,
    "producer_id": -1, "producer_epoch": -1, "base_sequence": -1, "records_count": 3,
}  # fmt: skip


def header(**changes: int) -> RecordBatchHeader:
    return RecordBatchHeader(**FIELDS | changes)


def with_bytes(position: int, content: bytes) -> bytes:
    return PLAIN[:position] + content + PLAIN[position + len(content) :]


def test_header_of_the_reference_is_read() -> None:
    assert parse_record_batch_header(PLAIN, WHERE) == header()
    assert parse_record_batch_header(PLAIN[:61], WHERE) == header(), "61 bytes are enough"


def test_size_and_offsets_follow_from_the_stored_fields() -> None:
    batch = header()
    assert (batch.size_in_bytes, batch.last_offset, batch.next_offset) == (96, 102, 103)
    assert batch.offset_of(Record(offset_delta=1)) == 101


def test_offsets_of_a_damaged_header_wrap_as_in_java() -> None:
    batch = header(base_offset=2**63 - 1, last_offset_delta=0)
    assert (batch.last_offset, batch.next_offset) == (2**63 - 1, -(2**63))
    assert batch.offset_of(Record(offset_delta=2)) == -(2**63) + 1


@pytest.mark.parametrize("bit", range(16))
def test_each_attribute_has_its_own_bit(bit: int) -> None:
    batch = header(attributes=1 << bit)
    assert batch.codec_id == (1 << bit if bit < 3 else 0)
    assert (batch.timestamp_type is TimestampType.LOG_APPEND_TIME) == (bit == 3)
    assert (batch.is_transactional, batch.is_control) == (bit == 4, bit == 5)
    assert batch.delete_horizon == (T if bit == 6 else None)


def test_marker_is_a_transactional_control_batch() -> None:
    marker = parse_record_batch_header(ABORT, WHERE)
    assert marker.is_transactional
    assert marker.is_control
    assert (marker.producer_id, marker.producer_epoch, marker.base_sequence) == (1000, 3, -1)


def test_log_append_time_is_the_time_of_every_record() -> None:
    record = Record(offset_delta=0, timestamp_delta=3)
    assert header().timestamp_of(record) == T + 3
    assert header(attributes=8).timestamp_of(record) == T + 5


def test_sequences_count_offsets_and_wrap() -> None:
    batch = header(base_sequence=0)
    assert (batch.last_sequence, batch.sequence_of(Record(offset_delta=1))) == (2, 1)
    batch = header(base_sequence=2**31 - 2)
    assert (batch.last_sequence, batch.sequence_of(Record(offset_delta=1))) == (0, 2**31 - 1)
    assert (header().last_sequence, header().sequence_of(Record(offset_delta=1))) == (-1, -1)


@pytest.mark.parametrize(
    ("sequence", "by", "result"),
    [(0, 0, 0), (2**31 - 1, 1, 0), (2**31 - 1, 3, 2), (2**31 - 3, 2, 2**31 - 1), (5, 4, 9)],
)
def test_sequence_wraps_to_zero(sequence: int, by: int, result: int) -> None:
    assert increment_sequence(sequence, by) == result
    assert decrement_sequence(result, by) == sequence


@pytest.mark.parametrize(
    ("content", "problem", "offset"),
    [
        pytest.param(PLAIN[:16], "16 bytes are not a record batch", None, id="before_the_magic"),
        pytest.param(PLAIN[:17], "header cut short: 17 of 61 bytes", 100, id="after_the_magic"),
        pytest.param(PLAIN[:60], "header cut short: 60 of 61 bytes", 100, id="cut_short"),
        pytest.param(
            with_bytes(8, bytes.fromhex("0000000d")),
            "batch length 13 is too small for any format", 100, id="shorter_than_a_message",
        ),
        pytest.param(
            with_bytes(8, bytes.fromhex("0000000e")), "batch length 14 is below 49", 100,
            id="as_short_as_a_message",
        ),
        pytest.param(
            with_bytes(8, bytes.fromhex("00000030")), "batch length 48 is below 49", 100,
            id="no_room_for_the_header",
        ),
        pytest.param(
            with_bytes(16, b"\xff"), "magic -1 is not a message format", 100, id="negative_magic"
        ),
    ],
)  # fmt: skip
def test_impossible_header_is_corrupt(content: bytes, problem: str, offset: int | None) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        parse_record_batch_header(content, WHERE)
    assert caught.value.problem == problem
    assert caught.value.where == LogPosition("segment.log", 1000, offset)


def test_header_without_records_is_the_shortest() -> None:
    shortest = with_bytes(8, bytes.fromhex("00000031"))
    assert parse_record_batch_header(shortest, WHERE).size_in_bytes == 61


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(LEGACY_V0, "magic 0: messages from before Kafka 0.11", id="magic_0"),
        pytest.param(LEGACY_V1, "magic 1: messages from before Kafka 0.11", id="magic_1"),
        pytest.param(with_bytes(16, b"\3"), "magic 3: only magic 2 is known", id="magic_3"),
    ],
)
def test_other_magic_is_unsupported(content: bytes, problem: str) -> None:
    with pytest.raises(UnsupportedFormatError, match=problem):
        parse_record_batch_header(content, WHERE)
