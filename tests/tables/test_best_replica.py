"""The best of several copies of a partition is read, and a warning names what it lacks."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import OptionError, UsageError
from tests.tables.logs import batch, offsets, rows, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def write_replica(
    root: Path, broker: int, epochs: list[int], *, checkpoint: str | None = None
) -> None:
    """Write one record per batch; ``epochs`` are the leader epochs."""
    directory = root / f"broker-{broker}"
    batches = [batch(n, 1, leader_epoch=epoch) for n, epoch in enumerate(epochs)]
    write_segment(directory / "t-0", batches)
    (directory / "meta.properties").write_text(f"version=1\nnode.id={broker}\ncluster.id=c\n")
    if checkpoint is not None:
        (directory / "t-0" / "leader-epoch-checkpoint").write_text(checkpoint)


@pytest.fixture
def two_leaders(tmp_path: Path) -> Path:
    """S3.2 of real-brokers.md: broker 1 was isolated while it led, brokers 2 and 3 continued."""
    write_replica(tmp_path, 1, [0, 0, 0, 0, 0], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 2, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    write_replica(tmp_path, 3, [0, 0, 1, 1], checkpoint="0\n2\n0 0\n1 2\n")
    return tmp_path


def test_the_greatest_leader_epoch_wins_over_the_longest_log(
    two_leaders: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = rows(two_leaders, columns=["brokerId", "offset", "leaderEpoch"], replica="best")
    assert [(row["offset"], row["leaderEpoch"]) for row in found] == [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 1),
    ]
    assert {row["brokerId"] for row in found} == {2}
    (warning,) = caplog.messages
    assert "broker 1 holds 3 from offset 2 on" in warning
    assert "t-0: read from broker 2" in warning


def test_without_checkpoints_the_batches_tell_where_copies_part(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 1, [0, 0, 0, 0, 0])
    write_replica(tmp_path, 2, [0, 0, 1, 1])
    with caplog.at_level(logging.WARNING):
        assert offsets(tmp_path, replica="best") == [0, 1, 2, 3]
    assert "broker 1 holds 3 from offset 2 on" in caplog.text


def test_a_lagging_copy_is_not_a_reason_for_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 1, [0, 0, 0])
    write_replica(tmp_path, 2, [0, 0, 0, 0, 1])
    with caplog.at_level(logging.WARNING):
        assert offsets(tmp_path, replica="best") == [0, 1, 2, 3, 4]
    assert caplog.messages == []


def test_of_equal_copies_the_first_is_read_once(tmp_path: Path) -> None:
    write_replica(tmp_path, 1, [0, 0])
    write_replica(tmp_path, 2, [0, 0])
    assert offsets(tmp_path, replica="best") == [0, 1]
    assert offsets(tmp_path) == [0, 1, 0, 1]


def test_one_broker_can_be_requested(two_leaders: Path) -> None:
    assert offsets(two_leaders, replica="broker:1") == [0, 1, 2, 3, 4]
    with pytest.raises(OptionError, match="replica: broker:9: brokers in the given paths: 1, 2, 3"):
        offsets(two_leaders, replica="broker:9")


@pytest.mark.parametrize("replica", ["broker:x", "worst", "broker:"])
def test_another_word_for_a_replica_is_refused(two_leaders: Path, replica: str) -> None:
    with pytest.raises(UsageError, match="all, best, broker:N"):
        offsets(two_leaders, replica=replica)
