"""Where no record of what is lost can be read, the saving commands keep the bytes."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.salvage import salvage_command
from tests.agreement.commands import asked
from tests.agreement.test_stranger_states import BATCH, LOG, copied, zero

if TYPE_CHECKING:
    import click

RECORDS = 61
"""Bytes of a batch before its records."""


def damaged_branch(root: Path) -> Path:
    """Only broker 0 has offsets 2 to 4 of epoch 0, each in a batch; none of them is readable."""
    root = copied("s3_2/both-led", root)
    log = root / "broker-0" / "t-0" / LOG
    for start in range(2 * BATCH, log.stat().st_size, BATCH):
        zero(log, start + RECORDS, 6)
    return root


@pytest.mark.parametrize("command", [replica_diff, plan_command], ids=["replica-diff", "plan"])
def test_an_unreadable_branch_is_kept_as_an_archive(
    command: click.Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(damaged_branch(tmp_path / "evidence"))
    only = ("--topic", "t", "--replica", "broker:0", "--from-offset", "2")
    _, salvaged = asked(salvage_command, ".", *only, "--output", str(tmp_path / "salvaged"))
    assert "nothing written" in salvaged
    _, text = asked(command, ".")
    assert "kafkalog salvage" not in text
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    saving = [line for line in lines if line.startswith(("mkdir ", "tar "))]
    subprocess.run("\n".join(saving), shell=True, check=True)
    (archive,) = Path("SAVED").rglob("t-0-broker-0.tar")
    with tarfile.open(archive) as saved:
        log = saved.extractfile(f"t-0/{LOG}")
        assert log is not None
        assert log.read() == Path(f"broker-0/t-0/{LOG}").read_bytes()


def test_the_script_keeps_the_archive_in_the_folder_of_the_variable(tmp_path: Path) -> None:
    root = damaged_branch(tmp_path / "evidence")
    _, script = asked(plan_command, str(root), "--format", "script")
    saving = [line for line in script.splitlines() if line.startswith("run mkdir")]
    saving += [line for line in script.splitlines() if line.startswith("run tar")]
    assert saving == [
        'run mkdir -p "$SAVED"/plan',
        f'run tar -cf "$SAVED"/plan/t-0-broker-0.tar -C {root}/broker-0 t-0',
    ]
    assert "filled_in SAVED" in script


def test_the_script_says_findings_of_one_kind_once(tmp_path: Path) -> None:
    """All 42 partitions have a high watermark above the end; 41 more messages are no help."""
    root = copied("everything/stopped", tmp_path / "evidence")
    marks = root / "broker-0" / "replication-offset-checkpoint"
    version, count, *rows = marks.read_text().splitlines()
    raised = (f"{name} {int(mark) + 5}" for name, mark in (row.rsplit(" ", 1) for row in rows))
    marks.write_text("\n".join([version, count, *raised, ""]))
    _, script = asked(plan_command, str(root), "--format", "script")
    said = [line for line in script.splitlines() if "KL-304 CRITICAL" in line]
    assert len(said) == 2
    assert "partitions, first" in said[1]
