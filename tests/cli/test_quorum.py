"""``kafkalog quorum``: the answer first, an exit status that scripts can use, JSON for programs."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from fixtures.jars import cache_directory
from fixtures.quorums.capture import TRIALS
from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import StartOrder
from kafkalog_reader.cli.quorums import quorums_of
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.report.plan_quorum_steps import quorum_steps
from tests.audits.quorum.controllers import write_controllers
from tests.audits.quorum.test_metadata_batches import with_wrong_offset

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

CAPTURE = captures.path("s3_2/both-led")


def answer_of(run: Run, path: Path) -> dict[str, Any]:
    (line,) = run("quorum", path, "--format", "json").out.splitlines()
    answer: dict[str, Any] = json.loads(line)
    return answer


def follow(step: dict[str, Any]) -> None:
    for command in step["commands"]:
        subprocess.run(["sh", "-c", command], check=True, stderr=subprocess.DEVNULL)


def logs_of(root: Path, name: str) -> list[Path]:
    return sorted(root.glob(f"broker-*/__cluster_metadata-0/{name}"))


def without_hosts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ``ssh`` that runs the command here."""
    program = root / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


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
    assert "which has no vote, holds what was written up to offset 47" in said


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


def test_a_controller_that_may_not_be_read_is_not_lost(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of its log: formatting it would be the loss."""
    write_controllers(tmp_path, {1: "1111", 2: "1111"})
    (refused,) = tmp_path.glob("broker-2/__cluster_metadata-0/*.log")
    really_open = os.open

    def without_rights(path: str, *arguments: int, **options: int) -> int:
        if os.fspath(path) == str(refused):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", without_rights)
    answer = run("quorum", tmp_path)
    said = " ".join(answer.out.split())
    assert answer.status == 2
    assert "2 yes - - - - - could not be read, see below" in said
    assert "3 yes - - - - - not in these files" in said
    assert "Permission denied; run this as the user of the node" in said
    assert "1. First give all files to kafkalog again as the user of the nodes" in said
    assert "kafka-storage.sh" not in said


def test_a_voter_with_a_damaged_snapshot_is_not_formatted(tmp_path: Path, run: Run) -> None:
    """Controllers of 4.2.0 do not start then; their logs are whole."""
    write_controllers(tmp_path, {1: "1111", 2: "1111", 9: "1111"})
    batch = data_batch(3, [Record(offset_delta=0, value=b"a")]).build()
    for node in (1, 2):
        folder = tmp_path / f"broker-{node}" / "__cluster_metadata-0"
        (folder / f"{2:020}-{1:010}.checkpoint").write_bytes(bytes(200) + batch)
    answer = run("quorum", tmp_path)
    said = " ".join(answer.out.split())
    assert answer.status == 1
    assert "does not start: the node ends when it starts: its newest metadata snapshot" in said
    assert "The metadata log of nodes 1 and 2 is here, and a file of it is damaged" in said
    assert "kafkalog verify prints the command (KL-319)" in said
    commands = run("verify", tmp_path).out.replace("\\\n", " ").split("mv ")[1:]
    assert [each.split("/__cluster_metadata-0/")[0][-8:] for each in commands] == [
        "broker-1",
        "broker-2",
    ]
    assert "kafka-storage.sh" not in said


def test_only_idle_records_are_no_loss(tmp_path: Path, run: Run) -> None:
    write_controllers(tmp_path, {1: "111", 2: "111", 3: "111", 9: "111"})
    (log,) = tmp_path.glob("broker-9/__cluster_metadata-0/*.log")
    idle = data_batch(3, [Record(offset_delta=0, value=b"\x01\x14\x00\x00")], leader_epoch=1)
    log.write_bytes(log.read_bytes() + idle.build())
    said = " ".join(run("quorum", tmp_path).out.split())
    assert "the records below offset 3, possibly that at offset 3." in said
    assert "is elected: nothing is lost but 1 NoOpRecord, which an idle controller writes." in said
    assert "holds more than every voter here: up to offset 3." in said


def test_a_node_keeps_the_log_directories_that_were_supplied(tmp_path: Path, run: Run) -> None:
    """kafka-storage.sh format fails on them: 3.3.2 said "Log directory n1 is already formatted"."""
    write_controllers(tmp_path, {1: "1111"}, leaders={1: (2, 1)})
    cluster(tmp_path, {3: replica("a@0/e0")})
    (step,) = (e for e in answer_of(run, tmp_path)["steps"] if e["text"].startswith("Format "))
    assert "Node 3 keeps the log directories that are here, with their partitions" in step["text"]
    (command,) = step["commands"]
    assert command.startswith("kafka-storage.sh format --ignore-formatted --cluster-id ")
    assert command.endswith("# on the host of node.id=3")
    text = " ".join(run("quorum", tmp_path).out.split())
    assert "3 yes - - - - - __cluster_metadata-0 is not in its log directories" in text
    assert "2 yes - - - - - not in these files" in text


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


@pytest.mark.parametrize("stored", [1 | 1 << 27, 0x0700_0300])
def test_a_wrong_base_offset_is_corrected_before_any_start(
    tmp_path: Path, run: Run, stored: int
) -> None:
    """No checksum covers it; the batches before and after it prove the right one."""
    sound = write_controllers(tmp_path, {1: "1111", 2: "1111", 3: "1111"})
    expected = run("quorum", sound)
    before = with_wrong_offset(tmp_path, 2, stored)
    printed = run("quorum", tmp_path)
    assert printed.status == 1
    text = " ".join(printed.out.split())
    assert "do NOT start node 2 as the files are" in text
    assert "start nodes 1 and 3 first" in text
    assert "CONTRADICT" not in text
    assert "in a snapshot only" not in text
    (step,) = answer_of(run, tmp_path)["steps"]
    follow(step)
    assert next(tmp_path.glob("broker-2/*/*.log")).read_bytes() == before
    assert run("quorum", tmp_path).out == expected.out


def test_what_only_a_log_with_a_wrong_offset_has_is_described(tmp_path: Path, run: Run) -> None:
    """Offsets 2 and 3 are after the wrong one in the file."""
    write_controllers(tmp_path, {1: "11", 2: "1111", 3: ""})
    with_wrong_offset(tmp_path, 2, 1 | 1 << 27)
    lost = next(each for each in answer_of(run, tmp_path)["elections"] if each["nodeId"] == 1)
    assert [change["offset"] for each in lost["lost"] for change in each["changes"]] == [2, 3]


def test_old_controllers_get_the_longer_log_of_a_broker(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As 4.1.1 was started with the commands for three old controllers: 3 is cut by no leader."""
    write_controllers(tmp_path, {1: "11", 2: "11", 3: "11", 9: "111"}, leaders={9: (1, 1)})
    first, copying, starting, last = answer_of(run, tmp_path)["steps"]
    assert "look for newer copies" in first["text"]
    assert "give controllers 1 and 2 the __cluster_metadata-0 of node 9" in copying["text"]
    assert starting["text"].startswith("Start nodes 1 and 2, and nothing else, until")
    assert last["text"].startswith("Then start the other controllers")
    states = [each.read_text() for each in logs_of(tmp_path, "quorum-state")[:2]]
    without_hosts(tmp_path, monkeypatch)
    follow(copying)
    held = [each.read_bytes() for each in logs_of(tmp_path, "*.log")]
    assert held[0] == held[1] == held[3]
    assert held[2] != held[3]
    assert [each.read_text() for each in logs_of(tmp_path, "quorum-state")[:2]] == states
    answer = answer_of(run, tmp_path)
    assert answer["verdict"] == "electable"
    assert [each["nodeId"] for each in answer["elections"] if each["canWin"]] == [1, 2]
    assert answer["steps"] == []


def test_lost_controllers_are_formatted_and_get_the_log_of_a_broker(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With controller.quorum.voters, formatting writes no __cluster_metadata-0."""
    write_controllers(tmp_path, {9: "111"})
    looking, formatting, copying, starting, last = answer_of(run, tmp_path)["steps"]
    assert "First look for the disks" in looking["text"]
    hosts = [each.partition("# on the host of ")[2] for each in formatting["commands"]]
    assert hosts == ["node.id=1", "node.id=2"]
    assert starting["text"].startswith("Start nodes 1 and 2, and nothing else, until")
    assert last["text"].startswith("Then start the other controllers")
    assert [each for each in copying["commands"] if each.startswith("mv ")] == []
    (source,) = logs_of(tmp_path, "*.log")
    without_hosts(tmp_path, monkeypatch)
    properties = (tmp_path / "broker-9/meta.properties").read_text()
    for node in (1, 2):
        directory = tmp_path / f"new-{node}"
        directory.mkdir()
        written = properties.replace("node.id=9", f"node.id={node}")
        (directory / "meta.properties").write_text(written)
        for command in copying["commands"]:
            there = command.replace("METADATA_LOG_DIR", str(directory))
            subprocess.run(["sh", "-c", there], check=True)
        names = {each.name for each in (directory / "__cluster_metadata-0").iterdir()}
        assert "quorum-state" not in names
        assert (directory / "__cluster_metadata-0" / source.name).read_bytes() == (
            source.read_bytes()
        )
    answer = answer_of(run, tmp_path)
    assert answer["verdict"] == "electable"
    assert [each["nodeId"] for each in answer["elections"] if each["canWin"]] == [1, 2]


def test_a_copy_that_contradicts_a_majority_is_moved_aside(tmp_path: Path, run: Run) -> None:
    write_controllers(tmp_path / "all", {1: "1111", 2: "1111", 3: "1111"})
    other = next(write_controllers(tmp_path / "other", {2: "1211"}).glob("broker-2/*/*.log"))
    log = next((tmp_path / "all").glob("broker-2/*/*.log"))
    content = bytearray(other.read_bytes())
    at = len(content) // 4 + 12  # the leader epoch of the second batch, which no checksum covers
    content[at : at + 4] = (1).to_bytes(4, "big")
    log.write_bytes(content)
    start, moving, last = answer_of(run, tmp_path / "all")["steps"]
    assert start["text"].startswith("Start nodes 1 and 3, and nothing else, until they have")
    follow(moving)
    assert not log.parent.exists()
    assert last["text"] == "Then start node 2."
    assert run("quorum", tmp_path / "all").status == 0


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


def test_a_plan_points_to_steps_that_exist(tmp_path: Path, run: Run) -> None:
    """The quorum's part of a plan, wherever a start of controllers is unsafe."""
    write_controllers(tmp_path, {1: "11", 2: "11", 3: "11", 9: "111"})
    (quorum,) = quorums_of(discover([str(tmp_path)]))
    choice = Choice(
        topic="t", partition=0, leader=9, equals=frozenset({9}), others=frozenset(), electable=None
    )
    (step,) = quorum_steps(
        Plan(
            paths=(str(tmp_path),),
            brokers=(9,),
            choices=(choice,),
            unanswered=(),
            order=StartOrder(starts=()),
            quorums=(quorum,),
        )
    )
    assert [each.command for each in step.checks] == [f"kafkalog quorum {tmp_path}"]
    assert answer_of(run, tmp_path)["steps"][1]["commands"]
    assert "__cluster_metadata-0 of node 9" in " ".join(step.texts)


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
