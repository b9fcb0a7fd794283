"""A log directory of which somebody copied only what was of interest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.integrity.partial_copy import (
    folders_of_siblings,
    is_part_of_log_directory,
    is_partial_copy,
    named_partitions,
)
from kafkalog_reader.io.directories import LogDirectory

if TYPE_CHECKING:
    from pathlib import Path

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"


def checkpoint(root: Path, name: str, *topics: str) -> None:
    rows = "".join(f"{topic} 0 5\n" for topic in topics)
    root.mkdir(exist_ok=True)
    (root / name).write_text(f"0\n{len(topics)}\n{rows}")


@pytest.mark.parametrize(
    ("named", "present", "is_partial"),
    [
        pytest.param(3, 0, False, id="all lost with the disk"),
        pytest.param(3, 1, True, id="two of three missing"),
        pytest.param(2, 1, False, id="one of two missing"),
        pytest.param(4, 2, False, id="as many as are there"),
        pytest.param(5, 2, True, id="more than are there"),
        pytest.param(3, 3, False, id="complete"),
        pytest.param(0, 0, False, id="nothing named"),
    ],
)
def test_some_folders_are_there_and_more_are_missing(
    named: int, present: int, is_partial: bool
) -> None:
    rows = [("t", number) for number in range(named)]
    folders = [*rows[:present], ("not named", 0)]
    assert is_partial_copy(rows, folders) is is_partial


def test_only_what_both_checkpoints_name_is_expected(tmp_path: Path) -> None:
    checkpoint(tmp_path, HIGH_WATERMARKS, "a", "b", "__cluster_metadata")
    checkpoint(tmp_path, RECOVERY_POINTS, "b", "c", "__cluster_metadata")
    root = LogDirectory(path=str(tmp_path))
    assert named_partitions(root) == {("b", 0)}
    (tmp_path / HIGH_WATERMARKS).write_text("not a checkpoint")
    assert named_partitions(root) == frozenset()


def test_folders_on_the_brokers_other_disks_are_not_missing(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for name in (HIGH_WATERMARKS, RECOVERY_POINTS):
        checkpoint(one, name, "a", "b", "c")
    (one / "a-0").mkdir()
    alone = LogDirectory(path=str(one))
    assert is_part_of_log_directory(alone)
    (two / "b-0").mkdir(parents=True)
    both = LogDirectory(path=str(one), siblings=(str(two),))
    assert folders_of_siblings(both) == {("b", 0)}
    assert not is_part_of_log_directory(both)


def test_a_future_replica_on_another_disk_is_not_the_replica(tmp_path: Path) -> None:
    (tmp_path / f"b-0.{32 * 'a'}-future").mkdir()
    root = LogDirectory(path="/nowhere", siblings=(str(tmp_path), "/nowhere/either"))
    assert folders_of_siblings(root) == set()
