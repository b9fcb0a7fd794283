"""``kafkalog quorum``: the answer first, an exit status that scripts can use, JSON for programs."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.jars import cache_directory
from fixtures.quorums.capture import TRIALS
from tests.audits.quorum.controllers import write_controllers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

CAPTURE = captures.path("s3_2/both-led")


def answer_of(run: Run, path: Path) -> dict[str, Any]:
    (line,) = run("quorum", path, "--format", "json").out.splitlines()
    answer: dict[str, Any] = json.loads(line)
    return answer


@pytest.mark.parametrize(
    ("logs", "status", "answer"),
    [
        pytest.param({1: "11", 2: "11", 3: "1"}, 0, "nodes 1 and 2 can be elected", id="sound"),
        pytest.param({1: "11"}, 1, "NO QUORUM: 1 of 3 voters can start", id="majority gone"),
        pytest.param({1: "111", 2: "11", 3: ""}, 1, "can LOSE records", id="new disk"),
    ],
)
def test_the_first_line_is_the_answer(
    tmp_path: Path, run: Run, logs: dict[int, str], status: int, answer: str
) -> None:
    printed = run("quorum", write_controllers(tmp_path, logs))
    assert printed.status == status
    assert answer in " ".join(printed.out.split("\n\n")[0].split())


def test_the_only_controller_of_a_real_cluster_can_be_elected(run: Run) -> None:
    """In that scenario controller 100 led in epoch 1; its brokers had copied up to 32 and 48."""
    answer = answer_of(run, CAPTURE)
    assert answer["verdict"] == "electable"
    assert [each["nodeId"] for each in answer["voters"]] == [100]
    assert {each["nodeId"]: each["logEndOffset"] for each in answer["copies"]} == {
        0: 32, 1: 48, 2: 48, 100: 48,
    }  # fmt: skip
    state = next(each["quorumState"] for each in answer["copies"] if each["nodeId"] == 100)
    assert (state["leaderId"], state["leaderEpoch"]) == (100, 1)


def test_brokers_alone_show_what_they_hold_of_a_lost_controller(run: Run) -> None:
    printed = run("quorum", CAPTURE / "broker-1")
    assert printed.status == 1
    said = " ".join(printed.out.split())
    assert "which has no vote, holds what was written up to offset 48" in said


def test_what_would_be_lost_is_named(tmp_path: Path, run: Run) -> None:
    printed = run("quorum", write_controllers(tmp_path, {1: "1111", 2: "11", 3: ""}))
    text = " ".join(printed.out.split())
    assert "offsets 2–3, possibly committed, on node 1: 2 TopicRecord" in text
    assert "topic t1-3 created" in text
    assert "Start nodes 1 and 2, and nothing else, until they have a leader." in text


def test_the_steps_format_a_lost_voter_with_kafkas_own_tool(tmp_path: Path, run: Run) -> None:
    write_controllers(tmp_path, {1: "1111"}, leaders={1: (2, 1)})
    (command,) = answer_of(run, tmp_path)["steps"][1]["commands"]
    assert command.startswith("kafka-storage.sh format --cluster-id AAECAwQFBgcICQoLDA0ODw ")
    assert command.endswith("# on the host of node.id=3")  # 2 is named as the leader


def test_quorum_state_is_moved_aside_where_it_names_the_new_controller(
    tmp_path: Path, run: Run
) -> None:
    write_controllers(tmp_path, {1: "1111"}, voters=(1, 2), leaders={1: (2, 1)})
    steps = answer_of(run, tmp_path)["steps"]
    (command,) = steps[2]["commands"]
    path = tmp_path / "broker-1/__cluster_metadata-0/quorum-state"
    assert command == f"mv {path} {path}.old"


def test_an_unreadable_quorum_state_keeps_a_controller_down(tmp_path: Path, run: Run) -> None:
    write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"})
    (tmp_path / "broker-1/__cluster_metadata-0/quorum-state").write_text("{")
    answer = answer_of(run, tmp_path)
    refusals = {each["nodeId"]: each["refusal"] for each in answer["copies"]}
    assert "not a JSON object" in refusals[1]
    assert refusals[2] is None
    assert [each["nodeId"] for each in answer["elections"] if each["canWin"]] == [2, 3]


def test_a_flipped_bit_is_corrected_before_any_start(tmp_path: Path, run: Run) -> None:
    """Two of three logs were damaged: a start cuts them, and they elect each other."""
    sound = write_controllers(tmp_path, {1: "1111", 2: "1111", 3: "11"})
    expected = run("quorum", sound)
    logs = [next((tmp_path / f"broker-{node}").glob("*/*.log")) for node in (1, 2)]
    before = logs[0].read_bytes()
    for log in logs:
        content = bytearray(before)
        content[len(before) * 2 // 4 + 70] ^= 8  # in the records of the third of four equal batches
        log.write_bytes(content)
    first, *others = answer_of(run, tmp_path)["steps"]
    assert others == []
    assert "correct one flipped bit in the log of nodes 1 and 2" in first["text"]
    for command in first["commands"]:
        subprocess.run(["sh", "-c", command], check=True, stderr=subprocess.DEVNULL)
    assert [log.read_bytes() for log in logs] == [before, before]
    assert run("quorum", tmp_path).out == expected.out


def test_no_voter_is_formatted_whose_log_only_has_a_wrong_cluster_id(
    tmp_path: Path, run: Run
) -> None:
    """Two of three directories have an id of their own, so that no majority starts."""
    write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"})
    for node in (2, 3):
        properties = tmp_path / f"broker-{node}" / "meta.properties"
        properties.write_text(
            re.sub("cluster.id=.*", f"cluster.id=c{node}", properties.read_text())
        )
    answer = answer_of(run, tmp_path)
    assert answer["verdict"] == "noMajority"
    (step,) = answer["steps"]
    assert step["commands"] == []
    assert "Format no controller whose log is here" in step["text"]


def test_two_logs_of_one_node_are_refused(tmp_path: Path, run: Run) -> None:
    paths = [write_controllers(tmp_path / each, {1: "11"}) for each in ("new", "old")]
    printed = run("quorum", *paths)
    assert printed.status == 2
    assert "node 1 has two metadata logs" in printed.err
    for path in paths:
        (alone,) = path.glob("broker-*")
        assert f"`kafkalog quorum {alone}`" in printed.err
        assert run("quorum", alone).status != 2


def test_paths_without_a_metadata_log_are_an_error(run: Run) -> None:
    printed = run("quorum", captures.path("release_0.10.2.2/stopped"))
    assert printed.status == 2
    assert "no metadata log" in printed.err


def test_plan_points_to_it(tmp_path: Path, run: Run) -> None:
    write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"})
    planned = run("plan", tmp_path)
    assert planned.status == 2
    assert "kafkalog quorum, with the same paths" in planned.err


def test_a_sound_quorum_has_no_severe_finding(tmp_path: Path, run: Run) -> None:
    """`verify` must not alarm about logs that end differently while a leader can be elected."""
    write_controllers(tmp_path, {1: "1111", 2: "11", 3: "11"})
    assert run("quorum", tmp_path).status == 0
    verified = run("verify", tmp_path)
    assert verified.status == 0
    assert "kafkalog quorum, with the same paths" in verified.out


def test_verify_does_not_mention_it_for_brokers_that_lag(run: Run) -> None:
    assert "kafkalog quorum" not in run("verify", CAPTURE).out


def test_logs_without_a_common_offset_say_what_each_holds(run: Run) -> None:
    """The start of controller 3 drops its log: its newest snapshot is newer."""
    trials = captures.unpacked(TRIALS, cache_directory() / "captures")
    printed = run("quorum", trials / "state-103" / "trial-1" / "before")
    text = " ".join(printed.out.split())
    assert "have no offset in common: the newest snapshot of node 3 ends at offset" in text
    assert "is newer than its log, which the next start drops" in text
