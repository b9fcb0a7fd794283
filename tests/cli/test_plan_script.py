"""The script of a plan: it asks first, stops with an error, and agrees with the text."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.synthetic import SCENARIOS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

S3_2 = captures.path("s3_2/both-led")
TOOLS = (
    "kafkalog", "kafka-configs.sh", "kafka-topics.sh", "kafka-leader-election.sh",
    "kafka-reassign-partitions.sh",
)  # fmt: skip
FILLED_IN = {"BOOTSTRAP": "h:1", "CONTROLLER": "c:2", "SAVED": "saved"}


def tools(folder: Path, statuses: dict[str, int] | None = None) -> str:
    """A PATH with commands that print their arguments and end with these exit statuses."""
    folder.mkdir()
    for name in TOOLS:
        tool = folder / name
        tool.write_text(f'#!/bin/sh\necho "ran {name} $*"\nexit {(statuses or {}).get(name, 0)}\n')
        tool.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def carried_out(
    script: Path, path: str, answers: str, variables: dict[str, str] = FILLED_IN
) -> tuple[int, list[str], str]:
    """Run a script with these answers; return its exit status, calls and standard error."""
    done = subprocess.run(
        ["bash", str(script)], input=answers, env={"PATH": path, **variables}, cwd=script.parent,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    calls = [line for line in done.stdout.splitlines() if "ran kafka" in line]
    return done.returncode, [line[line.index("ran ") :] for line in calls], done.stderr


@pytest.fixture
def script(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "plan.sh"
    path.write_text(run("plan", S3_2, "--format", "script").out)
    return path


def test_the_script_asks_before_brokers_start_and_stops_at_no(script: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin")
    status, calls, err = carried_out(script, path, "no\n")
    assert status == 1
    assert err.startswith("STOPPED: the answer was not yes")
    assert [call.split()[1] for call in calls] == ["kafkalog"]
    status, calls, _ = carried_out(script, path, "yes\n" * 20)
    assert status == 0
    assert all("HOST" not in call for call in calls)
    assert [call.split()[1] for call in calls] == [
        "kafkalog", "kafka-configs.sh", "kafka-topics.sh", "kafka-topics.sh",
        "kafka-leader-election.sh", "kafka-configs.sh",
    ]  # fmt: skip
    assert carried_out(script, path, "yes\n" * 3)[0] == 1  # standard input ends before the script


@pytest.mark.parametrize("left", ["BOOTSTRAP", "SAVED"])
@pytest.mark.parametrize("value", [None, "", "HOST:9092", "SAVED"])
def test_the_script_does_nothing_while_a_word_is_not_filled_in(
    script: Path, tmp_path: Path, left: str, value: str | None
) -> None:
    variables = FILLED_IN if value is None else {**FILLED_IN, left: value}
    if value is None:
        variables = {name: text for name, text in FILLED_IN.items() if name != left}
    status, calls, err = carried_out(script, tools(tmp_path / "bin"), "yes\n" * 20, variables)
    assert (status, calls) == (1, [])
    assert err.startswith(f"STOPPED: set {left}: ")


def test_the_script_does_nothing_without_kafkas_tools(script: Path) -> None:
    status, calls, err = carried_out(script, "/usr/bin:/bin", "yes\n" * 20)
    assert (status, calls) == (1, [])
    assert "is not on PATH" in err


def test_the_script_tries_again_and_looks_again_while_a_person_says_so(
    script: Path, tmp_path: Path
) -> None:
    path = tools(tmp_path / "bin", {"kafka-leader-election.sh": 1, "kafkalog": 1})
    answers = ["yes", "yes", "yes", "again", "again", "yes", "yes", "yes", "yes", "yes", "no"]
    status, calls, err = carried_out(script, path, "\n".join(answers) + "\n")
    assert status == 1
    assert [call.split()[1] for call in calls] == [
        "kafkalog", "kafka-configs.sh", *["kafka-topics.sh"] * 4,
        *["kafka-leader-election.sh"] * 2,
    ]  # fmt: skip
    assert "not done: kafka-leader-election.sh" in err


def test_a_person_goes_on_who_has_done_what_a_command_cannot_do(
    script: Path, tmp_path: Path
) -> None:
    """Tools of older releases lack options, such as --bootstrap-controller before 3.7."""
    path = tools(tmp_path / "bin", {"kafka-leader-election.sh": 1})
    said = script.read_text()
    assert said.count("== done") == 1
    asked = "read -r answer || stop 'no answer'\n        [[ $answer == done"
    said = said.replace(asked, "[[ done == done")
    script.write_text(said)
    status, calls, _ = carried_out(script, path, "yes\n" * 20)
    assert (status, calls[-2].split()[1]) == (0, "kafka-leader-election.sh")


def test_the_script_stops_where_nothing_was_saved(script: Path, tmp_path: Path) -> None:
    status, calls, err = carried_out(script, tools(tmp_path / "bin", {"kafkalog": 2}), "yes\n" * 20)
    assert (status, len(calls)) == (1, 1)
    assert "nothing was saved (exit status 2): kafkalog salvage" in err


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_script_is_bash_and_names_what_the_text_names(
    run: Run, tmp_path: Path, name: str
) -> None:
    root = SCENARIOS[name].write(tmp_path / name)
    script = tmp_path / "plan.sh"
    script.write_text(run("plan", root, "--format", "script").out)
    parsed = subprocess.run(
        ["bash", "-n", str(script)], capture_output=True, text=True, check=False
    )
    assert (parsed.returncode, parsed.stderr) == (0, "")
    text = script.read_text()
    for step in json.loads(run("plan", root, "--format", "json").out)["steps"]:
        assert shlex.quote(f"{step['step']}. {step['title']}") in text
