"""Wrappers of magic 0 and 1: the reference 3.3 and 14.6, aiokafka, wrong fields, hostile bytes."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import tracemalloc
from typing import TYPE_CHECKING, Any

import cramjam
import lz4.frame
import pytest
from aiokafka.record.legacy_records import LegacyRecordBatch, LegacyRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.compression import compress
from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.errors import (
    CorruptRecordError,
    LimitReachedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import Codec, decompress
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.format.message_set import (
    LegacyRecord,
    MessageSet,
    message_records,
    parse_message_set,
)
from kafkalog_reader.format.record_batch_header import TimestampType
from tests.format.vectors import LEGACY_V0, LEGACY_V1, WHERE, WRAPPERS, T

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSALS = (CorruptRecordError, UnsupportedFormatError, LimitReachedError)

SEGMENT = LogPosition("segment.log", 1000)
CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
KINDS = [pytest.param(*kind, id=f"magic_{kind[0]}_{kind[1]}") for kind in WRAPPERS]
NULLABLE = st.none() | st.binary(max_size=40)


def _records(wrapper: bytes, where: LogPosition = WHERE) -> list[LegacyRecord]:
    return list(message_records(parse_message(wrapper, where), where))


def _message_set(wrapper: bytes) -> MessageSet:
    return parse_message_set(parse_message(wrapper, SEGMENT), SEGMENT)


def _record(offset: int, timestamp: int = T, value: bytes = b"v", magic: int = 1) -> LegacyRecord:
    return LegacyRecord(
        offset=offset,
        timestamp=timestamp if magic else -1,
        timestamp_type=(TimestampType.CREATE_TIME if magic else TimestampType.NO_TIMESTAMP_TYPE),
        value=value,
    )


def _reference_records(magic: int) -> list[LegacyRecord]:
    times, kind = ((T, T + 1), TimestampType.CREATE_TIME) if magic else ((-1, -1), -1)
    return [
        LegacyRecord(
            offset=42, timestamp=times[0], timestamp_type=TimestampType(kind), key=b"k", value=b"v"
        ),
        LegacyRecord(
            offset=43, timestamp=times[1], timestamp_type=TimestampType(kind), key=None, value=b"w"
        ),
    ]


@pytest.mark.parametrize(("magic", "codec"), KINDS)
def test_wrapper_of_the_reference_is_read(magic: int, codec: str) -> None:
    assert _records(WRAPPERS[magic, codec]) == _reference_records(magic)


@pytest.mark.parametrize(("magic", "codec"), KINDS)
def test_wrapper_of_the_reference_is_written_byte_for_byte(magic: int, codec: str) -> None:
    vector = parse_message(WRAPPERS[magic, codec], WHERE)
    assert vector.value is not None
    kind = Codec[codec.upper()]
    records = _reference_records(magic)
    # compressors produce different bytes; their input and the bytes around their output are equal
    written = build_wrapper(records, codec=kind, magic=magic, value=vector.value)
    assert written == WRAPPERS[magic, codec]
    ours = parse_message(build_wrapper(records, codec=kind, magic=magic), WHERE)
    assert ours.value is not None
    content = decompress(kind, ours.value, WHERE, magic=magic)
    assert content == decompress(kind, vector.value, WHERE, magic=magic)


def test_lz4_of_magic_0_is_written_with_the_old_header_checksum() -> None:
    old = build_wrapper([_record(0)], codec=Codec.LZ4, magic=0)
    new = build_wrapper([_record(0)], codec=Codec.LZ4, magic=1)
    assert bytes.fromhex("04224d1860401a") in old
    assert bytes.fromhex("04224d18604082") in new


def test_lz4_header_checksum_is_looked_at_in_magic_1_only() -> None:
    for magic, payload_magic in itertools.product((0, 1), repeat=2):
        content = build_message(None, b"v", magic=magic)
        value = compress(Codec.LZ4, content, magic=payload_magic)
        wrapper = build_wrapper([], codec=Codec.LZ4, magic=magic, value=value)
        if (magic, payload_magic) == (1, 0):
            with pytest.raises(CorruptRecordError, match="header checksum stored 0x1a"):
                _records(wrapper)
        else:
            assert [record.value for record in _records(wrapper)] == [b"v"]


def test_lz4_frame_of_the_reference_with_the_old_checksum_is_for_magic_0_only() -> None:
    frame = bytes.fromhex("04224d1860401a 02000080 6869 00000000")
    assert decompress(Codec.LZ4, frame, WHERE, magic=0) == b"hi"
    for magic in (1, 2):
        with pytest.raises(CorruptRecordError, match="stored 0x1a, computed 0x82"):
            decompress(Codec.LZ4, frame, WHERE, magic=magic)


def test_lz4_frame_with_content_size_has_its_old_checksum_ignored() -> None:
    content = build_message(None, b"v", magic=0)
    frame = bytearray(lz4.frame.compress(content, block_linked=False, store_size=True))
    frame[6:14] = b"\xff" * 8  # Kafka's reader skips the content size; it must not allocate memory
    frame[14] ^= 0xFF
    value = bytes(frame)
    wrapper = build_wrapper([], codec=Codec.LZ4, magic=0, value=value)
    assert [record.value for record in _records(wrapper)] == [b"v"]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize(
    ("codec", "payload"),
    [
        pytest.param(
            Codec.SNAPPY, lambda content: cramjam.snappy.compress_raw(content), id="raw_snappy"
        ),
        pytest.param(
            Codec.GZIP,
            lambda content: gzip.compress(content[:30]) + gzip.compress(content[30:]),
            id="gzip_members_cut_inside_a_message",
        ),
        pytest.param(
            Codec.GZIP, lambda content: gzip.compress(content) + bytes(9), id="gzip_then_zeros"
        ),
    ],
)
def test_payload_of_another_client_is_read(
    magic: int, codec: Codec, payload: Callable[[bytes], bytes]
) -> None:
    content = b"".join(build_message(None, b"%d" % n, offset=n, magic=magic) for n in range(3))
    value = bytes(payload(content))
    wrapper = build_wrapper([], codec=codec, magic=magic, offset=2, value=value)
    assert [(r.offset, r.value) for r in _records(wrapper)] == [(0, b"0"), (1, b"1"), (2, b"2")]


def test_log_append_time_of_the_wrapper_is_that_of_every_record() -> None:
    wrapper = build_wrapper(
        [_record(7, T), _record(8, T + 5)],
        codec=Codec.GZIP,
        timestamp=T + 99,
        flags=LOG_APPEND_TIME_BIT,
    )
    assert [(r.timestamp, r.timestamp_type) for r in _records(wrapper)] == [
        (T + 99, TimestampType.LOG_APPEND_TIME)
    ] * 2


def test_timestamp_type_of_an_inner_message_does_not_count() -> None:
    content = build_message(None, b"v", timestamp=T, flags=LOG_APPEND_TIME_BIT)
    wrapper = build_wrapper([], codec=Codec.GZIP, content=content, timestamp=T + 9)
    (record,) = _records(wrapper)
    assert (record.timestamp, record.timestamp_type) == (T, TimestampType.CREATE_TIME)


@pytest.mark.parametrize("magic", [0, 1])
def test_wrapper_that_compaction_took_records_from_keeps_their_offsets(magic: int) -> None:
    kept = [_record(offset, magic=magic) for offset in (102, 103, 107)]
    wrapper = build_wrapper(kept, codec=Codec.GZIP, magic=magic, base_offset=100 * magic)
    message_set = _message_set(wrapper)
    assert [m.offset for m in message_set.messages()] == ([2, 3, 7] if magic else [102, 103, 107])
    assert list(message_set.records()) == kept
    assert (message_set.count, message_set.last_offset) == (3, 107)
    assert message_set.base_offset == 100 * magic


def test_wrapper_whose_last_record_was_compacted_away_ends_with_the_last_kept() -> None:
    wrapper = build_wrapper([_record(100)], codec=Codec.GZIP, base_offset=100)
    assert [record.offset for record in _records(wrapper)] == [100]


def test_wrapper_offset_of_0_means_that_inner_offsets_are_as_stored() -> None:
    records = [_record(0), _record(1), _record(2)]
    assert _records(build_wrapper(records, codec=Codec.GZIP, offset=0)) == records


def test_wrapper_offset_of_magic_0_moves_no_record() -> None:
    records = [_record(5, magic=0), _record(6, magic=0)]
    for offset in (0, 3, 6, 2**40):
        wrapper = build_wrapper(records, codec=Codec.GZIP, magic=0, offset=offset)
        assert _records(wrapper) == records
        assert _message_set(wrapper).last_offset == 6


@pytest.mark.parametrize(
    ("magic", "inner_magic", "offsets", "timestamp", "timestamp_type"),
    [
        (1, 0, [100, 101], -1, TimestampType.NO_TIMESTAMP_TYPE),
        (0, 1, [0, 1], T, TimestampType.NO_TIMESTAMP_TYPE),
    ],
)
def test_inner_messages_of_another_magic_are_reported_and_read_by_the_wrappers(
    magic: int,
    inner_magic: int,
    offsets: list[int],
    timestamp: int,
    timestamp_type: TimestampType,
) -> None:
    content = b"".join(
        build_message(None, b"v", offset=n, magic=inner_magic, timestamp=T) for n in range(2)
    )
    wrapper = build_wrapper([], codec=Codec.LZ4, magic=magic, offset=101, content=content)
    assert _message_set(wrapper).inner_magics == {inner_magic}
    assert [(r.offset, r.timestamp, r.timestamp_type) for r in _records(wrapper)] == [
        (offset, timestamp, timestamp_type) for offset in offsets
    ]


def test_mixed_inner_magics_are_all_reported() -> None:
    content = build_message(None, b"a", magic=0) + build_message(None, b"b", offset=1)
    wrapper = build_wrapper([], codec=Codec.GZIP, offset=9, content=content)
    assert _message_set(wrapper).inner_magics == {0, 1}


def test_wrong_crc_of_an_inner_message_is_reported_or_refused() -> None:
    content = build_message(None, b"a") + build_message(None, b"b", offset=1, crc=7)
    wrapper = build_wrapper([], codec=Codec.GZIP, offset=9, content=content)
    assert [message.crc_valid for message in _message_set(wrapper).messages()] == [True, False]
    with pytest.raises(CorruptRecordError, match=r"inner message at byte 35 .*stored 0x00000007"):
        _records(wrapper, SEGMENT)


INNER = build_message(None, b"v", timestamp=T)
INNER_1 = build_message(None, b"v", offset=1, timestamp=T)


@pytest.mark.parametrize(
    ("lies", "problem"),
    [
        pytest.param({"content": b""}, "without messages", id="no_message"),
        pytest.param({"content": INNER + bytes(5)}, "5 bytes are too few", id="stray"),
        pytest.param({"content": INNER + bytes(30)}, "length 0 is below 14", id="zeros_after"),
        pytest.param({"content": INNER[:-1]}, "byte 0 .*cut short: 34 of 35", id="cut_short"),
        pytest.param({"content": INNER + INNER_1[:-1]}, "byte 35 .*cut short", id="second_cut"),
        pytest.param(
            {"content": build_message(None, b"v", length=2**31 - 1)},
            "35 of 2147483659",
            id="length_of_2_gib",
        ),
        pytest.param(
            {"content": build_message(None, b"v", length=-1)}, "length -1", id="negative_length"
        ),
        pytest.param(
            {"content": build_message(None, b"v", key_length=-2)}, "its key: ", id="key_length_-2"
        ),
        pytest.param(
            {"content": build_message(None, b"v", value_length=2**31 - 1)},
            "its value: ",
            id="value_of_2_gib",
        ),
        pytest.param(
            {"content": build_message(None, b"v", magic=-1)}, "magic -1", id="negative_magic"
        ),
        pytest.param(
            {"content": build_wrapper([_record(0)], codec=Codec.GZIP)},
            "compressed itself",
            id="wrapper_in_a_wrapper",
        ),
        pytest.param({"content": INNER_1 + INNER}, "offsets 0 to 1 .* ends at 0", id="falling"),
        pytest.param(
            {"content": build_message(None, b"v", offset=-1) + INNER},
            "offsets -1 to 0",
            id="negative_inner_offset",
        ),
        pytest.param(
            {"content": INNER + INNER_1 + build_message(None, b"v", offset=50)},
            "wrapper offset 9 is below its last inner offset 50",
            id="wrapper_offset_too_low",
        ),
        pytest.param({"offset": -1}, "offset -1 is negative", id="negative_offset"),
        pytest.param({"attributes": 4}, "zstd in magic 1", id="zstd"),
        pytest.param({"value": b""}, "cut short", id="empty_value"),
        pytest.param({"value": b"garbage" * 9}, "does not decompress", id="garbage"),
    ],
)
def test_contradicting_wrapper_is_refused_with_the_wrappers_place(lies: Any, problem: str) -> None:
    wrapper = build_wrapper([_record(9)], **{"codec": Codec.GZIP, "offset": 9, **lies})
    with pytest.raises(CorruptRecordError, match=problem) as caught:
        _records(wrapper, LogPosition("segment.log", 1000, 9))
    assert caught.value.where == LogPosition("segment.log", 1000, 9)


def test_wrapper_without_a_value_is_refused() -> None:
    wrapper = build_message(None, None, codec=Codec.SNAPPY, offset=9)
    with pytest.raises(CorruptRecordError, match="without a value"):
        _records(wrapper, SEGMENT)


@pytest.mark.parametrize("codec_id", [5, 6, 7])
def test_unknown_codec_is_refused(codec_id: int) -> None:
    with pytest.raises(UnsupportedFormatError, match=f"codec {codec_id}") as caught:
        _message_set(build_message(None, b"v", attributes=codec_id, offset=9))
    assert caught.value.where == LogPosition("segment.log", 1000, 9)


def test_inner_message_of_a_later_magic_is_refused() -> None:
    wrapper = build_wrapper([], codec=Codec.GZIP, content=build_message(None, b"v", magic=2))
    with pytest.raises(UnsupportedFormatError, match="magic 2"):
        _message_set(wrapper)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_bomb_stops_at_the_limit(codec: Codec, magic: int) -> None:
    wrapper = build_wrapper([_record(0, value=bytes(10_000_000))], codec=codec, magic=magic)
    message = parse_message(wrapper, WHERE)
    with pytest.raises(LimitReachedError, match="more than 1,000,000 bytes"):
        parse_message_set(message, WHERE, limit=1_000_000)


def test_records_of_a_large_wrapper_take_no_memory_before_they_are_requested() -> None:
    """A record takes more than its 300 bytes; garbage that waits for its collection far less."""
    content = b"".join(build_message(None, bytes(300), offset=n) for n in range(5_000))
    message = parse_message(build_wrapper([], codec=Codec.GZIP, content=content, offset=0), WHERE)
    tracemalloc.start()
    records = parse_message_set(message, WHERE).records()
    first = next(records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first.offset == 0
    assert peak < 3 * len(content)


@given(
    magic=st.sampled_from([0, 1]),
    codec=st.sampled_from(CODECS),
    first=st.integers(0, 2**62),
    gaps=st.lists(st.integers(1, 2**40), max_size=8),
    data=st.data(),
)
def test_records_of_any_wrapper_come_back(
    magic: int, codec: Codec, first: int, gaps: list[int], data: st.DataObject
) -> None:
    records = [
        LegacyRecord(
            offset=offset,
            timestamp=data.draw(st.integers(-(2**63), 2**63 - 1)) if magic else -1,
            timestamp_type=TimestampType(0 if magic else -1),
            key=data.draw(NULLABLE),
            value=data.draw(NULLABLE),
        )
        for offset in itertools.accumulate(gaps, initial=first)
    ]
    written = build_wrapper(records, codec=codec, magic=magic)
    assert parse_message(written, WHERE).offset == records[-1].offset
    assert _records(written) == records
    if magic == 1 or codec is not Codec.LZ4:  # aiokafka refuses the old lz4 frames
        batch = LegacyRecordBatch(written, magic)
        assert batch.validate_crc()
        assert [(r.offset, r.key, r.value) for r in batch] == [
            (r.offset, r.key, r.value) for r in records
        ]


@given(
    kind=st.sampled_from([(0, Codec.GZIP), (0, Codec.SNAPPY), *((1, codec) for codec in CODECS)]),
    rows=st.lists(st.tuples(st.integers(0, T), NULLABLE, NULLABLE), min_size=1, max_size=8),
    base_offset=st.integers(0, 2**62),
)
def test_what_aiokafka_writes_is_read(
    kind: tuple[int, Codec],
    rows: list[tuple[int, bytes | None, bytes | None]],
    base_offset: int,
) -> None:
    magic, codec = kind
    builder = LegacyRecordBatchBuilder(magic, codec, 1 << 20)
    for number, (timestamp, key, value) in enumerate(rows):
        stored = number if magic else base_offset + number
        builder.append(stored, timestamp, key, value)
    # the leader does this: the CRC does not cover the offset
    wrapper = (base_offset + len(rows) - 1).to_bytes(8, "big") + bytes(builder.build())[8:]
    assert [(r.offset, r.timestamp, r.key, r.value) for r in _records(wrapper)] == [
        (base_offset + number, timestamp if magic else -1, key, value)
        for number, (timestamp, key, value) in enumerate(rows)
    ]


@given(
    kind=st.sampled_from(sorted(WRAPPERS)),
    position=st.integers(17, 200),
    byte=st.integers(0, 255),
)
def test_wrapper_with_one_byte_changed_is_read_or_refused(
    kind: tuple[int, str], position: int, byte: int
) -> None:
    content = bytearray(WRAPPERS[kind])
    content[17 + position % (len(content) - 17)] = byte
    message = None
    with contextlib.suppress(*REFUSALS):
        message = parse_message(bytes(content), WHERE, check_crc=False)
    if message is not None:
        with contextlib.suppress(*REFUSALS):
            list(message_records(message, WHERE, limit=1 << 20))


@given(content=st.binary(max_size=200), magic=st.sampled_from([0, 1]))
def test_any_inner_bytes_are_messages_or_refused(content: bytes, magic: int) -> None:
    wrapper = build_wrapper([], codec=Codec.SNAPPY, magic=magic, offset=9, content=content)
    with contextlib.suppress(*REFUSALS):
        _records(wrapper)


@given(position=st.integers(0, 1000), byte=st.integers(0, 255), magic=st.sampled_from([0, 1]))
def test_damaged_inner_messages_are_read_or_refused(position: int, byte: int, magic: int) -> None:
    content = bytearray(LEGACY_V0 + LEGACY_V1)
    content[position % len(content)] = byte
    wrapper = build_wrapper([], codec=Codec.SNAPPY, magic=magic, offset=42, content=bytes(content))
    with contextlib.suppress(*REFUSALS):
        _records(wrapper)
