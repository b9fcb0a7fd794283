"""What is wrong with a whole log directory: every command says it, and the same repair."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

HEALED = captures.path("s3_2/healed")
STOPPED = captures.path("everything/stopped")
KAFKA_FILES = ("mv ", "mkdir ", "printf ")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound cluster of brokers 0, 1 and 2 with one partition, and a controller."""
    shutil.copytree(HEALED, tmp_path / "state")
    monkeypatch.chdir(tmp_path / "state")
    return tmp_path / "state"


def shell_commands(out: str) -> list[str]:
    """Commands on files, lines that end with a backslash joined as a shell does."""
    lines = (line.strip() for line in out.replace("\\\n", " ").splitlines())
    return [line for line in lines if line.startswith(KAFKA_FILES)]


def commands_of_all(run: Run, code: str) -> list[str]:
    """The repair that verify, plan and replica-diff print, which is one for all of them."""
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False).stdout
    outs = [run("verify", ".").out, run("plan", ".").out, compared]
    assert all(code in out for out in outs)
    first, *others = map(shell_commands, outs)
    assert others == [first, first]
    return first


def recoveries(run: Run, *paths: str) -> list[dict[str, Any]]:
    out = run("table", "recoveries", *paths, "--format", "json").out
    return [json.loads(line) for line in out.splitlines()]


def do(commands: list[str]) -> None:
    for command in commands:
        subprocess.run(["sh", "-c", command], check=True)


def test_a_renamed_partition_folder_is_renamed_back(state: Path, run: Run) -> None:
    """LogManager#loadLogs parses the name of every folder, t-0.bak ends it (KafkaException)."""
    sound = run("plan", ".")
    (state / "broker-2" / "t-0").rename(state / "broker-2" / "t-0.bak")
    commands = commands_of_all(run, "KL-003 ")
    assert commands == ["mv ./broker-2/t-0.bak ./broker-2/t-0"]
    plan = run("plan", ".")
    assert "NO PLAN t-0: broker 2 does not come up: ./broker-2/t-0.bak" in plan.out
    assert "empty" not in plan.out
    (down,) = (row for row in recoveries(run, ".") if row["outcome"] != "loads")
    assert (down["brokerId"], down["partition"], down["outcome"]) == (2, None, "brokerAborts")
    do(commands)
    assert run("plan", ".") == sound


def test_a_folder_of_nobody_is_moved_out(state: Path, run: Run) -> None:
    sound = run("plan", ".")
    for broker in ("broker-1", "controller-100"):
        (state / broker / "old logs").mkdir()
    commands = commands_of_all(run, "KL-003 ")
    assert commands == [
        "mkdir -p ./aside/broker-1",
        "mv './broker-1/old logs' './aside/broker-1/old logs'",
    ]
    (down,) = (row for row in recoveries(run, ".") if row["outcome"] != "loads")
    assert (down["brokerId"], down["partition"], down["outcome"]) == (1, 0, "brokerAborts")
    do(commands)
    assert run("plan", ".").out == sound.out
    assert (run("verify", ".").status, (state / "aside" / "broker-1" / "old logs").is_dir()) == (
        0,
        True,
    )


def test_two_copies_under_one_name_do_not_become_one(state: Path, run: Run) -> None:
    """t-0 is there: what is called t-0.bak is moved out, not renamed over it."""
    shutil.copytree(state / "broker-2" / "t-0", state / "broker-2" / "t-0.bak")
    assert shell_commands(run("verify", ".").out) == [
        "mkdir -p ./aside/broker-2",
        "mv ./broker-2/t-0.bak ./aside/broker-2/t-0.bak",
    ]
