"""The copies of each partition, and those of them that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.partition_copies import chosen_by_partition
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.copied_logs import copies, write_properties
from tests.tables.logs import batch, offsets, write_segment

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.directories import LogDirectory


def test_one_broker_can_be_requested(two_leaders: Path) -> None:
    assert offsets(two_leaders, replica="broker:1") == [0, 1, 2, 3, 4]
    with pytest.raises(OptionError, match="no broker:9: the given paths are of brokers 1, 2, 3"):
        offsets(two_leaders, replica="broker:9")


@pytest.mark.parametrize("replica", ["broker:x", "worst", "broker:"])
def test_another_word_for_a_replica_is_refused(two_leaders: Path, replica: str) -> None:
    with pytest.raises(UsageError, match="all, best, broker:N"):
        offsets(two_leaders, replica=replica)


def test_each_copy_of_a_partition_comes_with_the_chosen_ones(two_leaders: Path) -> None:
    evidence = discover([str(two_leaders)])
    replicas = copies(two_leaders)
    for asked, chosen in (("all", (0, 1, 2)), ("best", (1,)), ("broker:3", (2,))):
        request = ReadRequest(replica=asked)
        ((every, found, _),) = chosen_by_partition(evidence, request, Damage(Mode.FAILFAST))
        assert every == replicas
        assert [*found] == [replicas[number] for number in chosen]


@pytest.mark.parametrize("replica", ["best", "all", "broker:1"])
def test_folders_are_listed_after_what_must_be_older(two_leaders: Path, replica: str) -> None:
    log = two_leaders / "broker-1" / "t-0" / f"{0:020}.log"
    grown: list[str] = []

    class Growing(ExpectedEnds):
        def prepare(self, root: LogDirectory) -> None:
            super().prepare(root)
            if root.broker_id == 1 and not grown:
                grown.append(root.path)
                with log.open("ab") as file:
                    file.write(batch(5, 1, leader_epoch=9))  # now the best copy

    request = ReadRequest(replica=replica)
    for directory in chosen_replicas(discover([str(two_leaders)]), request, Growing()):
        if directory.log_directory.broker_id == 1:
            (segment,) = segments(directory)
            assert segment.log_size == log.stat().st_size
            break
    else:
        pytest.fail("the copy on broker 1 was not chosen")


@pytest.mark.parametrize(
    ("both", "alone", "replica", "said"),
    [
        (["a"], [], "best", "the rows of all are shown for a-0. Give"),
        (["a", "b"], [], "best", "the rows of all are shown for a-0 and 1 more partition. Give"),
        (["a", "b", "c"], [], "best", "all are shown for a-0 and 2 more partitions. Give"),
        (["b"], ["a"], "best", "the rows of all are shown for b-0. Give"),
        (["__cluster_metadata"], ["a"], "best", None),
        ([], ["a", "b"], "best", None),
        (["a"], [], "all", None),
    ],
)
def test_partitions_of_several_clusters_are_counted(
    both: list[str],
    alone: list[str],
    replica: str,
    said: str | None,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for broker, topics in enumerate(([*both, *alone], [*both, "z"])):
        for topic in topics:
            write_segment(tmp_path / f"{broker}" / f"{topic}-0", [batch(0, leader_epoch=0)])
        write_properties(tmp_path / f"{broker}", broker, f"cluster.id=cluster{broker}\n")
    request = ReadRequest(replica=replica)
    found = chosen_by_partition(discover([str(tmp_path)]), request, Damage(Mode.FAILFAST))
    assert len([*found]) == 2 * len(both) + len(alone) + 1
    if said is None:
        assert caplog.messages == []
        return
    (warning,) = caplog.messages
    assert said in warning
    assert "of several clusters (cluster0, cluster1)" in warning


@pytest.mark.parametrize("topics", [["a"], ["a", "b"]])
def test_the_copies_of_one_cluster_give_no_warning(
    topics: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for broker in (0, 1):
        for topic in topics:
            write_segment(tmp_path / f"{broker}" / f"{topic}-0", [batch(0, leader_epoch=0)])
        write_properties(tmp_path / f"{broker}", broker, "cluster.id=c\n")
    request = ReadRequest(replica="best")
    found = [*chosen_by_partition(discover([str(tmp_path)]), request, Damage(Mode.FAILFAST))]
    assert [len(chosen) for _, chosen, _ in found] == [1] * len(topics)
    assert caplog.messages == []
