"""Disks that their folders show to be exchanged are named by verify and plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.io.test_exchanged_disks import EXCHANGED, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_every_command_says_it(tmp_path: Path, run: Run) -> None:
    root = written(tmp_path, EXCHANGED)
    said = "if each folder is that of a node, disks of these two are exchanged"
    for command in ("verify", "plan"):
        assert said in " ".join(run(command, root).out.split())
    assert "start brokers 1 and 2" in run("plan", root).out
    rows = map(json.loads, run("verify", root, "--format", "json").out.splitlines())
    (found,) = (row for row in rows if row["code"] == "KL-312")
    assert (found["severity"], found["confidence"]) == ("M", "possible")
    in_place = written(tmp_path / "right", {"n1/a": 1, "n1/b": 1, "n2/a": 2, "n2/b": 2})
    assert "exchanged" not in run("plan", in_place).out
