"""Segments that only a file of another name holds: the printed commands keep the records."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, parse_log, replica
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import click

SHELL = ("mkdir ", "mv ")


@pytest.fixture
def only_copy(tmp_path: Path) -> Path:
    """One broker whose start would put a damaged new segment in the place of a sound one."""
    batches = parse_log("0-9/e0 10-19/e0 20-29/e0 30-39/e0")
    described = replica(batches, segment_bytes=350, high_watermark=40)
    (root,) = cluster(tmp_path, {0: described}).values()
    old = root / "t-0" / f"{0:020}.log"
    content = bytearray(old.read_bytes())
    content[-3] ^= 4
    old.with_name(f"{old.name}.swap").write_bytes(content)
    return root.parent


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def run(command: click.Command, *arguments: str) -> tuple[int, str]:
        code = status(command, list(arguments))
        return code, capfd.readouterr().out

    return run


@pytest.mark.parametrize(
    ("command", "name"),
    [(kafkalog, "verify"), (kafkalog, "plan"), (replica_diff, "")],
    ids=["verify", "plan", "replica-diff"],
)
def test_the_commands_keep_the_old_segments(
    only_copy: Path, said: Callable[..., tuple[int, str]], command: click.Command, name: str
) -> None:
    arguments = [*filter(None, [name]), str(only_copy)]
    code, text = said(command, *arguments)
    assert code == 1
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    commands = "\n".join(dict.fromkeys(line for line in lines if line.startswith(SHELL)))
    subprocess.run(["bash", "-e", "-c", commands], check=True)
    assert sorted(path.name for path in only_copy.glob("broker-0/t-0/*.log*")) == [
        f"{base:020}.log" for base in (0, 20)
    ]
    assert said(kafkalog, "verify", str(only_copy))[0] == 0
    assert said(kafkalog, "plan", str(only_copy))[0] == 0


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    """Three brokers; the middle segment of t-0 on broker 1, and of u-0 on its only broker."""
    batches = parse_log("0-9/e0 10-19/e0 20-29/e0 30-39/e0 40-49/e0")
    of_t = replica(batches, segment_bytes=350, high_watermark=50, recovery_point=50)
    of_u = replace(of_t, topic="u")
    cluster(tmp_path, {0: [of_t], 1: [of_t], 2: [of_t, of_u]}, clean=(0, 1, 2))
    for place, end in (("broker-1/t-0", "bak"), ("broker-2/u-0", "deleted")):
        log = tmp_path / place / f"{20:020}.log"
        log.rename(log.with_name(f"{log.name}.{end}"))
    return tmp_path


def test_the_plan_is_to_give_segments_their_names_back(
    renamed: Path, said: Callable[..., tuple[int, str]]
) -> None:
    """A start deletes .deleted files (LogLoader), and a new copy of the partition any other."""
    code, text = said(kafkalog, "plan", str(renamed), "--format", "json")
    steps = json.loads(text)["steps"]
    assert (code, [each["kind"] for each in steps]) == (1, ["renameSegments"] * 2)
    _, text = said(kafkalog, "plan", str(renamed))
    first = "First give segments of 2 partitions their names back and make this plan again."
    assert " ".join(text.split()).startswith(f"{first} Before that, start no broker")
    assert first in " ".join(said(replica_diff, str(renamed))[1].split())
    assert "nothing is lost" not in text.lower()
    _, script = said(kafkalog, "plan", str(renamed), "--format", "script")
    for each in (command for step in steps for command in step["commands"]):
        assert each in script
        subprocess.run(["bash", "-e", "-c", each], check=True)
    assert said(kafkalog, "plan", str(renamed))[0] == 0


def test_nothing_starts_before_a_segment_of_a_partition_without_a_plan_has_its_name(
    renamed: Path, said: Callable[..., tuple[int, str]]
) -> None:
    second = renamed / "broker-2-second"
    shutil.copytree(renamed / "broker-2/u-0", second / "u-0")
    shutil.copy(renamed / "broker-2/meta.properties", second)
    words = " ".join(said(kafkalog, "plan", str(renamed))[1].split())
    assert "NO PLAN u-0: broker 2: supplied more than once" in words
    assert "NO PLAN t-0" not in words
    assert "give segments their names back (KL-405)" in words
    assert words.count("while it is stopped, give segments ") == 3  # of u-0 in both copies
    assert "Start broker" not in words
