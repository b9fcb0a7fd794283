"""Messages of magic 0 and 1: the format reference 14.6, aiokafka, wrong fields, hostile bytes."""

from __future__ import annotations

import contextlib
import zlib

import pytest
from aiokafka.record.legacy_records import LegacyRecordBatch, LegacyRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.stored_messages import build_message
from kafkalog_reader.errors import CorruptRecordError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.crc import compute_crc32
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.format.message_set import LegacyRecord, message_records
from kafkalog_reader.format.record_batch_header import TimestampType
from tests.format.vectors import LEGACY_V0, LEGACY_V1, PLAIN, WHERE, T

SEGMENT = LogPosition("segment.log", 1000)
NULLABLE = st.none() | st.binary(max_size=40)
INT64 = st.integers(-(2**63), 2**63 - 1)
MAGIC = st.sampled_from([0, 1])


def test_crc_of_messages_is_that_of_zip_files() -> None:
    assert compute_crc32(b"123456789") == 0xCBF43926


@pytest.mark.parametrize(
    ("content", "magic", "timestamp", "timestamp_type"),
    [
        (LEGACY_V0, 0, -1, TimestampType.NO_TIMESTAMP_TYPE),
        (LEGACY_V1, 1, T, TimestampType.CREATE_TIME),
    ],
)
def test_message_of_the_reference_is_read_and_written_byte_for_byte(
    content: bytes, magic: int, timestamp: int, timestamp_type: TimestampType
) -> None:
    message = parse_message(content, WHERE)
    assert (message.offset, message.magic, message.attributes) == (42, magic, 0)
    assert (message.key, message.value, message.timestamp) == (b"k", b"v", timestamp)
    assert message.size_in_bytes == len(content)
    assert message.crc_valid
    assert not message.is_wrapper
    assert build_message(b"k", b"v", offset=42, magic=magic, timestamp=T) == content
    assert list(message_records(message, WHERE)) == [
        LegacyRecord(
            offset=42, timestamp=timestamp, timestamp_type=timestamp_type, key=b"k", value=b"v"
        )
    ]


def test_bytes_after_a_message_belong_to_the_next() -> None:
    assert parse_message(LEGACY_V0 + LEGACY_V1, WHERE) == parse_message(LEGACY_V0, WHERE)


def test_null_is_not_empty() -> None:
    nulls = parse_message(build_message(None, None), WHERE)
    empties = parse_message(build_message(b"", b"", magic=0), WHERE)
    assert (nulls.key, nulls.value, nulls.length) == (None, None, 22)
    assert (empties.key, empties.value, empties.length) == (b"", b"", 14)


def test_log_append_time_is_reported_by_a_bit_that_magic_0_does_not_have() -> None:
    stamped = build_message(None, b"v", timestamp=T, flags=LOG_APPEND_TIME_BIT)
    assert parse_message(stamped, WHERE).timestamp_type is TimestampType.LOG_APPEND_TIME
    unstamped = parse_message(build_message(None, b"v", magic=0, flags=LOG_APPEND_TIME_BIT), WHERE)
    assert unstamped.timestamp_type is TimestampType.NO_TIMESTAMP_TYPE


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"", "0 bytes are too few", id="nothing"),
        pytest.param(bytes(4096), "message length 0 is below 14", id="zeros"),
        pytest.param(LEGACY_V0[:16], "16 bytes are too few", id="cut_before_the_magic"),
        pytest.param(LEGACY_V0[:-1], "cut short: 27 of 28", id="cut_in_the_value"),
        pytest.param(LEGACY_V1[:20], "cut short: 20 of 36", id="cut_in_the_header"),
        pytest.param(build_message(b"", b"", length=13), "length 13 is below 14", id="length_13"),
        pytest.param(build_message(b"k", b"v", length=21), "length 21 is below 22", id="length_21"),
        pytest.param(build_message(b"k", b"v", length=-1), "length -1", id="negative_length"),
        pytest.param(
            build_message(b"k", b"v", length=2**31 - 1), "36 of 2147483659", id="length_of_2_gib"
        ),
        pytest.param(build_message(b"k", b"v", magic=-1), "magic -1", id="negative_magic"),
        pytest.param(
            LEGACY_V0[:-1] + b"x", "CRC-32 stored 0x1fecd70a, computed 0x", id="flipped_bit"
        ),
        pytest.param(build_message(b"k", b"v", crc=0), "stored 0x00000000", id="crc_of_0"),
        pytest.param(build_message(b"k", b"v", key_length=-2), "its key: length", id="key_-2"),
        pytest.param(
            build_message(b"k", b"v", key_length=2**31 - 1), "its key: ", id="key_of_2_gib"
        ),
        pytest.param(build_message(b"k", b"v", key_length=2), "its value: ", id="key_too_long"),
        pytest.param(
            build_message(None, b"v", value_length=-(2**31)), "its value: length", id="value_-2**31"
        ),
        pytest.param(build_message(b"k", b"v", value_length=2), "its value: ", id="value_too_long"),
        pytest.param(
            build_message(b"k", b"vwx", value_length=1),
            "2 bytes remain after its value",
            id="value_too_short",
        ),
        pytest.param(
            build_message(b"k", b"v", value_length=-1), "1 bytes remain", id="null_with_bytes"
        ),
    ],
)
@pytest.mark.parametrize("where", [SEGMENT, LogPosition("segment.log", 1000, 7)])
def test_damaged_message_is_refused_with_its_place(
    content: bytes, problem: str, where: LogPosition
) -> None:
    with pytest.raises(CorruptRecordError, match=problem) as caught:
        parse_message(content, where)
    assert caught.value.where.file == "segment.log"
    assert caught.value.where.position == 1000
    if where.offset is not None:
        assert caught.value.where.offset == 7


