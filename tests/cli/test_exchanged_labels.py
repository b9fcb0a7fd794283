"""Paths given as ``N=PATH`` with each other's node ids: said once, and no file is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures.builder import cluster, log_directory, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.log_directory import exchanged_labels

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def three(tmp_path: Path) -> Path:
    cluster(tmp_path, {n: replica("a@0/e0 b@1/e0", high_watermark=2) for n in (1, 2, 3)})
    return tmp_path


def given(root: Path, labels: str) -> list[str]:
    """``213``: broker 1's path as 2, broker 2's as 1, broker 3's as 3."""
    return [f"{label}={root}/broker-{n}" for n, label in enumerate(labels, 1)]


@pytest.mark.parametrize(
    ("labels", "exchanged"),
    [
        ("123", ""),
        ("213", "12"),
        ("231", "123"),
        ("12", ""),
        ("124", ""),
        ("21", "12"),
        ("223", ""),
    ],
)
def test_labels_are_exchanged_where_each_is_the_node_id_of_another(
    three: Path, labels: str, exchanged: str
) -> None:
    found = exchanged_labels(discover(given(three, labels)).roots)
    assert "".join(sorted(str(root.broker_id) for root in found)) == exchanged


def test_disks_of_two_brokers_may_be_exchanged(tmp_path: Path) -> None:
    """Each broker has a second disk, and only those have the wrong label."""
    for number in (1, 2):
        cluster(tmp_path / "first", {number: replica("0-1/e0")})
        cluster(tmp_path / "second", {number: replica("0-1/e0", topic="u")})
    paths = [
        f"1={tmp_path}/first/broker-1", f"2={tmp_path}/first/broker-2",
        f"2={tmp_path}/second/broker-1", f"1={tmp_path}/second/broker-2",
    ]  # fmt: skip
    found = exchanged_labels(discover(paths).roots)
    assert [root.path for root in found] == [
        str(tmp_path / "second" / "broker-2"),
        str(tmp_path / "second" / "broker-1"),
    ]


def test_disks_that_are_exchanged_go_back_before_anything_else(tmp_path: Path, run: Run) -> None:
    """Each node refuses two disks of different nodes: MetaPropertiesEnsemble#verify, Kafka 4.4.

    Broker 3, which comes up, lacks committed records; they are not lost when the disks are back.
    """
    long, short = (replica(log, high_watermark=2) for log in ("0-3/e0", "0-1/e0"))
    for number, held in ((1, long), (2, long), (3, short)):
        log_directory(number, held).write(tmp_path / f"{number}a")
    for number in (1, 2):
        log_directory(number, replica("0-1/e0", topic="u")).write(tmp_path / f"{number}b")
    labels = {"1a": 1, "2b": 1, "2a": 2, "1b": 2, "3a": 3}
    paths = [f"{label}={tmp_path}/{disk}" for disk, label in labels.items()]
    answer = run("verify", *paths)
    words = " ".join(answer.out.split())
    assert answer.status == 1
    assert "exchange the disks or their mounts" in words
    assert f"1={tmp_path}/2b has node id 2, 2={tmp_path}/1b has node id 1" in words
    for wrong in ("restore meta.properties", "leave out what", "move one of the two", "KL-903"):
        assert wrong not in words
    assert "NO PLAN" in run("plan", *paths).out


@pytest.mark.parametrize("is_exchanged", [True, False])
def test_no_controller_starts_with_the_disk_of_another_node(
    tmp_path: Path, run: Run, is_exchanged: bool
) -> None:
    node = PartitionState(replicas=(1, 2), in_sync=(1, 2), leader=1, leader_epoch=0)
    for number in (1, 2):
        held = [metadata_log([node]), replica("0-1/e0", high_watermark=2)]
        log_directory(number, held).write(tmp_path / f"{number}a")
        log_directory(number, replica("0-1/e0", topic="u")).write(tmp_path / f"{number}b")
    disks = {"1a": 1, "1b": 2, "2a": 2, "2b": 1} if is_exchanged else {"1a": 1, "1b": 1, "2a": 2}
    answer = run("quorum", *(f"{label}={tmp_path}/{disk}" for disk, label in disks.items()))
    words = " ".join(answer.out.split())
    assert ("Before any node starts, exchange the disks or their mounts" in words) is is_exchanged
    assert (f"2={tmp_path}/1b is of node 1" in words) is is_exchanged


@pytest.mark.parametrize("command", ["verify", "plan", "ls", "records", "recoveries", "salvage"])
def test_each_command_says_so_in_one_warning(
    command: str, three: Path, run: Run, tmp_path: Path
) -> None:
    words = ["table", command] if command == "recoveries" else [command]
    more = ["--output", tmp_path / "out"] if command == "salvage" else []
    answer = run(*words, *given(three, "213"), *more)
    assert answer.err.count("labels of the paths are exchanged") == 1
    assert "was given as broker" not in answer.err


def test_no_file_is_to_be_written(three: Path, run: Run) -> None:
    answer = run("verify", *given(three, "213"))
    assert answer.out.startswith("not safe to start in any order: 1 medium")
    assert answer.out.count("KL-312") == 2  # and `kafkalog explain KL-312`
    assert "restore meta.properties" not in answer.out
    assert "name the broker of each path as N=PATH" in " ".join(answer.out.split())
    assert answer.status == 1


def test_a_plan_begins_with_what_may_be_exchanged(three: Path, run: Run) -> None:
    """Seen on 3.9.1: a broker whose broker.id is not that of meta.properties does not start."""
    paths = given(three, "213")
    planned, script = run("plan", *paths), run("plan", *paths, "--format", "script")
    first = f"The labels of the paths are exchanged: according to meta.properties, 1={three}"
    for out in (" ".join(planned.out.split()), script.out):
        assert first in out
        assert "exchange them or their mounts first" in out
        assert "If only labels or folders are wrong: nothing to do" in out
    assert planned.status == script.status == 1
    structured = run("plan", *paths, "--format", "json")
    assert json.loads(structured.out)["nothingToDo"] is False
    assert run("plan", *given(three, "123")).status == 0


def test_one_wrong_label_alone_is_still_a_contradiction(three: Path, run: Run) -> None:
    answer = run("verify", *given(three, "124"))
    assert "has node id 3, but the path was given as broker 4" in " ".join(answer.out.split())
    assert answer.status == 1


def test_printed_commands_have_the_node_ids(tmp_path: Path) -> None:
    held = ["a@0/e0 b@1/e0", "a@0/e0 b@1/e0", "a@0/e0 X@1/e0 c@2/e0"]
    cluster(tmp_path, {n: replica(log, high_watermark=2) for n, log in enumerate(held, 1)})
    paths = [f"3={tmp_path}/broker-1", f"2={tmp_path}/broker-2", f"1={tmp_path}/broker-3"]
    out = CliRunner().invoke(replica_diff, paths, standalone_mode=False).output
    assert f"kafkalog salvage 3={tmp_path}/broker-3 " in " ".join(out.split())


def test_a_disk_of_another_node_goes_back_to_it(tmp_path: Path, run: Run) -> None:
    """With its node.id changed, node 1 would set the replicas of node 2 aside."""
    for disk, node in (("data1", 1), ("data2", 2)):
        log_directory(node, replica("a@0/e0", topic=disk, high_watermark=1)).write(tmp_path / disk)
    answer = run("verify", f"1={tmp_path}/data1", f"1={tmp_path}/data2")
    words = " ".join(answer.out.split())
    assert answer.status == 1
    assert "give each log directory back to the node that its meta.properties names" in words
    assert "restore meta.properties" not in words
