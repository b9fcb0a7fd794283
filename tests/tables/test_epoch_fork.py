"""Where the leader epochs of two copies part."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.best_replica import best_and_lacking, best_replica
from tests.tables.copied_logs import copies, write_replica
from tests.tables.logs import batch, offsets, rows, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def test_an_old_epoch_checkpoint_makes_no_fork(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The copies are equal as far as both reach; one checkpoint is from before an election."""
    write_replica(tmp_path, 1, [0, 0, 1, 1, 1], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    best, lacking = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert best is not None
    assert best.log_directory.broker_id == 1
    assert not lacking
    with caplog.at_level(logging.WARNING):
        assert len(rows(tmp_path, replica="best")) == 5
    assert not caplog.messages


def test_a_fork_after_an_old_epoch_checkpoint_is_found(tmp_path: Path) -> None:
    """By the checkpoint the copies part at offset 2, by the batches at offset 3."""
    write_replica(tmp_path, 1, [0, 0, 1, 2, 2], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    _, (lacking,) = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert (lacking.first_offset, lacking.next_offset, lacking.is_fork) == (3, 4, True)


def test_an_old_epoch_checkpoint_is_checked_in_the_segment_of_the_fork(tmp_path: Path) -> None:
    write_replica(tmp_path, 1, [0, 0], checkpoint="0\n1\n0 0\n")
    later = [batch(n, 1, leader_epoch=1) for n in (2, 3, 4)]
    write_segment(tmp_path / "broker-1" / "t-0", later, base_offset=2)
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    best, lacking = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert best is not None
    assert best.log_directory.broker_id == 1
    assert not lacking


def test_without_checkpoints_the_batches_tell_where_copies_part(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 1, [0, 0, 0, 0, 0])
    write_replica(tmp_path, 2, [0, 0, 1, 1])
    with caplog.at_level(logging.WARNING):
        assert offsets(tmp_path, replica="best") == [0, 1, 2, 3]
    assert "broker 1 holds 3 from offset 2 on" in caplog.text


@pytest.mark.parametrize(
    ("other", "best", "lacks"),
    [
        pytest.param(([0, 0, 0], None), ([0, 0, 1], None), (2, 3, True), id="fork"),
        pytest.param(([0, 0, 0], "0:0"), ([0, 1], "0:0"), (2, 3, False), id="ends_before_a_fork"),
        pytest.param(([0, 0], "0:0 1:2"), ([0, 0, 1], None), None, id="epoch_of_the_end"),
        pytest.param(([0, 0], None), ([0, 0, 0], None), None, id="behind"),
        pytest.param(([0, 1, 1, 1], None), ([0, 2, 2], None), (1, 4, True), id="from_one_on"),
        pytest.param(([1, 1, 1], None), ([2, 2], None), (0, 3, True), id="from_the_start"),
        pytest.param(([0, 0, 0, 1], "1:3"), ([0, 0, 2], None), (3, 4, False), id="unknown_below"),
        pytest.param(([0, 0, 1, 1], "1:2"), ([0, 0, 2], None), (2, 4, True), id="known_from_2"),
        pytest.param(([0, 0, 1, 1], "0:0 1:2"), ([0, 3, 3], "0:0 3:1"), (1, 4, True), id="earlier"),
    ],
)  # fmt: skip
def test_what_the_best_lacks_begins_where_leader_epochs_part(
    tmp_path: Path,
    other: tuple[list[int], str | None],
    best: tuple[list[int], str | None],
    lacks: tuple[int, int, bool] | None,
) -> None:
    """Copies are ``([leader epoch of each record], "epoch:start ..." of the checkpoint)``."""
    for broker, (epochs, entries) in enumerate((other, best)):
        lines = [] if entries is None else [each.replace(":", " ") for each in entries.split()]
        text = "\n".join(["0", str(len(lines)), *lines, ""])
        write_replica(tmp_path, broker, epochs, checkpoint=None if entries is None else text)
    chosen, lacking = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert chosen is not None
    assert chosen.log_directory.broker_id == 1
    found = [(each.first_offset, each.next_offset, each.is_fork) for each in lacking]
    assert found == ([] if lacks is None else [lacks])
    assert all(each.replica.log_directory.broker_id == 0 for each in lacking)
    assert best_replica(copies(tmp_path), Damage(Mode.FAILFAST)) == chosen


def test_epochs_of_batches_are_read_from_every_segment(tmp_path: Path) -> None:
    write_replica(tmp_path, 0, [0, 0, 0, 0])
    write_replica(tmp_path, 1, [0, 0])
    write_segment(tmp_path / "broker-1" / "t-0", [batch(2, 1, leader_epoch=2)], base_offset=2)
    (tmp_path / "broker-1" / "t-0" / f"{1:020}.index").write_bytes(b"")  # left without its log
    _, (lacking,) = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert (lacking.first_offset, lacking.next_offset) == (2, 4)


def test_a_checkpoint_that_cannot_be_parsed_is_named_and_batches_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 0, [0, 0, 0], checkpoint="0\nx\n")
    write_replica(tmp_path, 1, [0, 1])
    _, (lacking,) = best_and_lacking(copies(tmp_path), Damage(Mode.FAILFAST))
    assert (lacking.first_offset, lacking.next_offset) == (1, 3)
    assert "leader epochs are taken from the batches" in caplog.text
