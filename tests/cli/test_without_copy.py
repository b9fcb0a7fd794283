"""A partition of which every folder is gone, in a cluster without a metadata log."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures.builder import cluster, parse_log, replica
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

IDS = {"s": "5vLx2mWbQ7yT3hJ1cRk0pA", "u": "8vLx2mWbQ7yT3hJ1cRk0pA"}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Brokers 0 and 1 had s-0 and t-0, broker 1 had u-0; 50 records of each were committed."""
    of_t = replica(
        parse_log("0-9/e0 10-19/e0 20-29/e0 30-39/e0 40-49/e0"),
        high_watermark=50,
        recovery_point=50,
    )
    of_s, of_u = (replace(of_t, topic=name, topic_id=topic_id) for name, topic_id in IDS.items())
    cluster(tmp_path, {0: [of_s, of_t], 1: [of_s, of_t, of_u]}, clean=(0, 1))
    return tmp_path


def words(text: str) -> str:
    return " ".join(text.split())


def compared(*arguments: object) -> str:
    answer = CliRunner().invoke(replica_diff, [*map(str, arguments)], standalone_mode=False)
    assert answer.return_value == 1
    return words(answer.stdout)


def test_every_command_says_what_is_lost_already(run: Run, state: Path) -> None:
    """The broker writes both rows of a partition as long as it hosts it (ReplicaManager)."""
    shutil.rmtree(state / "broker-1" / "u-0")
    shutil.rmtree(state / "broker-0" / "t-0")  # so that there are steps
    planned = run("plan", state)
    lost = (
        "Lost already, whatever starts: all of u-0 (offsets 0–49 were committed), of which no copy "
        "was supplied."
    )
    said = "no supplied broker has a folder of it, which the checkpoints of broker 1 name"
    assert planned.status == 1
    for out in (planned.out, run("plan", state, "--format", "script").out):
        assert lost in words(out)
        assert said in words(out)
        assert "Broker 1 has no folder of u-0, nor has another broker" in words(out)
    assert "look for another copy of these records" in words(planned.out)
    assert lost in compared(state)
    verified = run("verify", state)
    assert (verified.status, said in words(verified.out)) == (1, True)
    document = json.loads(run("plan", state, "--format", "json").out)
    (gone,) = document["lostAlready"]
    assert gone == {
        "topic": "u", "partition": 0, "firstOffset": 0, "nextOffset": 50, "isCommitted": True,
        "mayBeElsewhere": False,
    }  # fmt: skip


def test_a_lost_partition_can_be_named(run: Run, state: Path) -> None:
    shutil.rmtree(state / "broker-1" / "u-0")
    assert "KL-310 CRITICAL" in compared(state, "--topic", "u", "--partition", "0")
    assert "No copy of u-0 was supplied, which the checkpoints of broker 1 name" in words(
        run("ls", state).out
    )


def test_no_broker_starts_that_would_delete_the_last_records(run: Run, state: Path) -> None:
    """Broker 1 took u-0 over from broker 0, which deletes its folder after a start (LogManager)."""
    folder = state / "broker-0" / f"u-0.{'0' * 32}-delete"
    (state / "broker-1" / "u-0").rename(folder)
    planned = words(run("plan", state).out)
    assert planned.startswith("First move folders that a start deletes out of the log directories")
    assert "Before that, start no broker." in planned
    assert "Start broker" not in planned
    assert "Lost already" not in planned
    aside = state / "aside" / "broker-0" / "u-0"
    assert f"mv {folder} {aside}" in planned.replace("\\ ", "")
    aside.parent.mkdir(parents=True)
    folder.rename(aside)
    planned = words(run("plan", state / "broker-0", state / "broker-1").out)
    assert "KL-310 HIGH u-0" in planned
    assert f"moved aside: {aside}" in planned.replace("- ", "-")
    assert "NO PLAN" not in planned
