"""Offsets by the headers of batches equal those of decoded records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.decode import header_records
from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("offset", "leaderEpoch", "isControl", "codec", "transactionState", "batchBaseOffset")


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "orders-3"


def rows(path: Path, columns: tuple[str, ...], **fields: Any) -> list[dict[str, Any]]:
    """The rows of ``records``; fields of the request."""
    request = ReadRequest(columns=columns, **fields)
    table = RecordsTable()
    return [
        row
        for unit in table.units(kafkalog_reader.open(str(path)).evidence, request)
        for found in table.read(unit, request)
        for row in found.to_pylist()
    ]


def both_ways(path: Path, **options: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows by headers, and by decoded records."""
    options = {"columns": COLUMNS, **options}
    return (
        rows(path, offsets_from_headers=True, **options),
        rows(path, offsets_from_headers=False, **options),
    )


@pytest.mark.parametrize("name", ["s3_2", "everything", "release_0.8.2.2", "release_3.9.1"])
def test_headers_give_the_same_rows_of_what_brokers_wrote(name: str) -> None:
    columns = ("topic", "partition", "brokerId", *COLUMNS)
    by_headers, decoded = both_ways(captures.path(name), columns=columns)
    assert by_headers == decoded
    assert decoded


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_aborted_transactions_are_left_out(isolation: str) -> None:
    by_headers, decoded = both_ways(captures.path("everything"), isolation=isolation)
    assert by_headers == decoded


def test_no_payload_is_decoded(partition: Path) -> None:
    unreadable = batch(3, codec=Codec.ZSTD, payload=b"no zstd frame")
    write_segment(partition, [batch(0, codec=Codec.ZSTD), unreadable, batch(6)])
    by_headers = rows(partition, columns=("offset",), offsets_from_headers=True)
    assert [row["offset"] for row in by_headers] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(CorruptRecordError):
        rows(partition, columns=("offset", "key"), offsets_from_headers=True)


def test_batches_with_fewer_records_than_offsets_are_decoded(partition: Path) -> None:
    cleaned = batch(3, last_offset_delta=4)
    write_segment(partition, [batch(0), cleaned, batch(8)])
    by_headers, decoded = both_ways(partition)
    assert [row["offset"] for row in by_headers] == [0, 1, 2, 3, 4, 5, 8, 9, 10]
    assert by_headers == decoded


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_a_count_that_the_payload_cannot_hold_is_not_believed(
    partition: Path, codec: Codec
) -> None:
    many = 2**31 - 1
    bomb = batch(3, codec=codec, records_count=many, last_offset_delta=many - 1)
    write_segment(partition, [batch(0), bomb])
    with pytest.raises(CorruptRecordError):
        rows(partition, columns=("offset",), offsets_from_headers=True)


@pytest.mark.parametrize("bounds", [(None, None), (1, None), (None, 7), (4, 5), (5, 100)])
def test_ranges_cut_inside_batches(partition: Path, bounds: tuple[int | None, int | None]) -> None:
    write_segment(partition, [batch(0), batch(3), batch(6), batch(20)])
    by_headers, decoded = both_ways(partition, from_offset=bounds[0], to_offset=bounds[1])
    assert by_headers == decoded
    low, high = bounds[0] or 0, bounds[1] or 100
    expected = [each for each in (*range(9), 20, 21, 22) if low <= each < high]
    assert [row["offset"] for row in by_headers] == expected


def test_records_come_in_portions(partition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_records, "_ROWS", 8)
    write_segment(partition, [batch(0, 5), batch(5, 3), batch(8, 20), batch(40, 4)])
    by_headers, _ = both_ways(partition)
    assert [row["offset"] for row in by_headers] == [*range(28), 40, 41, 42, 43]


def test_a_wrong_crc_ends_the_rows_before_it(partition: Path) -> None:
    damaged = bytearray(batch(3))
    damaged[-1] ^= 1
    write_segment(partition, [batch(0), bytes(damaged), batch(6)])
    found = rows(partition, columns=("offset",), offsets_from_headers=True, mode=Mode.DROPMALFORMED)
    assert [row["offset"] for row in found] == [0, 1, 2, 6, 7, 8]


def test_times_are_those_of_records(partition: Path) -> None:
    write_segment(partition, [batch(0), batch(3)])
    by_headers, decoded = both_ways(partition, from_timestamp=0, to_timestamp=1)
    assert by_headers == decoded


def test_a_batch_with_very_many_records_is_decoded(
    partition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a small compressed batch could ask for any amount of memory."""
    monkeypatch.setattr(header_records, "_MAX_RECORDS", 4)
    unreadable = batch(0, 5, codec=Codec.ZSTD, payload=b"no zstd frame")
    write_segment(partition, [unreadable])
    with pytest.raises(CorruptRecordError):
        rows(partition, columns=("offset",), offsets_from_headers=True)
