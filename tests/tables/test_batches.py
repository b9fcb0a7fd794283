"""The table ``batches`` agrees with the vectors of the reference and the declared format."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import kafkalog_reader
from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record_batch_header import parse_record_batch_header
from kafkalog_reader.tables.batches import BatchesTable
from tests.format.vectors import ABORT, CLEANER_RESULT, COMMIT, EMPTY, PLAIN, TRANSACTIONAL, WHERE
from tests.tables.logs import batch, rows, write_segment

if TYPE_CHECKING:
    from pathlib import Path

VECTORS = [TRANSACTIONAL, ABORT, COMMIT, EMPTY, PLAIN, CLEANER_RESULT, batch(200, codec=Codec.LZ4)]


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "orders-3"


def test_every_column_is_what_the_declared_format_reads(partition: Path) -> None:
    write_segment(partition, VECTORS)
    position = 0
    for row, vector in zip(rows(partition, "batches"), VECTORS, strict=True):
        header = parse_record_batch_header(vector, WHERE)
        assert row == {
            "clusterId": None, "brokerId": None, "brokerLabel": None,
            "logDirectory": str(partition.parent), "topic": "orders", "partition": 3,
            "segmentBaseOffset": 0, "position": position, "size": len(vector),
            "baseOffset": header.base_offset, "lastOffset": header.last_offset,
            "count": header.records_count, "baseSequence": header.base_sequence,
            "lastSequence": header.last_sequence, "producerId": header.producer_id,
            "producerEpoch": header.producer_epoch, "leaderEpoch": header.leader_epoch,
            "isTransactional": header.is_transactional, "isControl": header.is_control,
            "deleteHorizonMs": header.delete_horizon, "timestampType": header.timestamp_type,
            "baseTimestamp": datetime.fromtimestamp(header.base_timestamp / 1000, UTC),
            "maxTimestamp": datetime.fromtimestamp(header.max_timestamp / 1000, UTC),
            "magic": 2, "attributes": header.attributes,
            "codec": Codec(header.codec_id).text, "crc": header.crc, "crcComputed": header.crc,
            "crcValid": True,
        }  # fmt: skip
        position += len(vector)


def test_a_last_sequence_wraps_after_the_greatest_int(partition: Path) -> None:
    write_segment(partition, [batch(0, 3, base_sequence=2**31 - 2)])
    (row,) = rows(partition, "batches", columns=["baseSequence", "lastSequence"])
    assert row == {"baseSequence": 2**31 - 2, "lastSequence": 0}


def test_a_wrong_crc_is_a_row_and_no_error(partition: Path) -> None:
    write_segment(partition, [batch(0), batch(3)[:-1] + b"?", batch(6)])
    found = rows(partition, "batches", columns=["baseOffset", "crc", "crcComputed", "crcValid"])
    assert [row["crcValid"] for row in found] == [True, False, True]
    assert [row["crc"] == row["crcComputed"] for row in found] == [True, False, True]


def test_a_broken_chain_is_an_error_after_the_rows_before_it(partition: Path) -> None:
    write_segment(partition, [batch(0), b"\xff" * 100])
    reader = (
        kafkalog_reader.open(str(partition)).table("batches", columns=["baseOffset"]).to_batches()
    )
    assert reader.read_next_batch().to_pydict() == {"baseOffset": [0]}
    with pytest.raises(CorruptRecordError, match="batch length -1") as caught:
        reader.read_next_batch()
    assert caught.value.where.position == len(batch(0))


def test_batches_overlapping_the_offsets_requested_are_shown_whole(partition: Path) -> None:
    write_segment(partition, [batch(3 * n) for n in range(5)])
    found = rows(partition, "batches", from_offset=4, to_offset=10, columns=["baseOffset"])
    assert [row["baseOffset"] for row in found] == [3, 6, 9]


@pytest.mark.parametrize("size", [1, 300, 10_000])
def test_units_of_any_size_hold_every_batch_once(partition: Path, size: int) -> None:
    write_segment(partition, [batch(3 * n) for n in range(40)])
    found = rows(partition, "batches", max_partition_bytes=size, columns=["baseOffset"])
    assert [row["baseOffset"] for row in found] == list(range(0, 120, 3))


def test_every_yielded_batch_has_exactly_the_projected_schema(partition: Path) -> None:
    write_segment(partition, VECTORS)
    for column in BatchesTable.columns:
        reader = kafkalog_reader.open(str(partition)).table("batches", columns=[column.name])
        assert reader.schema == pa.schema([(column.name, column.type)])
        for found in reader:
            found.validate(full=True)
