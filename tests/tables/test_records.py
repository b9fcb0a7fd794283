"""The table ``records``: what a consumer would see, and where each record is."""

from __future__ import annotations

import logging
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import kafkalog_reader
from fixtures.builder import message_batch
from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.errors import (
    CorruptRecordError,
    LimitReachedError,
    LocatedError,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record, RecordHeader
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.schemas.records import KAFKA_COLUMNS
from tests.format.vectors import COMMIT, EMPTY, PLAIN, TRANSACTIONAL
from tests.tables.logs import T, batch, offsets, rows, rows_before_error, write_segment

if TYPE_CHECKING:
    from pathlib import Path

INSTANT = datetime.fromtimestamp(T / 1000, UTC)


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "orders-3"


def test_the_plain_vector_reads_as_spark_would_show_it(partition: Path) -> None:
    write_segment(partition, [PLAIN], base_offset=100)
    names = [column.name for column in KAFKA_COLUMNS]
    assert rows(partition, columns=names) == [
        {
            "key": b"k1", "value": b"v1", "topic": "orders", "partition": 3, "offset": 100,
            "timestamp": INSTANT, "timestampType": 0, "headers": None,
        },
        {
            "key": None, "value": b"x", "topic": "orders", "partition": 3, "offset": 101,
            "timestamp": INSTANT + timedelta(milliseconds=5), "timestampType": 0, "headers": None,
        },
        {
            "key": b"k2", "value": None, "topic": "orders", "partition": 3, "offset": 102,
            "timestamp": INSTANT + timedelta(milliseconds=3), "timestampType": 0,
            "headers": [{"key": "h", "value": b"1"}, {"key": "n", "value": None}],
        },
    ]  # fmt: skip


def test_the_columns_behind_say_where_a_record_lies(partition: Path) -> None:
    write_segment(partition, [TRANSACTIONAL, COMMIT])
    record, marker = rows(partition)
    assert {name: record[name] for name in list(record)[8:]} == {
        "clusterId": None, "brokerId": None, "logDirectory": str(partition.parent),
        "segmentBaseOffset": 0, "position": 0, "batchBaseOffset": 0,
        "batchBaseTimestamp": INSTANT, "leaderEpoch": 1,
        "producerId": 1000, "producerEpoch": 3, "sequence": 0, "isTransactional": True,
        "transactionState": "committed",
        "isControl": False, "controlType": None, "codec": "none", "magic": 2, "leftover": None,
    }  # fmt: skip
    assert (marker["position"], marker["isControl"], marker["controlType"], marker["sequence"]) == (
        len(TRANSACTIONAL), True, "COMMIT", -1,
    )  # fmt: skip


def test_the_base_timestamp_is_the_clients_where_the_broker_set_the_times(
    partition: Path,
) -> None:
    appended = batch(0, count=2, flags=LOG_APPEND_TIME_BIT, max_timestamp=T + 1000)
    message = message_batch(2, [Record(offset_delta=0, value=b"a")], magic=1).build()
    write_segment(partition, [appended, message])
    found = rows(partition, columns=["timestamp", "batchBaseTimestamp"])
    assert [row["batchBaseTimestamp"] for row in found] == [INSTANT, INSTANT, None]
    assert found[1]["timestamp"] == INSTANT + timedelta(seconds=1)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("size", [1, 40_000, 300_000])  # one block, several snappy, several lz4
def test_every_codec_gives_the_records_back(partition: Path, codec: Codec, size: int) -> None:
    value = bytes(range(256)) * (size // 256) + b"end"
    records = [Record(offset_delta=0, value=value), Record(offset_delta=1, key=b"", value=None)]
    batches = [
        build_record_batch(records, base_offset=2 * number, codec=codec, base_timestamp=T)
        for number in range(4)
    ]
    write_segment(partition, [*batches, batch(8, codec=Codec.NONE)])
    found = rows(partition, columns=["offset", "key", "value", "codec"])
    assert [row["offset"] for row in found] == list(range(11))
    assert [(row["key"], row["value"]) for row in found[:8]] == [(None, value), (b"", None)] * 4
    assert {row["codec"] for row in found[:8]} == {codec.text}


def test_batches_of_all_codecs_mix_in_order(partition: Path) -> None:
    batches = [batch(3 * n, codec=Codec(n % 5)) for n in range(40)]
    write_segment(partition, batches)
    assert [(row["offset"], row["value"]) for row in rows(partition)] == [
        (offset, b"v%d" % offset) for offset in range(120)
    ]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_a_batch_larger_than_every_buffer_is_read_whole(partition: Path, codec: Codec) -> None:
    value = random.Random(7).randbytes(2_000_000) * 10
    large = build_record_batch([Record(offset_delta=0, value=value)], base_offset=3, codec=codec)
    write_segment(partition, [batch(0), large, batch(4)])
    found = rows(partition, columns=["offset", "value"])
    assert [row["offset"] for row in found] == [0, 1, 2, 3, 4, 5, 6]
    assert found[3]["value"] == value


def test_more_headers_than_there_is_room_for_make_more_room(partition: Path) -> None:
    headers = tuple(RecordHeader(key="h", value=b"%d" % n) for n in range(70_000))
    record = Record(offset_delta=0, headers=headers)
    write_segment(partition, [batch(0), build_record_batch([record], base_offset=3)])
    (found,) = rows(partition, columns=["headers"], from_offset=3)
    assert found["headers"][-1] == {"key": "h", "value": b"69999"}
    assert len(found["headers"]) == 70_000


def test_header_keys_that_are_not_utf8_are_shown_as_kafkas_clients_show_them(
    partition: Path,
) -> None:
    payload = bytes.fromhex("14 00 00 00 01 01 02 04 ff41 00".replace(" ", ""))
    log = build_record_batch([], payload=payload, records_count=1, last_offset_delta=0,
                             base_timestamp=T, max_timestamp=T)  # fmt: skip
    write_segment(partition, [log])
    assert rows(partition)[0]["headers"] == [{"key": "\ufffdA", "value": b""}]


def test_offsets_requested_are_half_open_and_exact(partition: Path) -> None:
    write_segment(partition, [batch(0, 5), batch(5, 5)], index=[1])
    write_segment(partition, [batch(10, 5), batch(15, 5)], base_offset=10, index=[1])
    assert offsets(partition, from_offset=3, to_offset=17) == list(range(3, 17))
    assert offsets(partition, from_offset=7) == list(range(7, 20))
    assert offsets(partition, from_offset=20) == []
    assert offsets(partition, to_offset=10) == list(range(10))


def test_times_requested_are_those_of_the_records(partition: Path) -> None:
    write_segment(partition, [batch(0, 5), batch(5, 5)])
    assert offsets(partition, from_time=T + 3, to_time=T + 6) == [3, 4, 5]


def test_control_records_and_empty_batches_are_left_out_on_request(partition: Path) -> None:
    write_segment(partition, [TRANSACTIONAL, COMMIT, EMPTY])
    assert offsets(partition, include_control_records=False) == [0]
    assert offsets(partition) == [0, 1]


def test_records_below_the_log_start_offset_are_left_out_on_request(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-3", [batch(0, 5)])
    (tmp_path / "meta.properties").write_text("version=1\nbroker.id=1\n")
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\norders 3 2\n")
    assert offsets(tmp_path, log_range_only=True) == [2, 3, 4]
    assert offsets(tmp_path) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("size", [1, 100, 1000, 5000])
def test_units_of_any_size_hold_every_record_once(
    partition: Path, indexed: bool, size: int
) -> None:
    batches = [batch(3 * n) for n in range(50)]
    index = list(range(1, 50, 7)) if indexed else None
    write_segment(partition, batches, index=index)
    write_segment(partition, [batch(150 + 3 * n) for n in range(9)], base_offset=150)
    log = kafkalog_reader.open(str(partition))
    request = ReadRequest(max_partition_bytes=size, columns=("offset",))
    units = list(RecordsTable().units(log.evidence, request))
    assert len(units) > 1
    assert offsets(partition, max_partition_bytes=size) == list(range(177))


def test_an_index_that_points_into_the_middle_of_batches_is_not_believed(partition: Path) -> None:
    path = write_segment(partition, [batch(3 * n) for n in range(50)])
    entries = b"".join(
        n.to_bytes(4, "big") + (97 * n + 13).to_bytes(4, "big") for n in range(1, 40)
    )
    path.with_suffix(".index").write_bytes(entries)
    assert offsets(partition, max_partition_bytes=700) == list(range(150))
    assert offsets(partition, from_offset=100) == list(range(100, 150))


def test_small_segments_share_a_unit(partition: Path) -> None:
    for base_offset in range(0, 30, 3):
        write_segment(partition, [batch(base_offset)], base_offset=base_offset)
    log = kafkalog_reader.open(str(partition))
    assert len(list(RecordsTable().units(log.evidence, ReadRequest()))) == 1


# --- damage

DAMAGED = batch(3)[:-2] + b"??"


def test_a_wrong_crc_ends_the_reading_with_file_position_and_offset(partition: Path) -> None:
    path = write_segment(partition, [batch(0), DAMAGED, batch(6)])
    reader = kafkalog_reader.open(str(partition)).table("records", columns=["offset"]).to_batches()
    assert reader.read_next_batch().to_pydict() == {"offset": [0, 1, 2]}
    with pytest.raises(CorruptRecordError, match="CRC is wrong: stored 0x") as caught:
        reader.read_next_batch()
    where = caught.value.where
    assert (where.file, where.position, where.offset) == (str(path), len(batch(0)), 3)


def test_a_wrong_crc_costs_one_batch_and_a_warning_in_permissive_mode(
    partition: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_segment(partition, [batch(0), DAMAGED, batch(6)])
    assert offsets(partition, mode="PERMISSIVE") == [0, 1, 2, 6, 7, 8]
    assert "CRC is wrong" in caplog.text
    assert "offset 3" in caplog.text


def test_a_wrong_crc_costs_one_batch_in_silence_when_malformed_are_dropped(
    partition: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_segment(partition, [batch(0), DAMAGED, batch(6)])
    assert offsets(partition, mode="DROPMALFORMED") == [0, 1, 2, 6, 7, 8]
    assert caplog.text == ""


def test_neighbours_with_wrong_crcs_are_reported_at_once(
    partition: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = [batch(offset)[:-2] + b"??" for offset in (3, 6, 9, 15)]
    write_segment(partition, [batch(0), *wrong[:3], batch(12), wrong[3]])
    assert offsets(partition, mode="PERMISSIVE") == [0, 1, 2, 12, 13, 14]
    first, second = [r.getMessage() for r in caplog.records if "CRC is wrong" in r.getMessage()]
    assert "offset 3" in first
    assert "; and 2 more up to offset 11" in first
    assert "offset 15" in second
    assert "more" not in second


def test_thousands_of_damaged_places_are_counted(
    partition: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sound = [batch(offset) for offset in range(0, 1200, 6)]
    wrong = [batch(offset)[:-2] + b"??" for offset in range(3, 1200, 6)]
    write_segment(partition, [part for pair in zip(sound, wrong, strict=True) for part in pair])
    expected = [at for first in range(0, 1200, 6) for at in range(first, first + 3)]
    assert offsets(partition, mode="PERMISSIVE") == expected
    warnings = [r.getMessage() for r in caplog.records if "CRC is wrong" in r.getMessage()]
    assert len(warnings) == 101
    assert "; and 99 more up to offset 1199" in warnings[-1]
    caplog.clear()
    assert offsets(partition, mode="DROPMALFORMED") == expected
    assert not caplog.records
    with pytest.raises(CorruptRecordError, match="computed") as caught:
        offsets(partition)
    assert caught.value.where.offset == 3


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_that_contradicts_itself_is_located(partition: Path, codec: Codec) -> None:
    lying = batch(3, codec=codec, records_count=2)
    write_segment(partition, [batch(0, codec=codec), lying, batch(6, codec=codec)])
    with pytest.raises(CorruptRecordError, match="bytes are left behind the last record") as caught:
        offsets(partition)
    assert caught.value.where.offset == 3
    assert offsets(partition, mode="DROPMALFORMED") == [0, 1, 2, 6, 7, 8]


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_a_payload_that_does_not_decompress_is_located(partition: Path, codec: Codec) -> None:
    broken = batch(3, codec=codec, payload=b"no such codec writes this")
    write_segment(partition, [batch(0, codec=codec), broken, batch(6, codec=codec)])
    with pytest.raises(CorruptRecordError) as caught:
        offsets(partition)
    assert caught.value.where.position == len(batch(0, codec=codec))
    assert offsets(partition, mode="DROPMALFORMED") == [0, 1, 2, 6, 7, 8]


@pytest.mark.parametrize("codec", Codec)
def test_nothing_after_the_first_bad_batch_comes_out_before_its_error(
    partition: Path, codec: Codec
) -> None:
    """Spark's FAILFAST; the batches are small enough to share one call of the kernel."""
    log = [batch(3 * number, codec=codec) for number in range(6)]
    for bad in range(6):
        lying = batch(3 * bad, codec=codec, records_count=2)
        write_segment(partition, [*log[:bad], lying, *log[bad + 1 :]])
        found, error = rows_before_error(partition, columns=["offset", "value"])
        assert [row["offset"] for row in found] == list(range(3 * bad))
        assert error is not None
        assert error.where.offset == 3 * bad


def test_an_unknown_codec_is_not_guessed(partition: Path) -> None:
    write_segment(partition, [batch(0), batch(3, attributes=5, payload=b"xyz"), batch(6)])
    with pytest.raises(UnsupportedFormatError, match="unknown codec 5"):
        offsets(partition)
    assert offsets(partition, mode="DROPMALFORMED") == [0, 1, 2, 6, 7, 8]


@pytest.mark.parametrize("magic", [0, 1, 3, -1])
def test_another_magic_is_an_error_and_costs_one_batch(partition: Path, magic: int) -> None:
    write_segment(partition, [batch(0), batch(3, magic=magic), batch(6)])
    with pytest.raises(LocatedError, match="CRC is wrong" if 0 <= magic < 2 else f"magic {magic}"):
        offsets(partition)
    assert offsets(partition, mode="DROPMALFORMED") == [0, 1, 2, 6, 7, 8]


def test_an_impossible_length_hides_nothing_after_it(
    partition: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_segment(partition, [batch(0), bytes(61), b"\x01", batch(3)])
    write_segment(partition, [batch(6)], base_offset=6)
    with pytest.raises(CorruptRecordError, match="batch length 0"):
        offsets(partition)
    assert offsets(partition, mode="PERMISSIVE") == list(range(9))
    assert "batch length 0" in caplog.text
    assert "62 bytes are skipped, offset 3 follows" in caplog.text


@pytest.mark.parametrize("tail", [batch(3)[:-1], batch(3)[:20], b"\x00", bytes(5000)])
def test_a_torn_or_unwritten_tail_ends_the_log_with_a_warning(
    partition: Path, caplog: pytest.LogCaptureFixture, tail: bytes
) -> None:
    write_segment(partition, [batch(0), tail])
    with caplog.at_level(logging.WARNING):
        assert offsets(partition, mode="DROPMALFORMED") == [0, 1, 2]
        assert caplog.text == ""
        assert offsets(partition) == [0, 1, 2]
    assert "the log ends here" in caplog.text


def test_a_torn_batch_before_the_last_segment_is_damage(partition: Path) -> None:
    write_segment(partition, [batch(0), batch(3)[:-1]])
    write_segment(partition, [batch(6)], base_offset=6)
    with pytest.raises(CorruptRecordError, match="torn batch"):
        offsets(partition)


def test_a_payload_that_grows_beyond_the_limits_is_refused_by_name(partition: Path) -> None:
    bomb = build_record_batch(
        [Record(offset_delta=0, value=bytes(64 << 20))], codec=Codec.ZSTD, base_timestamp=T
    )
    write_segment(partition, [bomb])
    with pytest.raises(LimitReachedError, match="limit"):
        offsets(partition)
    assert offsets(partition, max_batch_bytes=65 << 20) == [0]


def test_every_yielded_batch_has_exactly_the_projected_schema(partition: Path) -> None:
    write_segment(partition, [PLAIN, TRANSACTIONAL, COMMIT, EMPTY])
    for column in RecordsTable.columns:
        reader = kafkalog_reader.open(str(partition)).table("records", columns=[column.name])
        assert reader.schema == pa.schema([(column.name, column.type)])
        for found in reader:
            found.validate(full=True)
