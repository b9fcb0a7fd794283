"""The table ``leader_epochs``."""

from __future__ import annotations

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


def test_checkpoint_entry_after_the_log_end_covers_nothing(tmp_path: Path, rows_of: Rows) -> None:
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
