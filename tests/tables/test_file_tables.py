"""The tables of small files: leader epochs, producers, checkpoints."""

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


def intervals(rows: list[dict[str, Any]], source: str) -> list[tuple[int, int, int]]:
    return [
        (row["leaderEpoch"], row["startOffset"], row["nextOffset"])
        for row in rows
        if row["source"] == source
    ]


def test_leader_epochs_come_from_the_checkpoint_and_from_the_batches(
    small_partition: Path, rows_of: Rows
) -> None:
    rows = rows_of("leader_epochs", small_partition)
    assert intervals(rows, "checkpoint") == [(0, 0, 10), (2, 10, 17), (5, 17, 23)]
    assert intervals(rows, "batches") == [(0, 0, 10), (2, 10, 17), (5, 17, 23)]


def test_every_change_of_the_epoch_in_the_batches_is_an_interval(
    tmp_path: Path, rows_of: Rows
) -> None:
    cluster(tmp_path, {1: replica("a@0/e3 b@1/e2 c@2/e2 d@5/e3", segment_bytes=1)})
    assert intervals(rows_of("leader_epochs", tmp_path), "batches") == [
        (3, 0, 1), (2, 1, 5), (3, 5, 6),
    ]  # fmt: skip


def test_checkpoint_entry_behind_the_log_end_covers_nothing(tmp_path: Path, rows_of: Rows) -> None:
    cluster(tmp_path, {1: replica("a@0/e0", epochs="0:0 4:9")})
    assert intervals(rows_of("leader_epochs", tmp_path), "checkpoint") == [(0, 0, 9), (4, 9, 9)]


def test_replica_without_checkpoint_has_the_epochs_of_its_batches(
    tmp_path: Path, rows_of: Rows
) -> None:
    cluster(tmp_path, {1: replica("a@0/e0", files={"leader-epoch-checkpoint": None})})
    rows = rows_of("leader_epochs", tmp_path)
    assert [(row["source"], row["leaderEpoch"]) for row in rows] == [("batches", 0)]


def test_damaged_epoch_checkpoint_is_an_error_or_left_out(tmp_path: Path, rows_of: Rows) -> None:
    cluster(tmp_path, {1: replica("a@0/e0", files={"leader-epoch-checkpoint": b"0\n2\n0 0\n"})})
    with pytest.raises(CorruptCheckpointError, match="announces 2 entries, found 1"):
        rows_of("leader_epochs", tmp_path)
    rows = rows_of("leader_epochs", tmp_path, mode="PERMISSIVE")
    assert [row["source"] for row in rows] == ["batches"]


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
    """The snapshot of kafka-on-disk-format.md, section 14.9."""
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


def test_checkpoints_are_the_rows_of_the_four_files(tmp_path: Path, rows_of: Rows) -> None:
    described = [
        replica("a@5/e0 b@6/e0", high_watermark=6, recovery_point=5, log_start=6, cleaner_offset=5),
        replica("", topic="u", high_watermark=0),
    ]
    root = cluster(tmp_path, {7: described})[7]
    rows = rows_of("checkpoints", root)
    assert [(r["checkpoint"], r["topic"], r["partition"], r["offset"]) for r in rows] == [
        ("cleaner-offset-checkpoint", "t", 0, 5),
        ("log-start-offset-checkpoint", "t", 0, 6),
        ("recovery-point-offset-checkpoint", "t", 0, 5),
        ("recovery-point-offset-checkpoint", "u", 0, 0),
        ("replication-offset-checkpoint", "t", 0, 6),
        ("replication-offset-checkpoint", "u", 0, 0),
    ]
    assert {(row["brokerId"], row["logDirectory"]) for row in rows} == {(7, str(root))}
    assert {row["topic"] for row in rows_of("checkpoints", root, topic="u")} == {"u"}
    assert {row["topic"] for row in rows_of("checkpoints", root / "u-0")} == {"u"}


def test_damaged_checkpoint_is_an_error_or_left_out(tmp_path: Path, rows_of: Rows) -> None:
    root = cluster(tmp_path, {1: replica("a@0/e0", high_watermark=1)})[1]
    path = root / "replication-offset-checkpoint"
    path.write_text("0\n1\nt 0 x\n")
    with pytest.raises(CorruptCheckpointError) as caught:
        rows_of("checkpoints", root)
    assert (caught.value.where.file, caught.value.where.position) == (str(path), 4)
    rows = rows_of("checkpoints", root, mode="PERMISSIVE")
    assert [row["checkpoint"] for row in rows] == ["recovery-point-offset-checkpoint"]
