"""Commits that do not hold, and groups in the wrong partition: in findings and in ``groups``."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import kafkalog_reader
from fixtures.builder import data_batch, replica
from fixtures.synthetic.consumer_groups import IN_PLACE, PARTITIONS, STATES, Committed, GroupState
from kafkalog_reader.cli.groups import groups_command
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

STATUSES = {
    "KL-801": "above-log-end", "KL-802": "below-log-start", "KL-803": "on-lost-branch",
    "KL-806": "topic-recreated",
}  # fmt: skip
OF_COMMITS = [state for state in STATES if state.commits]


def findings(root: Path) -> list[dict[str, Any]]:
    rows = kafkalog_reader.open(str(root)).table("findings").to_arrow().to_pylist()
    return [row for row in rows if row["code"].startswith("KL-8")]


def safe_offset(row: dict[str, Any]) -> int | None:
    evidence = {each["name"]: each["value"] for each in row["evidence"]}
    return int(evidence["safeOffset"]) if "safeOffset" in evidence else None


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.id)
def test_each_state_has_its_findings_and_no_others(state: GroupState, tmp_path: Path) -> None:
    found = findings(state.write(tmp_path))
    assert {
        (row["code"], row["brokerId"] if safe_offset(row) is not None else None, safe_offset(row))
        for row in found
    } == state.expected


@pytest.mark.parametrize("state", OF_COMMITS, ids=lambda state: state.id)
def test_the_command_groups_agrees(state: GroupState, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        groups_command, [str(state.write(tmp_path)), "--format", "json"], standalone_mode=False
    )
    (row,) = map(json.loads, result.stdout.splitlines())
    expected = [(STATUSES[code], safe) for code, _, safe in state.expected if code in STATUSES]
    assert (row["status"], row["safeOffset"]) == (expected or [("ok", None)])[0]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.id)
def test_verify_and_replica_diff_end_alike(state: GroupState, tmp_path: Path) -> None:
    root = str(state.write(tmp_path))
    verified, compared = (
        CliRunner().invoke(command, [root], standalone_mode=False).return_value
        for command in (verify_command, replica_diff)
    )
    assert verified == compared
    assert verified in (0, 1)


def commands_and_actions(root: Path, code: str) -> tuple[bool, list[str]]:
    """Whether verify prints a command that sets offsets, and the actions of a finding."""
    text = CliRunner().invoke(verify_command, [str(root)], standalone_mode=False).stdout
    (row,) = (row for row in findings(root) if row["code"] == code)
    return "--reset-offsets" in text, row["actions"]


def test_every_command_says_that_what_a_group_read_is_gone(tmp_path: Path) -> None:
    """A consumer reads below the high watermark: offsets 2 to 6 were committed.

    No metadata log says that there is no other copy.
    """
    log = replica("a@0/e0 b@1/e0", high_watermark=2)
    commit = Committed(group="g", offset=7, leader_epoch=0)
    root = str(GroupState(id="", what="", replicas={0: log}, commits=[commit]).write(tmp_path))
    said = []
    for command in (verify_command, replica_diff, plan_command):
        answer = CliRunner().invoke(command, [root], standalone_mode=False)
        assert answer.return_value == 1
        said.append(" ".join(answer.stdout.split()))
    assert all("group g has committed offset 7, above the log end, 2" in each for each in said)
    *_, planned = said
    assert "5 records known (t-0 offsets 2–6), and more may have come after them" in planned
    answer = CliRunner().invoke(plan_command, [root, "--format", "json"], standalone_mode=False)
    (lost,) = json.loads(answer.stdout)["lostAlready"]
    assert lost == {
        "topic": "t", "partition": 0, "firstOffset": 2, "nextOffset": 7, "isCommitted": False,
        "mayBeElsewhere": True,
    }  # fmt: skip


def test_no_offset_is_set_while_the_end_of_the_log_is_only_compressed(tmp_path: Path) -> None:
    """Decompressed, the segment holds what the group has read: its offset is valid then."""
    state = next(each for each in STATES if each.id == "Q15c")
    root = state.write(tmp_path)
    assert commands_and_actions(root, "KL-801") == (True, ["A12"])
    (root / "broker-0" / "t-0" / "00000000000000000004.log.gz").write_bytes(b"x" * 70)
    assert commands_and_actions(root, "KL-801") == (False, ["A49"])


def test_no_offset_is_set_while_a_damaged_copy_can_be_repaired(tmp_path: Path) -> None:
    """The start cuts the log at the damage; a sound log of what is after it holds offset 4."""
    commit = Committed(group="g", offset=4)
    log = replica("a@0/e0 b@1/e0 c@2/e0 d@3/e0", high_watermark=4)
    root = GroupState(id="", what="", replicas={0: log}, commits=[commit]).write(tmp_path)
    assert findings(root) == []
    segment = root / "broker-0" / "t-0" / "00000000000000000000.log"
    batches = bytearray(segment.read_bytes())
    batches[len(batches) * 3 // 4 - 1] ^= 3  # two bits, in the third of four equal batches
    segment.write_bytes(batches)
    assert commands_and_actions(root, "KL-810") == (False, ["A49"])


@pytest.mark.parametrize(
    ("age", "severity", "actions"), [(0, "L", ["A2"]), (3600, "H", ["A12"])], ids=["hot", "old"]
)
def test_a_group_reads_on_while_a_running_broker_is_copied(
    age: int, severity: str, actions: list[str], tmp_path: Path
) -> None:
    """File times show a copy of a log that was being written; its group's offset is no mistake."""
    written_at = int((time.time() - age) * 1000)
    log = replica([data_batch(0, [Record(offset_delta=0)], base_timestamp=written_at)])
    commit = Committed(group="g", offset=2, leader_epoch=0)
    root = GroupState(id="", what="", replicas={0: log}, commits=[commit]).write(tmp_path)
    (row,) = findings(root)
    assert (row["code"], row["severity"]) == ("KL-801", severity)
    assert commands_and_actions(root, "KL-801") == (severity == "H", actions)


def test_a_selected_topic_has_its_findings(tmp_path: Path) -> None:
    state = next(each for each in STATES if each.id == "Q15c")
    evidence = kafkalog_reader.open(str(state.write(tmp_path)))
    rows = evidence.table("findings", topic="t").to_arrow().to_pylist()
    assert "KL-801" in {row["code"] for row in rows}


def test_a_wrong_number_of_partitions_is_no_finding(tmp_path: Path) -> None:
    """Of 50 partitions only some were supplied: their highest number says nothing."""
    state = next(each for each in STATES if each.id == "Q16a")
    root = state.write(tmp_path)
    for number in range(14, PARTITIONS):
        for file in (root / "broker-0" / f"__consumer_offsets-{number}").iterdir():
            file.unlink()
        (root / "broker-0" / f"__consumer_offsets-{number}").rmdir()
    assert sum(number < 14 for number in IN_PLACE.values()) == 3
    assert [row["code"] for row in findings(root)] == []
