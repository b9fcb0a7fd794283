"""A warning names what other copies hold and the chosen one lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.io.discovery import discover
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.best_replica import best_and_lacking, best_replica
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.lacking import warn_of_lacking
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.copied_logs import copies, write_properties, write_replica
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def test_a_fork_is_called_one(tmp_path: Path) -> None:
    write_replica(tmp_path, 0, [0, 0, 0], checkpoint="0\n1\n0 0\n")
    write_replica(tmp_path, 1, [0, 0, 1])
    write_replica(tmp_path, 2, [0, 1], checkpoint="0\n1\n0 0\n")
    first, fork, shorter = copies(tmp_path)
    _, (lacking,) = best_and_lacking([first, fork], Damage(Mode.FAILFAST))
    assert str(lacking) == "broker 0 holds 1 from offset 2 on (a fork: other records)"
    _, (lacking,) = best_and_lacking([first, shorter], Damage(Mode.FAILFAST))
    assert str(lacking) == "broker 0 holds 1 from offset 2 on"


def test_the_warning_names_the_cluster_if_there_are_several(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_replica(tmp_path, 1, [0, 0, 0])
    write_replica(tmp_path, 2, [0, 0, 1, 1])
    best_replica(copies(tmp_path), Damage(Mode.FAILFAST))
    best_replica(copies(tmp_path), Damage(Mode.FAILFAST))
    for message in caplog.messages:
        assert message.startswith("t-0: read from broker 2, which lacks offsets")
    assert len(caplog.messages) == 2
    caplog.clear()
    write_replica(tmp_path / "other", 3, [0])
    write_properties(tmp_path / "other" / "broker-3", 3, "cluster.id=d\n")
    evidence = discover([str(tmp_path), str(tmp_path / "other")])
    chosen = chosen_replicas(evidence, ReadRequest(replica="best"))
    assert [each.log_directory.broker_id for each in chosen] == [2, 3]
    assert caplog.messages[0].startswith("t-0 of cluster c: read from broker 2, which lacks")


def test_a_cluster_without_an_id_is_a_question_mark(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for broker, count in ((1, 3), (2, 2)):
        batches = [batch(n, 1, leader_epoch=broker * n) for n in range(count)]
        write_segment(tmp_path / f"broker-{broker}" / "t-0", batches)
    best_replica(copies(tmp_path), Damage(Mode.FAILFAST), with_cluster=True)
    assert caplog.messages[-1].startswith("t-0 of cluster ?: read from ")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, "t-0: read from"),
        ({"with_cluster": False}, "t-0: read from"),
        ({"with_cluster": True}, "t-0 of cluster c: read from"),
    ],
)
def test_a_warning_names_the_cluster_where_there_are_several(
    two_leaders: Path, caplog: pytest.LogCaptureFixture, options: dict[str, bool], named: str
) -> None:
    best, lacking = best_and_lacking(copies(two_leaders), Damage(Mode.FAILFAST))
    assert best is not None
    warn_of_lacking(best, lacking, **options)
    best_replica(copies(two_leaders), Damage(Mode.FAILFAST), **options)
    assert len(caplog.messages) == 2
    assert all(each.startswith(named) for each in caplog.messages)


def test_a_copy_that_lacks_nothing_gives_no_warning(
    two_leaders: Path, caplog: pytest.LogCaptureFixture
) -> None:
    warn_of_lacking(copies(two_leaders)[0], [])
    assert caplog.messages == []
