"""A disk of a broker is lost, and with it the only copy of a partition: every command says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.synthetic.lost_disk import Y, lose_disk, two_disks
from kafkalog_reader.io.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

STORAGE = "kafka-storage.sh format --ignore-formatted --cluster-id {} --config SERVER_PROPERTIES"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return two_disks(tmp_path / "state")


def test_verify_and_plan_name_a_partition_that_only_the_lost_disk_had(
    state: Path, run: Run
) -> None:
    lose_disk(state)
    for command in ("verify", "plan"):
        answer = run(command, state, "--topic", "t", "--partition", "0")
        assert answer.status == 1
        assert "KL-310" in answer.out
        assert "its only replica is on broker 0" in " ".join(answer.out.split())


@pytest.mark.parametrize("command", ["ls", "records"])
def test_other_commands_say_where_such_a_partition_is(state: Path, run: Run, command: str) -> None:
    answer = run(command, lose_disk(state), "--topic", "t", "--partition", "0")
    assert answer.status == 2
    assert "according to the metadata log t-0 is on broker 0, and no copy of it" in answer.err


def test_ls_says_what_has_no_line(state: Path, run: Run) -> None:
    assert "No copy" not in run("ls", state).out
    text = " ".join(run("ls", lose_disk(state)).out.split())
    assert "No copy of t-0 was supplied, which the metadata log has on broker 0;" in text


def test_the_plan_restores_the_directory_before_any_start(state: Path, run: Run) -> None:
    document = json.loads(run("plan", lose_disk(state), "--format", "json").out)
    kinds = [step["kind"] for step in document["steps"]]
    step = document["steps"][kinds.index("restoreLogDirectory")]
    assert kinds.index("restoreLogDirectory") < kinds.index("startBrokers")
    assert step["brokers"] == [0]
    assert step["commands"][1:] == [STORAGE.format(discover([str(state)]).roots[0].cluster_id)]
    assert document["lostAlready"] == [
        {
            "topic": "t", "partition": 0, "firstOffset": 0, "nextOffset": None,
            "isCommitted": False, "mayBeElsewhere": False,
        }
    ]  # fmt: skip


def test_the_plan_holds_only_if_the_disk_is_lost(state: Path, run: Run) -> None:
    text = " ".join(run("plan", lose_disk(state)).out.split())
    assert text.startswith(
        f"According to the metadata log 2 partitions are in log directory {Y} of broker 0, which "
        "was not supplied. If it exists, supply what is missing and make this plan again. Only if "
        "it is lost: "
    )


def test_a_salvage_of_the_rest_is_not_complete(state: Path, run: Run, tmp_path: Path) -> None:
    whole = run("salvage", state, "--topic", "t", "--output", tmp_path / "whole")
    assert whole.status == 0
    answer = run("salvage", lose_disk(state), "--topic", "t", "--output", tmp_path / "rest")
    assert answer.status == 1
    assert "not here: no copy of t-0 was supplied" in answer.out
    manifest = json.loads((tmp_path / "rest" / "manifest.json").read_text())
    assert manifest["isComplete"] is False
    assert manifest["partitionsWithoutCopy"] == [{"topic": "t", "partition": 0, "brokers": [0]}]


def test_a_controller_does_not_start_without_it(state: Path, run: Run) -> None:
    quorum_state = json.dumps(
        {"clusterId": "", "leaderId": 0, "leaderEpoch": 1, "votedId": -1, "appliedOffset": 0,
         "currentVoters": [{"voterId": 0}, {"voterId": 1}], "data_version": 0}
    )  # fmt: skip
    for disk in ("0x", "1z"):
        (state / disk / "__cluster_metadata-0" / "quorum-state").write_text(quorum_state)
    assert run("quorum", state).status == 0
    answer = run("quorum", lose_disk(state))
    assert answer.status == 1
    text = " ".join(answer.out.split())
    assert "can start, node 0 only with the log directory that is missing there" in text
    assert f"names log directory {Y} of broker 0, which was not supplied" in text
    assert "kafka-storage.sh format --ignore-formatted" in text


def test_nothing_is_said_of_two_copies_where_a_file_is_missing(state: Path, run: Run) -> None:
    """That advice is for directories that refuse each other."""
    (state / "0y" / "meta.properties").unlink()
    out = run("verify", f"0={state / '0x'}", f"0={state / '0y'}", state / "1z").out
    text = " ".join(out.split())
    assert "meta.properties missing" in text
    assert "restore meta.properties" in text
    assert "move one of the two copies out" not in text
