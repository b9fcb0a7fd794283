"""Batches of magic 2 are parsed and built as in the vectors of the format reference 14.5."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.stored_batches import (
    build_control_record_key,
    build_end_transaction_marker,
    build_record,
    build_record_batch,
)
from kafkalog_reader.errors import CorruptRecordError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import (
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    LOG_APPEND_TIME_BIT,
    TRANSACTIONAL_BIT,
)
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.control_record import (
    ControlRecordKey,
    ControlType,
    EndTransactionMarker,
    parse_control_record_key,
    parse_end_transaction_marker,
)
from kafkalog_reader.format.record import Record, RecordHeader
from kafkalog_reader.format.record_batch import parse_record_batch
from kafkalog_reader.format.record_batch_header import (
    TimestampType,
    parse_record_batch_header,
)
from tests.format.vectors import (
    ABORT,
    CLEANER_EMPTY,
    CLEANER_RESULT,
    CLEANER_SOURCE,
    COMMIT,
    COMPRESSED_PAYLOADS,
    EMPTY,
    LEADER_CHANGE,
    LEGACY_V0,
    LEGACY_V1,
    PLAIN,
    TRANSACTIONAL,
    WHERE,
    T,
)

VECTORS = {
    "plain": PLAIN,
    "transactional": TRANSACTIONAL,
    "abort": ABORT,
    "commit": COMMIT,
    "empty": EMPTY,
    "cleaner_source": CLEANER_SOURCE,
    "cleaner_result": CLEANER_RESULT,
    "cleaner_empty": CLEANER_EMPTY,
    "leader_change": LEADER_CHANGE,
}
PLAIN_RECORDS = (
    Record(offset_delta=0, timestamp_delta=0, key=b"k1", value=b"v1"),
    Record(offset_delta=1, timestamp_delta=5, key=None, value=b"x"),
    Record(
        offset_delta=2,
        timestamp_delta=3,
        key=b"k2",
        value=None,
        headers=(RecordHeader(key="h", value=b"1"), RecordHeader(key="n", value=None)),
    ),
)
INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
NULLABLE = st.none() | st.binary(max_size=40)
RECORDS = st.lists(
    st.builds(
        Record,
        offset_delta=st.integers(0, 2**31 - 1),
        timestamp_delta=INT64,
        key=NULLABLE,
        value=NULLABLE,
        headers=st.lists(
            st.builds(RecordHeader, key=st.text(max_size=9), value=NULLABLE), max_size=3
        ).map(tuple),
        attributes=st.integers(-128, 127),
    ),
    max_size=9,
)


def test_plain_batch_is_read_field_by_field() -> None:
    batch = parse_record_batch(PLAIN, WHERE)
    header = batch.header
    assert (header.base_offset, header.last_offset, header.next_offset) == (100, 102, 103)
    assert (header.length, header.size_in_bytes, header.leader_epoch) == (84, 96, 7)
    assert (header.base_timestamp, header.max_timestamp) == (T, T + 5)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert batch.records == PLAIN_RECORDS
    assert [header.offset_of(record) for record in batch.records] == [100, 101, 102]
    assert [header.timestamp_of(record) for record in batch.records] == [T, T + 5, T + 3]
    assert [header.sequence_of(record) for record in batch.records] == [-1, -1, -1]


def test_plain_batch_is_written_byte_for_byte() -> None:
    written = build_record_batch(PLAIN_RECORDS, base_offset=100, leader_epoch=7, base_timestamp=T)
    assert written == PLAIN


def test_transactional_batch_is_written_byte_for_byte() -> None:
    written = build_record_batch(
        [Record(offset_delta=0, key=b"a", value=b"b")],
        leader_epoch=1,
        base_timestamp=T,
        producer_id=1000,
        producer_epoch=3,
        base_sequence=0,
        flags=TRANSACTIONAL_BIT,
    )
    assert written == TRANSACTIONAL


@pytest.mark.parametrize(
    ("vector", "control_type"), [(ABORT, ControlType.ABORT), (COMMIT, ControlType.COMMIT)]
)
def test_marker_is_read_and_written_byte_for_byte(vector: bytes, control_type: ControlType) -> None:
    batch = parse_record_batch(vector, WHERE)
    (record,) = batch.records
    assert batch.header.is_control
    assert batch.header.is_transactional
    assert parse_control_record_key(record.key, WHERE).control_type is control_type
    marker = EndTransactionMarker(version=0, coordinator_epoch=5)
    assert parse_end_transaction_marker(record.value, WHERE) == marker
    key = ControlRecordKey(version=0, type_id=control_type.value)
    written = build_record_batch(
        [
            Record(
                offset_delta=0,
                key=build_control_record_key(key),
                value=build_end_transaction_marker(marker),
            )
        ],
        base_offset=1,
        leader_epoch=1,
        base_timestamp=T + 10,
        producer_id=1000,
        producer_epoch=3,
        flags=TRANSACTIONAL_BIT | CONTROL_BIT,
    )
    assert written == vector


def test_empty_batch_keeps_its_last_offset_and_sequence() -> None:
    batch = parse_record_batch(EMPTY, WHERE)
    assert batch.records == ()
    assert batch.header.last_offset == 12
    assert batch.header.last_sequence == 2
    written = build_record_batch(
        [],
        base_offset=10,
        leader_epoch=1,
        last_offset_delta=2,
        max_timestamp=T + 7,
        producer_id=1000,
        producer_epoch=3,
        base_sequence=0,
        flags=TRANSACTIONAL_BIT,
    )
    assert written == EMPTY


def test_cleaned_batch_has_a_delete_horizon_and_keeps_times_and_sequences() -> None:
    batch = parse_record_batch(CLEANER_RESULT, WHERE)
    header = batch.header
    assert header.attributes == DELETE_HORIZON_BIT
    assert header.delete_horizon == 1700086400100
    assert [header.timestamp_of(record) for record in batch.records] == [T + 5, T + 3]
    assert [header.offset_of(record) for record in batch.records] == [101, 102]
    assert [header.sequence_of(record) for record in batch.records] == [10, 11]
    assert parse_record_batch(CLEANER_SOURCE, WHERE).header.delete_horizon is None
    assert parse_record_batch(CLEANER_EMPTY, WHERE).header.last_offset == 102


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batch_is_read_and_written_byte_for_byte(codec: str) -> None:
    crc, payload = COMPRESSED_PAYLOADS[codec]
    written = build_record_batch(
        [Record(offset_delta=0, key=b"k1", value=b"v1")],
        base_offset=100,
        leader_epoch=7,
        codec=Codec[codec.upper()],
        base_timestamp=T,
        payload=bytes.fromhex(payload),
    )
    batch = parse_record_batch(written, WHERE)
    assert batch.header.crc == crc
    assert batch.records == (Record(offset_delta=0, key=b"k1", value=b"v1"),)


def test_log_append_time_overrides_the_deltas() -> None:
    written = build_record_batch(
        PLAIN_RECORDS, base_timestamp=T, max_timestamp=T + 99, flags=LOG_APPEND_TIME_BIT
    )
    batch = parse_record_batch(written, WHERE)
    assert batch.header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert {batch.header.timestamp_of(record) for record in batch.records} == {T + 99}


def _with_record(record: bytes, count: int = 1) -> bytes:
    return build_record_batch([], payload=record, records_count=count, max_timestamp=T)


GOOD = build_record(Record(offset_delta=0, key=b"k", value=b"v"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"", "0 bytes are not a record batch", id="nothing"),
        pytest.param(bytes(4096), "batch length 0", id="zeros"),
        pytest.param(PLAIN[:16], "16 bytes", id="cut_before_the_magic"),
        pytest.param(PLAIN[:60], "60 of 61", id="cut_in_the_header"),
        pytest.param(PLAIN[:95], "95 of 96", id="cut_in_the_records"),
        pytest.param(PLAIN[:8] + b"\0\0\0\x30" + PLAIN[12:], "length 48 is below 49", id="short"),
        pytest.param(PLAIN[:8] + b"\xff" * 4 + PLAIN[12:], "length -1", id="negative_length"),
        pytest.param(PLAIN[:16] + b"\x80" + PLAIN[17:], "magic -128", id="negative_magic"),
        pytest.param(PLAIN[:-1] + b"\0", "CRC-32C stored 0x0b806d4c, computed", id="flipped_bit"),
        pytest.param(_with_record(GOOD, -1), "records count -1", id="negative_count"),
        pytest.param(_with_record(GOOD, 2), "2 records do not fit", id="count_too_high"),
        pytest.param(_with_record(GOOD, 2**31 - 1), "do not fit", id="count_of_two_billion"),
        pytest.param(_with_record(GOOD * 2, 1), "remain after the last", id="count_too_low"),
        pytest.param(
            _with_record(b"\x11" + GOOD[1:]), "record 0 of 1", id="negative_record_length"
        ),
        pytest.param(
            _with_record(b"\x12" + GOOD[1:]), "record 0 of 1", id="record_length_too_long"
        ),
        pytest.param(
            _with_record(b"\x0e" + GOOD[1:]), "record 0 of 1", id="record_length_too_short"
        ),
        pytest.param(
            _with_record(bytes.fromhex("0e 00 00 00 03 01 00 00")), "record 0", id="key_length_-2"
        ),
        pytest.param(
            _with_record(bytes.fromhex("14 00 00 00 01 01 feffffff0f")),
            "record 0",
            id="headers_2**31",
        ),
        pytest.param(
            _with_record(bytes.fromhex("0e 00 00 00 01 01 01 00")), "record 0", id="headers_-1"
        ),
        pytest.param(
            _with_record(bytes.fromhex("10 00 00 00 01 01 02 01 01")),
            "record 0",
            id="header_key_null",
        ),
        pytest.param(_with_record(b"\x80" * 30), "varint", id="endless_varint"),
        pytest.param(
            build_record_batch([Record(offset_delta=3)], last_offset_delta=2),
            "offset delta 3, outside 0..2",
            id="offset_after_the_last",
        ),
        pytest.param(
            build_record_batch([Record(offset_delta=0)], base_offset=-1),
            "offset -1 is impossible in a log",
            id="offset_-1",
        ),
        pytest.param(
            build_record_batch([Record(offset_delta=1)], base_offset=2**63 - 1),
            "are impossible in a log",
            id="offset_beyond_a_long",
        ),
    ],
)
def test_damaged_batch_is_refused_with_its_place(content: bytes, problem: str) -> None:
    with pytest.raises(CorruptRecordError, match=problem) as caught:
        parse_record_batch(content, LogPosition("segment.log", 1000))
    assert caught.value.where.file == "segment.log"


def test_damaged_record_is_located_by_byte_and_offset() -> None:
    content = build_record_batch(
        [], base_offset=7, payload=GOOD + b"\x0e" + GOOD[1:], records_count=2, max_timestamp=T
    )
    with pytest.raises(CorruptRecordError) as caught:
        parse_record_batch(content, LogPosition("segment.log", 1000))
    assert caught.value.where == LogPosition("segment.log", 1000 + 61 + len(GOOD), 7)


def test_damaged_record_of_a_compressed_batch_is_located_by_the_batch() -> None:
    content = build_record_batch(
        [Record(offset_delta=0)], base_offset=7, codec=Codec.ZSTD, records_count=2
    )
    with pytest.raises(CorruptRecordError) as caught:
        parse_record_batch(content, LogPosition("segment.log", 1000))
    assert caught.value.where.position == 1000


@pytest.mark.parametrize(
    ("content", "problem", "offset"),
    [
        pytest.param(LEGACY_V0, "magic 0", 42, id="magic_0"),
        pytest.param(LEGACY_V1, "magic 1", 42, id="magic_1"),
        pytest.param(PLAIN[:16] + b"\x03" + PLAIN[17:], "magic 3", 100, id="magic_3"),
        pytest.param(
            build_record_batch([Record(offset_delta=0)], base_offset=5, attributes=6),
            "codec 6",
            5,
            id="codec_6",
        ),
    ],
)
def test_unread_format_is_refused_with_file_position_and_offset(
    content: bytes, problem: str, offset: int
) -> None:
    with pytest.raises(UnsupportedFormatError, match=problem) as caught:
        parse_record_batch(content, LogPosition("segment.log", 1000))
    assert caught.value.where == LogPosition("segment.log", 1000, offset)


@given(
    records=RECORDS,
    base_offset=st.integers(0, 2**63 - 2**31),
    leader_epoch=INT32,
    codec=st.sampled_from(Codec),
    base_timestamp=INT64,
    producer_id=INT64,
    producer_epoch=st.integers(-(2**15), 2**15 - 1),
    base_sequence=INT32,
)
def test_batch_of_any_records_comes_back(
    records: list[Record],
    base_offset: int,
    leader_epoch: int,
    codec: Codec,
    base_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
) -> None:
    fields = {
        "base_offset": base_offset,
        "leader_epoch": leader_epoch,
        "base_timestamp": base_timestamp,
        "producer_id": producer_id,
        "producer_epoch": producer_epoch,
        "base_sequence": base_sequence,
    }
    written = build_record_batch(records, codec=codec, max_timestamp=T, **fields)
    batch = parse_record_batch(written, WHERE)
    assert batch.records == tuple(records)
    assert {name: getattr(batch.header, name) for name in fields} == fields
    assert batch.header.codec_id == codec
    assert batch.header.size_in_bytes == len(written)


@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_header_or_refused(content: bytes) -> None:
    with contextlib.suppress(CorruptRecordError, UnsupportedFormatError):
        parse_record_batch_header(content, WHERE)


@given(
    vector=st.sampled_from(sorted(VECTORS)),
    position=st.integers(0, 200),
    byte=st.integers(0, 255),
    crc=st.booleans(),
)
def test_vector_with_one_byte_changed_is_read_or_refused(
    vector: str, position: int, byte: int, crc: bool
) -> None:
    content = bytearray(VECTORS[vector])
    content[position % len(content)] = byte
    changed = bytes(content)
    with contextlib.suppress(CorruptRecordError, UnsupportedFormatError):
        header = parse_record_batch_header(changed, WHERE)
        if crc and header.length >= 0:
            parse_record_batch(_with_true_crc(changed), WHERE)
        else:
            parse_record_batch(changed, WHERE)


def _with_true_crc(content: bytes) -> bytes:
    header = parse_record_batch_header(content, WHERE)
    fields = {name: getattr(header, name) for name in type(replace(header)).__slots__}
    del fields["crc"]
    return build_record_batch([], payload=content[61:], **fields)


@pytest.mark.parametrize("length", range(len(PLAIN)))
def test_batch_cut_at_any_byte_is_refused(length: int) -> None:
    with pytest.raises(CorruptRecordError):
        parse_record_batch(PLAIN[:length], WHERE)
