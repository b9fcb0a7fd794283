"""The table ``segments``: sizes, sums over batches, and damage."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, empty_batch, replica
from fixtures.synthetic.tiered_topic import copy_of_topic, tiered_topic
from kafkalog_reader.errors import CorruptRecordError, UnsupportedFormatError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
FIRST = "00000000000000000000.log"
LAST = "00000000000000000013.log"


def test_row_says_what_the_reference_says_about_its_segments(
    small_partition: Path, rows_of: Rows
) -> None:
    rows = rows_of("segments", small_partition)
    assert [
        (row["clusterId"], row["brokerId"], row["topic"], row["partition"]) for row in rows
    ] == [("AAECAwQFBgcICQoLDA0ODw", 1, "t", 0)] * 2
    assert {row["logDirectory"] for row in rows} == {str(small_partition.parent)}
    expected: dict[str, tuple[Any, Any]] = {
        "segmentBaseOffset": (0, 13),
        "state": (None, None),
        "suffix": (None, None),
        "sizeInBytes": (576, 440),
        "offsetIndexBytes": (24, 16),
        "timeIndexBytes": (36, 24),
        "transactionIndexBytes": (34, None),
        "firstOffset": (0, 13),
        "lastOffset": (12, 22),
        "batches": (7, 5),
        "records": (13, 10),
        "minTimestamp": (START, START + timedelta(milliseconds=7)),
        "maxTimestamp": (START + timedelta(milliseconds=6), START + timedelta(milliseconds=11)),
        "codecs": (["none"], ["none"]),
        "magics": ([2], [2]),
        "firstLeaderEpoch": (0, 2),
        "lastLeaderEpoch": (2, 5),
        "validBytes": (576, 440),
        "crcErrors": (0, 0),
        "hasSnapshotAtEnd": (True, None),
    }
    assert {name: tuple(row[name] for row in rows) for name in expected} == expected


def test_a_closed_segment_has_a_producer_snapshot_at_its_end_or_not(
    tmp_path: Path, rows_of: Rows
) -> None:
    """Segments begin at 0, 20, 40, 60 and 80; remote storage has the first two, too."""
    copy = copy_of_topic(lacking=[40, 100])
    rows = rows_of("segments", tiered_topic(tmp_path, {0: copy}, uploaded=2), topic="t")
    assert [
        (row["state"], row["segmentBaseOffset"], row["hasSnapshotAtEnd"]) for row in rows
    ] == [
        (None, 0, True), (None, 20, False), (None, 40, True), (None, 60, True), (None, 80, None),
        ("remote", 0, None), ("remote", 20, None),
    ]  # fmt: skip
    one = tmp_path / "broker-0" / "t-0" / f"{20:020d}.log"
    (row,) = rows_of("segments", one)
    assert row["hasSnapshotAtEnd"] is None  # the folder was not given


def test_codecs_are_those_of_the_batches(tmp_path: Path, rows_of: Rows) -> None:
    batches = [
        data_batch(offset, [Record(offset_delta=0, value=b"x")], codec=codec)
        for offset, codec in enumerate([Codec.ZSTD, Codec.NONE, Codec.GZIP, Codec.ZSTD])
    ]
    cluster(tmp_path, {1: replica(batches)})
    (row,) = rows_of("segments", tmp_path)
    assert row["codecs"] == ["none", "gzip", "zstd"]


def test_empty_batches_and_delete_horizons_have_no_first_timestamp(
    tmp_path: Path, rows_of: Rows
) -> None:
    batch = data_batch(0, [Record(offset_delta=0, value=b"x")])
    horizon = data_batch(1, [Record(offset_delta=0)], flags=0x40, base_timestamp=EPOCH_MILLIS - 5)
    cluster(tmp_path, {1: replica([empty_batch(batch), horizon])})
    (row,) = rows_of("segments", tmp_path)
    assert (row["batches"], row["records"], row["minTimestamp"]) == (2, 1, None)


def test_files_and_directories_set_aside_are_rows_with_their_state(
    tmp_path: Path, rows_of: Rows
) -> None:
    name = f"t-1.{'0' * 32}-delete"
    aside = replica("a@0/e0", partition=1, directory=name)
    cluster(tmp_path, {1: [replica("a@0/e0", files={f"{7:020d}.log.deleted": b""}), aside]})
    rows = rows_of("segments", tmp_path)
    assert [(r["partition"], r["state"], r["segmentBaseOffset"], r["suffix"]) for r in rows] == [
        (0, None, 0, None), (0, None, 7, "deleted"), (1, "delete", 0, None),
    ]  # fmt: skip


def test_index_without_a_log_is_a_row_of_nulls(tmp_path: Path, rows_of: Rows) -> None:
    cluster(tmp_path, {1: replica("a@5/e0", files={f"{0:020d}.index": b"\0" * 8})})
    orphan, _ = rows_of("segments", tmp_path)
    assert (orphan["sizeInBytes"], orphan["offsetIndexBytes"], orphan["batches"]) == (None, 8, None)


def test_torn_last_batch_is_not_an_error_but_a_warning(
    small_partition: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    log = small_partition / LAST
    log.write_bytes(log.read_bytes()[:430])
    _, last = rows_of("segments", small_partition)
    assert (last["sizeInBytes"], last["validBytes"], last["lastOffset"]) == (430, 353, 20)
    assert f"{log} at position 353 (offset 21): torn batch" in caplog.text


def test_zeros_after_the_last_batch_are_preallocated(
    small_partition: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    log = small_partition / LAST
    log.write_bytes(log.read_bytes() + bytes(4096))
    with caplog.at_level(logging.WARNING):
        _, last = rows_of("segments", small_partition)
    assert (last["validBytes"], last["lastOffset"], caplog.text) == (440, 22, "")


def test_torn_batch_before_the_last_segment_is_damage(small_partition: Path, rows_of: Rows) -> None:
    log = small_partition / FIRST
    log.write_bytes(log.read_bytes()[:-1])
    with pytest.raises(CorruptRecordError, match=r"0{20}\.log at position 498 \(offset 12\): torn"):
        rows_of("segments", small_partition)
    first, _ = rows_of("segments", small_partition, mode="PERMISSIVE")
    assert (first["validBytes"], first["lastOffset"]) == (498, 11)


def test_wrong_crc_is_counted_and_ends_what_a_recovery_keeps(
    small_partition: Path, rows_of: Rows
) -> None:
    log = small_partition / FIRST
    content = bytearray(log.read_bytes())
    content[240] ^= 1  # a payload byte of the batch at 166
    log.write_bytes(content)
    first, _ = rows_of("segments", small_partition)
    assert (first["crcErrors"], first["validBytes"], first["batches"]) == (1, 166, 7)
    assert (first["records"], first["lastOffset"]) == (11, 12)


def test_other_magic_is_refused_with_its_position(small_partition: Path, rows_of: Rows) -> None:
    log = small_partition / FIRST
    content = bytearray(log.read_bytes())
    content[83 + 16] = 3
    log.write_bytes(content)
    with pytest.raises(UnsupportedFormatError, match=r"at position 83 \(offset 2\): .*magic"):
        rows_of("segments", small_partition)


def test_columns_that_need_no_scan_open_no_log(
    small_partition: Path, rows_of: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkalog_reader.tables import segment_batches

    monkeypatch.setattr(segment_batches, "Scan", None)
    rows = rows_of("segments", small_partition, columns=["sizeInBytes", "segmentBaseOffset"])
    assert rows == [
        {"sizeInBytes": 576, "segmentBaseOffset": 0}, {"sizeInBytes": 440, "segmentBaseOffset": 13},
    ]  # fmt: skip


def test_units_are_packed_towards_the_size_requested(small_partition: Path) -> None:
    from kafkalog_reader.io.discovery import discover
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.segments import SegmentsTable

    evidence = discover([str(small_partition)])
    units = SegmentsTable().units(evidence, ReadRequest(max_partition_bytes=600))
    assert [unit.size_in_bytes for unit in units] == [576, 440]
    (unit,) = SegmentsTable().units(evidence, ReadRequest())
    assert unit.size_in_bytes == 1016