def test_damaged_message_is_located_by_its_own_offset() -> None:
    with pytest.raises(CorruptRecordError) as caught:
        parse_message(build_message(b"k", b"v", offset=42, crc=0), SEGMENT)
    assert caught.value.where == LogPosition("segment.log", 1000, 42)


def test_message_with_a_wrong_crc_is_read_when_asked_to() -> None:
    message = parse_message(build_message(b"k", b"v", crc=5), WHERE, check_crc=False)
    assert (message.crc, message.crc_valid, message.value) == (5, False, b"v")
    assert message.crc_computed == zlib.crc32(build_message(b"k", b"v")[16:])


@pytest.mark.parametrize(("content", "magic"), [(PLAIN, 2), (LEGACY_V1[:16] + b"\x03" * 20, 3)])
def test_other_magic_is_not_read_as_a_message(content: bytes, magic: int) -> None:
    with pytest.raises(UnsupportedFormatError, match=f"magic {magic}"):
        parse_message(content, WHERE)


def test_message_with_a_negative_offset_is_not_a_record() -> None:
    message = parse_message(build_message(b"k", b"v", offset=-1), WHERE)
    with pytest.raises(CorruptRecordError, match="offset -1 is negative"):
        list(message_records(message, WHERE))


@given(
    key=NULLABLE,
    value=NULLABLE,
    offset=INT64,
    magic=MAGIC,
    timestamp=INT64,
    attributes=st.integers(-128, 127),
)
def test_any_message_comes_back(
    key: bytes | None,
    value: bytes | None,
    offset: int,
    magic: int,
    timestamp: int,
    attributes: int,
) -> None:
    content = build_message(
        key, value, offset=offset, magic=magic, timestamp=timestamp, attributes=attributes
    )
    message = parse_message(content, WHERE)
    assert (message.key, message.value, message.offset) == (key, value, offset)
    assert (message.magic, message.attributes) == (magic, attributes)
    assert message.timestamp == (timestamp if magic else -1)
    assert message.size_in_bytes == len(content)


@given(
    magic=MAGIC,
    records=st.lists(st.tuples(st.integers(0, 2**63 - 1), INT64, NULLABLE, NULLABLE), max_size=5),
)
def test_aiokafka_reads_what_is_written(
    magic: int, records: list[tuple[int, int, bytes | None, bytes | None]]
) -> None:
    for offset, timestamp, key, value in records:
        content = build_message(key, value, offset=offset, magic=magic, timestamp=timestamp)
        batch = LegacyRecordBatch(content, magic)
        assert batch.validate_crc()
        (record,) = batch
        assert (record.offset, record.key, record.value) == (offset, key, value)
        assert record.timestamp == (timestamp if magic else None)


@given(
    magic=MAGIC,
    records=st.lists(st.tuples(st.integers(0, T), NULLABLE, NULLABLE), min_size=1, max_size=5),
)
def test_what_aiokafka_writes_is_read(
    magic: int, records: list[tuple[int, bytes | None, bytes | None]]
) -> None:
    builder = LegacyRecordBatchBuilder(magic, Codec.NONE, 1 << 20)
    for offset, (timestamp, key, value) in enumerate(records):
        builder.append(offset, timestamp, key, value)
    content = bytes(builder.build())
    for offset, (timestamp, key, value) in enumerate(records):
        message = parse_message(content, WHERE)
        assert (message.offset, message.key, message.value) == (offset, key, value)
        assert message.timestamp == (timestamp if magic else -1)
        content = content[message.size_in_bytes :]
    assert content == b""


@given(content=st.binary(max_size=200), check_crc=st.booleans())
def test_any_bytes_are_a_message_or_refused(content: bytes, check_crc: bool) -> None:
    with contextlib.suppress(CorruptRecordError, UnsupportedFormatError):
        parse_message(content, WHERE, check_crc=check_crc)


@pytest.mark.parametrize("content", [LEGACY_V0, LEGACY_V1])
def test_every_flipped_bit_after_the_crc_is_noticed(content: bytes) -> None:
    for bit in range(8 * 12, 8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises((CorruptRecordError, UnsupportedFormatError)):
            parse_message(bytes(flipped), WHERE)


@pytest.mark.parametrize("length", range(len(LEGACY_V1)))
def test_message_cut_at_any_byte_is_refused(length: int) -> None:
    with pytest.raises(CorruptRecordError):
        parse_message(LEGACY_V1[:length], WHERE)
