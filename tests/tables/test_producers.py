"""The table ``producers``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import CorruptCheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]


def test_producers_are_those_that_kafka_wrote(small_partition: Path, rows_of: Rows) -> None:
    rows = rows_of("producers", small_partition)
    assert [row["snapshotOffset"] for row in rows] == [13, 23]
    names = list(rows[0])[list(rows[0]).index("producerId") :]
    assert {name: rows[0][name] for name in names} == {
        "producerId": 1000,
        "producerEpoch": 0,
        "lastSequence": 5,
        "lastOffset": 11,
        "offsetDelta": 1,
        "timestamp": datetime(2023, 11, 14, 22, 13, 20, 6000, tzinfo=UTC),
        "coordinatorEpoch": 3,
        "currentTransactionFirstOffset": None,
    }


def test_open_transaction_of_a_producer_has_its_first_offset(tmp_path: Path, rows_of: Rows) -> None:
    """It is the snapshot of kafka-on-disk-format.md, section 14.9."""
    snapshot = bytes.fromhex(
        "000142fc9ce00000000100000000000003e800030000000400000000000000090000000200"
        "00018bcfe56800000000050000000000000007"
    )
    cluster(tmp_path, {1: replica("a@9/e0", files={f"{10:020d}.snapshot": snapshot})})
    (row,) = rows_of("producers", tmp_path)
    assert (row["producerEpoch"], row["lastSequence"], row["offsetDelta"]) == (3, 4, 2)
    assert (row["coordinatorEpoch"], row["currentTransactionFirstOffset"]) == (5, 7)


def test_damaged_snapshot_is_an_error_or_left_out(
    small_partition: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    path = small_partition / f"{13:020d}.snapshot"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorruptCheckpointError, match="CRC-32C stored"):
        rows_of("producers", small_partition)
    rows = rows_of("producers", small_partition, mode="PERMISSIVE")
    assert [row["snapshotOffset"] for row in rows] == [23]
    assert str(path) in caplog.text
