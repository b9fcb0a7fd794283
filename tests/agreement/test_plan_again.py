"""No plan leads back to itself: what it prints about files is done, and the next plan goes on."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from fixtures.faults.catalogue import FAULTS
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.salvage import salvage_command
from tests.agreement.commands import asked, objects
from tests.agreement.faulty_copy import base_of, faulty_copy

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.synthetic.across_replicas import CrossFault

AGAIN: Final = "ake this plan again"
MOST_ROUNDS: Final = 3
"""Files that have each other's names come first, then a merged log, then the starts."""
SOME_FAULTS: Final = FAULTS[:: 1 if os.environ.get("KAFKALOG_EVERY_CASE") else 5]


def file_commands(path: str) -> list[str]:
    """What the steps of the plan run on files, if another plan comes after them."""
    words = " ".join(asked(plan_command, path)[1].split())
    (plan,) = objects(asked(plan_command, path, "--format", "json")[1]) or [{"steps": []}]
    if not any(AGAIN in text for step in plan["steps"] for text in step["texts"]):
        return []
    commands = [each for step in plan["steps"] for each in step["commands"]]
    assert commands, f"advises another plan, and nothing to do before it: {words}"
    assert not any(step["kind"] == "startBrokers" for step in plan["steps"]), words
    return commands


def do(commands: list[str]) -> None:
    """Run them in the current directory, as a shell does."""
    for command in commands:
        program, *arguments = shlex.split(command)
        if program == "kafkalog":
            assert arguments.pop(0) == "salvage"
            asked(salvage_command, *arguments)
        else:
            subprocess.run(["sh", "-c", command], check=True)


def follow(path: str) -> None:
    done: list[list[str]] = []
    while commands := file_commands(path):
        assert commands not in done, "the plan leads back to itself"
        assert len(done) < MOST_ROUNDS, done
        do(commands)
        done.append(commands)


@pytest.mark.parametrize("fault", SOME_FAULTS, ids=lambda fault: fault.id)
def test_the_plan_of_a_fault_ends(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    follow(faulty_copy(fault, base_of(fault), tmp_path / "two words"))


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_the_plan_of_a_fault_across_replicas_ends(
    fault: CrossFault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    follow(str(fault.write(tmp_path / "two words")))


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_plan_of_a_scenario_ends(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    follow(str(SCENARIOS[name].write(tmp_path / "state")))
