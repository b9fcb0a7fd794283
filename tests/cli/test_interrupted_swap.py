"""A damaged .swap file over sound old segments: the printed commands keep the records."""

from __future__ import annotations

import subprocess
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
