"""A replica was away while its topic was deleted and made again: what brokers did, and what we say.

Captures ``recreated`` (4.4.0, with topic ids) and ``recreated_0.11.0.3`` (without).
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import kafkalog_reader
from fixtures import captures, truth
from fixtures.builder.log_directory import log_directory
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command

if TYPE_CHECKING:
    from pathlib import Path

    import click

WITH_IDS, WITHOUT = "recreated", "recreated_0.11.0.3"
STATES = ("a-away", "b-returned", "c-leads")
TOPIC = ("--topic", "t")


def answer(command: click.Command, state: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(
        command, [str(captures.path(state)), *TOPIC, "--format", "json"], standalone_mode=False
    )
    assert result.exception is None, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def rows_of(state: str, table: str) -> list[dict[str, Any]]:
    scan = kafkalog_reader.open(str(captures.path(state))).table(table, topic="t")
    rows: list[dict[str, Any]] = scan.to_arrow().to_pylist()
    return rows


def consumed(state: str) -> list[str]:
    """The values that consumers got from the broker that led."""
    scenario, _, name = state.partition("/")
    records = truth.load(captures.path(scenario)).captures[name].records()
    return [(each.value or b"").decode() for each in records if each.topic == "t"]


def test_records_of_a_deleted_topic_come_back_only_without_topic_ids() -> None:
    assert [consumed(f"{WITH_IDS}/{name}") for name in STATES] == [
        ["x", "y"], ["x", "y", "z"], ["x", "y", "z", "w"],
    ]  # fmt: skip
    assert [consumed(f"{WITHOUT}/{name}") for name in STATES] == [
        ["x", "y"], ["x", "y", "z"], ["a", "b", "z", "w"],
    ]  # fmt: skip


def test_the_next_start_sets_the_old_replica_aside_if_there_are_topic_ids() -> None:
    outcomes = {
        row["brokerId"]: row["outcome"] for row in rows_of(f"{WITH_IDS}/a-away", "recoveries")
    }
    assert outcomes[1] == "stray"
    disk = captures.path(f"{WITH_IDS}/b-returned") / "broker-1"
    (stray,) = disk.glob("t-0.*-stray")
    kept = (captures.path(f"{WITH_IDS}/a-away") / "broker-1" / "t-0").glob("*.log")
    assert {each.name: each.read_bytes() for each in stray.glob("*.log")} == {
        each.name: each.read_bytes() for each in kept
    }


def test_the_topic_that_exists_is_compared_without_a_copy_of_the_deleted_one() -> None:
    """Real broker 1 then set its copy aside and fetched the records of broker 0: b-returned."""
    state = f"{WITH_IDS}/a-away"
    (partition,) = answer(replica_diff, state)
    assert [each["brokerId"] for each in partition["replicas"]] == [0]
    for found in (partition["findings"], answer(verify_command, state)):
        severities = {each["code"]: each["severity"] for each in found}
        assert severities["KL-009"] == "M"
        assert {*severities.values()}.isdisjoint("CH")
    plan = CliRunner().invoke(
        kafkalog, ["plan", str(captures.path(state)), *TOPIC, "--format", "json"]
    )
    document = json.loads(plan.stdout)
    assert (document["unanswered"], document["lost"]["lostRecords"]) == ([], 0)


def test_the_moved_copy_of_the_deleted_topic_is_not_missed(tmp_path: Path) -> None:
    """It reaches further than the topic that exists; the plan is made again after the move."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path(f"{WITH_IDS}/a-away"), root)
    aside = root / "aside" / "broker-1"
    aside.mkdir(parents=True)
    (root / "broker-1" / "t-0").rename(aside / "t-0")
    verified = CliRunner().invoke(verify_command, [str(root), *TOPIC, "--format", "json"])
    rows = map(json.loads, verified.stdout.splitlines())
    assert ("KL-310", "H") not in [(row["code"], row["severity"]) for row in rows]
    planned = CliRunner().invoke(kafkalog, ["plan", str(root), *TOPIC]).stdout
    assert "KL-310" not in planned


def test_a_metadata_log_older_than_the_copies_names_no_deleted_topic(tmp_path: Path) -> None:
    """It names the topic of broker 1, whose records are older than those of broker 0."""
    root = stopped(tmp_path / "brokers")
    topic_id = (root / "broker-1" / "t-0" / "partition.metadata").read_text().split()[-1]
    state = PartitionState(
        replicas=(0, 1), in_sync=(0, 1), leader=1, leader_epoch=0, topic_id=topic_id
    )
    meta = (root / "broker-0" / "meta.properties").read_text().splitlines()
    (cluster_id,) = (line.partition("=")[2] for line in meta if line.startswith("cluster.id="))
    log_directory(3000, metadata_log([state]), cluster_id=cluster_id).write(
        root / "controller-3000"
    )
    (partition,) = (
        json.loads(line)
        for line in CliRunner()
        .invoke(replica_diff, [str(root), *TOPIC, "--format", "json"])
        .stdout.splitlines()
    )
    assert partition["verdict"] == "undecidable"


def stopped(root: Path, *, zookeeper: bool = False) -> Path:
    """The brokers of a-away without the metadata log, in a copy whose folders can be moved."""
    shutil.copytree(captures.path(f"{WITH_IDS}/a-away"), root)
    for broker in root.glob("broker-*"):
        shutil.rmtree(broker / "__cluster_metadata-0")
        if zookeeper:
            meta = (broker / "meta.properties").read_text()
            meta = meta.replace("version=1", "version=0").replace("node.id=", "broker.id=")
            (broker / "meta.properties").write_text(meta)
    for other in root.glob("controller-*"):
        shutil.rmtree(other)
    return root


