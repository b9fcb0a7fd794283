"""A plan that a copy of unknown content prevents says how to go on without it."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

TWO_SEGMENTS: dict[str, Any] = {"segment_bytes": 420, "high_watermark": 20}
HELD = "0-9/e0 10-19/e0"
LONGER = f"{HELD} 20-29/e1 30-39/e1"


def with_foreign_segment(root: Path, copies: int) -> Path:
    """The last broker led epoch 1; its last segment holds records of another partition."""
    logs = {**dict.fromkeys(range(copies - 1), HELD), copies - 1: LONGER}
    cluster(root, {broker: replica(log, **TWO_SEGMENTS) for broker, log in logs.items()})
    foreign = replica("5-9/e0 10-24/e0", base_offset=5)
    cluster(root.parent / "other", {9: foreign})
    (content,) = (root.parent / "other").rglob("*.log")
    (root / f"broker-{copies - 1}" / "t-0" / f"{20:020d}.log").write_bytes(content.read_bytes())
    return root


@pytest.mark.parametrize("copies", [2, 3])
def test_the_commands_move_the_copy_aside_and_then_another_leads(
    copies: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = with_foreign_segment(tmp_path / "brokers", copies)
    monkeypatch.chdir(tmp_path)
    bad = copies - 1
    answer = run("plan", root, "--format", "json")
    (unanswered,) = json.loads(answer.out)["unanswered"]
    commands = unanswered["commands"]
    text = run("plan", root).out
    words = " ".join(text.replace("\\\n", " ").split())
    assert f"save what can be read on broker {bad}, move its copy of t-0 aside" in words
    assert all(" ".join(each.split()) in words for each in commands)
    script = run("plan", root, "--format", "script").out
    assert all(each in script for each in commands)
    save, *moves = commands
    program, *arguments = shlex.split(save)
    assert program == "kafkalog"
    saved = run(*arguments)
    assert (saved.status, "at doubtful offsets" in saved.out) == (1, True)
    subprocess.run(["bash", "-e", "-c", "\n".join(moves)], check=True)
    planned = run("plan", root, "--format", "json")
    document = json.loads(planned.out)
    assert document["unanswered"] == []
    (partition,) = document["partitions"]
    assert partition["leader"] in range(bad)
    assert (root / "aside" / f"broker-{bad}" / "t-0" / f"{20:020d}.log").exists()


def test_a_broker_without_node_id_is_another_reason(tmp_path: Path, run: Run) -> None:
    root = tmp_path / "brokers"
    cluster(root, {0: replica(HELD), 1: replica(HELD)})
    (root / "broker-1" / "meta.properties").unlink()
    document = json.loads(run("plan", root, "--format", "json").out)
    (unanswered,) = document["unanswered"]
    assert unanswered["commands"] == []
