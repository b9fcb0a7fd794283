"""What a node loads of its metadata log is part of each command's answer.

Real nodes of 4.3.1, controller and broker at once, did so: at the second TopicRecord of a name the
process ended and renamed nothing; with the newest snapshot cut inside its second batch and nothing
above it, it set every replica aside; with a change above it of a broker that the rest of the
snapshot does not register, the process ended.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder.batch import data_batch
from fixtures.builder.cluster import cluster
from fixtures.builder.metadata_log import PartitionState, metadata_log, partition_change
from fixtures.builder.replica import TOPIC_ID, replica
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAw"
STATE = PartitionState(replicas=(1,), in_sync=(1,), leader=1, leader_epoch=0)
AGAIN = PartitionState(
    replicas=(1,), in_sync=(1,), leader=1, leader_epoch=0, topic_id=OTHER_ID, partition=1
)
VOTER = {
    "leaderId": 1, "leaderEpoch": 1, "votedId": -1, "currentVoters": [{"voterId": 1}],
    "data_version": 0,
}  # fmt: skip
COMMANDS = ("quorum", "verify", "plan")


def write_node(root: Path, *states: PartitionState) -> Path:
    """A node that is the only controller and a broker; returns its metadata log."""
    copy = replica("0-3/e0", topic="t", topic_id=TOPIC_ID)
    cluster(root, {1: [copy, metadata_log(states)]})
    (folder,) = root.glob("*/__cluster_metadata-0")
    (folder / "quorum-state").write_text(json.dumps(VOTER))
    return folder


def write_short_snapshot(folder: Path, end_offset: int) -> None:
    """One of which only the header is left."""
    state = captures.path("everything/stopped") / "controller-100" / "__cluster_metadata-0"
    content = (state / f"{0:020}-{0:010}.checkpoint").read_bytes()
    length = int.from_bytes(content[8:12], "big") + 12
    (folder / f"{end_offset:020}-{1:010}.checkpoint").write_bytes(content[: length + 30])


def said(capfd: pytest.CaptureFixture[str], command: str, root: Path) -> tuple[int, str]:
    capfd.readouterr()
    code = status(kafkalog, [*command.split(), str(root)])
    return code, " ".join(capfd.readouterr().out.split())


def outcome(capfd: pytest.CaptureFixture[str], root: Path) -> tuple[str, str]:
    capfd.readouterr()
    status(kafkalog, ["table", "recoveries", str(root), "--format", "json"])
    (row,) = map(json.loads, capfd.readouterr().out.splitlines())
    return row["outcome"], row["reason"] or ""


def test_a_sound_node_starts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_node(tmp_path, STATE)
    assert [said(capfd, command, tmp_path)[0] for command in COMMANDS] == [0, 0, 0]
    assert outcome(capfd, tmp_path)[0] == "loads"


def test_a_record_that_contradicts_ends_the_node(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_node(tmp_path, STATE, AGAIN)
    for command in COMMANDS:
        code, text = said(capfd, command, tmp_path)
        assert code == 1, command
        assert f"TopicRecord at offset 2: topic t exists, and has another id, {TOPIC_ID}" in text
        assert "-stray" not in text, command
    found, reason = outcome(capfd, tmp_path)
    assert found == "brokerAborts"
    assert "TopicRecord at offset 2" in reason
    assert "-stray" not in reason


def test_a_short_snapshot_sets_replicas_aside(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = write_node(tmp_path, STATE)
    write_short_snapshot(folder, end_offset=2)
    code, text = said(capfd, "quorum", tmp_path)
    assert code == 1
    assert "do NOT start node 1 as the files are: the newest metadata snapshot" in text
    code, text = said(capfd, "verify", tmp_path)
    assert code == 1
    assert "KL-417 CRITICAL" in text
    assert "KL-319 CRITICAL" in text
    code, text = said(capfd, "plan", tmp_path)
    assert code == 1
    assert "removes nothing" not in text
    assert outcome(capfd, tmp_path)[0] == "stray"


def test_a_change_above_a_short_snapshot_ends_the_node(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = write_node(tmp_path, STATE)
    write_short_snapshot(folder, end_offset=2)
    (log,) = folder.glob("*.log")
    change = data_batch(2, [Record(offset_delta=0, value=partition_change(leader=1))])
    log.write_bytes(log.read_bytes() + change.build())
    for command in ("quorum", "plan"):
        code, text = said(capfd, command, tmp_path)
        assert code == 1, command
        assert f"PartitionChangeRecord at offset 2: no topic has the id {TOPIC_ID}" in text
    found, reason = outcome(capfd, tmp_path)
    assert found == "brokerAborts"
    assert "PartitionChangeRecord at offset 2" in reason


@pytest.mark.parametrize("content", [b"", bytes(200)])
def test_an_empty_snapshot_ends_the_node(
    content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = write_node(tmp_path, STATE)
    (folder / f"{2:020}-{1:010}.checkpoint").write_bytes(content)
    for command in COMMANDS:
        assert said(capfd, command, tmp_path)[0] == 1, command
    assert "0 of 1 voter can start" in said(capfd, "quorum", tmp_path)[1]
    assert outcome(capfd, tmp_path)[0] == "brokerAborts"


def test_a_broker_keeps_its_folders_without_a_record_that_no_controller_replays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A 4.4.0 broker whose copy alone had a second topic of the name cut it off, and started."""
    folder = write_node(tmp_path, STATE, AGAIN)
    (folder / "quorum-state").write_text(json.dumps(VOTER | {"leaderId": 100, "currentVoters": []}))
    assert outcome(capfd, tmp_path)[0] == "loads"