def test_the_copy_of_the_deleted_topic_is_moved_aside_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consumers got x and y from broker 0; without the metadata log the times of records tell."""
    root = stopped(tmp_path / "brokers")
    monkeypatch.chdir(tmp_path)
    asked = ["plan", str(root), *TOPIC, "--format", "json"]
    before = json.loads(CliRunner().invoke(kafkalog, asked).stdout)
    (unanswered,) = before["unanswered"]
    assert unanswered["partition"] == "t-0"
    for broker in ("broker-0", "broker-1"):
        topic_id = (root / broker / "t-0" / "partition.metadata").read_text().split()[-1]
        assert f"{topic_id} on broker {broker[-1]}" in unanswered["reason"]
    for command in unanswered["commands"]:
        words = shlex.split(command)
        if words[0] == "kafkalog":
            assert CliRunner().invoke(kafkalog, words[1:], standalone_mode=False).exception is None
        else:
            subprocess.run(words, check=True)
    assert (root / "aside" / "broker-1" / "t-0").is_dir()
    after = json.loads(CliRunner().invoke(kafkalog, asked).stdout)
    assert after["unanswered"] == []
    assert [(each["topic"], each["leader"]) for each in after["partitions"]] == [("t", 0)]
    text = " ".join(CliRunner().invoke(replica_diff, [str(root), *TOPIC]).stdout.split())
    assert "leave out what does not belong" not in text


def test_zookeeper_is_asked_which_topic_exists(tmp_path: Path) -> None:
    root = stopped(tmp_path / "brokers", zookeeper=True)
    text = " ".join(CliRunner().invoke(kafkalog, ["plan", str(root), *TOPIC]).stdout.split())
    assert "zookeeper-shell.sh ZOOKEEPER:2181 get /brokers/topics/t shows the topic_id" in text
    assert "the topic of broker 1 has older records: probably deleted" in text


def test_a_topic_without_records_may_be_the_one_that_exists(tmp_path: Path) -> None:
    root = stopped(tmp_path / "brokers")
    for log in (root / "broker-0" / "t-0").glob("*.log"):
        log.write_bytes(b"")
    document = json.loads(
        CliRunner().invoke(kafkalog, ["plan", str(root), *TOPIC, "--format", "json"]).stdout
    )
    (unanswered,) = document["unanswered"]
    assert unanswered["commands"] == []
    assert "probably deleted" not in unanswered["reason"]


@pytest.mark.parametrize("name", STATES)
def test_records_are_those_of_the_topic_that_exists(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    state = f"{WITH_IDS}/{name}"
    read = kafkalog_reader.open(str(captures.path(state))).records(topic="t").to_arrow()
    assert [value.decode() for value in read["value"].to_pylist()] == consumed(state)
    warnings = [each.getMessage() for each in caplog.records]
    warning = "t-0: not read from broker 1: a copy of a deleted topic of this name"
    assert (warning in warnings) == (name == "a-away")


def test_which_topic_exists_is_unknown_without_the_metadata_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for broker in ("broker-0", "broker-1"):
        shutil.copytree(captures.path(f"{WITH_IDS}/a-away") / broker, tmp_path / broker)
        shutil.rmtree(tmp_path / broker / "__cluster_metadata-0")
    read = kafkalog_reader.open(str(tmp_path)).records(topic="t").to_arrow()
    assert read.num_rows == 4  # the longer log, with a warning
    (warning,) = [each.getMessage() for each in caplog.records if "unknown" in each.getMessage()]
    assert warning.startswith(
        "t-0: copies of different topics of this name; which of them exists is unknown: "
        "broker 0 has topic id "
    )


@pytest.mark.parametrize("name", ["b-returned", "c-leads"])
def test_with_topic_ids_the_replica_that_came_back_is_sound(name: str) -> None:
    found = answer(verify_command, f"{WITH_IDS}/{name}")
    assert {each["severity"] for each in found} <= {"I", "L", "M"}
    assert {each["code"] for each in found}.isdisjoint({"KL-009", "KL-503", "KL-505"})


def test_without_topic_ids_the_old_replica_is_cut_to_the_new_end_and_stays_different() -> None:
    """The broker then truncated to the offset that its log and the capture name."""
    (row,) = (
        row
        for row in rows_of(f"{WITHOUT}/a-away", "elections")
        if (row["candidateBrokerId"], row["followerBrokerId"]) == (0, 1)
    )
    expected = json.loads((captures.path(WITHOUT) / "expected.json").read_text())["captures"]
    assert row["truncationOffset"] == expected["b-returned"]["truncations"]["1"]
    values = {
        broker: [each["value"] for each in replica["records"]]
        for broker, replica in expected["b-returned"]["replicas"].items()
    }
    (different, *_) = (at for at in range(3) if values["0"][at] != values["1"][at])
    assert row["silentDivergenceOffset"] == different


@pytest.mark.parametrize("name", STATES)
def test_without_topic_ids_both_commands_report_the_difference(name: str) -> None:
    """It looks like a topic that was made again, which only topic ids would rule out: T23."""
    state = f"{WITHOUT}/{name}"
    (partition,) = answer(replica_diff, state)
    for found in (partition["findings"], answer(verify_command, state)):
        (conflict,) = (each for each in found if each["code"] == "KL-505")
        assert (conflict["firstOffset"], conflict["nextOffset"]) == (0, 2)
        assert "T23" in conflict["lookalikes"]
    assert all(
        follower["silentDivergence"] == 0
        for election in partition["elections"]
        for follower in election["followers"]
    )
