"""Folders that are no live replicas, at which a start may fail. The folders are built."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import log_directory, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.table import table_command
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

LOG = "a@0/e0 b@1/e0"
STATES = ("delete", "future", "stray")


def folder(state: str) -> str:
    return f"gone-0.{'0123456789abcdef' * 2}-{state}"


def written(root: Path, state: str) -> Path:
    """A replica, and a folder of another partition in such a state."""
    copies = [
        replica(LOG, recovery_point=2),
        replica(LOG, topic="gone", recovery_point=None, directory=folder(state)),
    ]
    log_directory(0, copies, is_clean=True).write(root / "in")
    return root / "in"


def found_in(root: Path, state: str) -> list[dict[str, Any]]:
    """The findings of the folder itself; KL-010 may also be about records in it."""
    rows = objects(asked(verify_command, str(root), "--format", "json")[1])
    return [row for row in rows if row["file"] == folder(state)]


@pytest.mark.parametrize("state", STATES)
def test_a_sound_one_is_information(tmp_path: Path, state: str) -> None:
    (found,) = found_in(written(tmp_path, state), state)
    assert (found["code"], found["severity"]) == ("KL-010", "I")


@pytest.mark.parametrize("state", STATES)
def test_the_start_fails_at_a_file_without_an_offset(tmp_path: Path, state: str) -> None:
    """LogSegment's offset is parsed from the name: NumberFormatException ends the broker."""
    root = written(tmp_path, state)
    (root / folder(state) / "abc.log").touch()
    outcomes = objects(asked(table_command, "recoveries", str(root), "--format", "json")[1])
    assert [row["outcome"] for row in outcomes] == ["brokerAborts"]
    (found,) = found_in(root, state)
    assert found["severity"] == "H"
    assert "the start loads it, too, and fails at it" in found["message"]
    status, text = asked(plan_command, str(root))
    assert status == 1
    moves = [line for line in text.replace(" \\\n", " ").splitlines() if "aside" in line]
    for command in (line.strip() for line in moves if line.strip().startswith(("mkdir", "mv"))):
        subprocess.run(shlex.split(command), check=True)
    assert found_in(root, state) == []
    assert asked(plan_command, str(root))[0] == 0
