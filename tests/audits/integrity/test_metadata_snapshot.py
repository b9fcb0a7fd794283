"""KL-319: a node does not start with a damaged snapshot of the metadata log.

Controllers of 4.2.0 ended with a CorruptRecordException where the first 200 bytes were zeros, and
started without the file, because their logs began at offset 0.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, Final

import pytest
from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status
from kafkalog_reader.cli.verify import verify_command

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = f"{0:020}-{0:010}.checkpoint"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The metadata log of a controller; its broker is beside it."""
    state = tmp_path / "state"
    shutil.copytree(captures.path("everything/stopped"), state)
    return state / "controller-100" / "__cluster_metadata-0"


def found(folder: Path) -> list[dict[str, Any]]:
    arguments = [str(folder.parent), "--format", "json"]
    rows = CliRunner().invoke(verify_command, arguments, standalone_mode=False).stdout
    return [row for row in map(json.loads, rows.splitlines()) if row["code"] == "KL-319"]


def overwrite(snapshot: Path) -> None:
    snapshot.write_bytes(bytes(200) + snapshot.read_bytes()[200:])


def flip(snapshot: Path) -> None:
    content = bytearray(snapshot.read_bytes())
    content[80] ^= 1
    snapshot.write_bytes(content)


def cut(snapshot: Path) -> None:
    """To the first of its batches, the header."""
    content = snapshot.read_bytes()
    length = int.from_bytes(content[8:12]) + 12
    assert length < len(content)
    snapshot.write_bytes(content[:length])


def drop_below(offset: int, folder: Path) -> None:
    """As the deletion of the first segments leaves the log."""
    (log,) = folder.glob("*.log")
    content, position = log.read_bytes(), 0
    while (first := int.from_bytes(content[position : position + 8])) < offset:
        position += int.from_bytes(content[position + 8 : position + 12]) + 12
    for path in folder.glob(f"{log.stem}.*index"):
        path.unlink()
    log.unlink()
    (folder / f"{first:020}.log").write_bytes(content[position:])


@pytest.mark.parametrize(("damage", "severity"), [(overwrite, "H"), (flip, "H"), (cut, "C")])
def test_a_damaged_snapshot_is_found(damage: Any, severity: str, folder: Path) -> None:
    """No start notices one that is cut between batches: nodes go on without its rest."""
    assert found(folder) == []
    damage(folder / NAME)
    (row,) = found(folder)
    assert (row["severity"], row["confidence"]) == (severity, "proven")
    assert row["file"] == f"__cluster_metadata-0/{NAME}"


def test_only_the_newest_one_is_loaded(folder: Path) -> None:
    shutil.copy(folder / NAME, folder / f"{2:020}-{1:010}.checkpoint")
    overwrite(folder / NAME)
    assert found(folder) == []


def test_verify_and_plan_agree_about_it(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state = str(folder.parent.parent)
    before = status(kafkalog, ["plan", state])
    overwrite(folder / NAME)
    capfd.readouterr()
    assert status(kafkalog, ["verify", state]) == 1
    said = capfd.readouterr().out
    assert said.startswith("not sound:")
    assert f"mv {folder / NAME} " in " ".join(said.replace("\\\n", "").split())
    assert status(kafkalog, ["plan", state]) == 1
    said = capfd.readouterr().out
    assert "Nothing to do" not in said
    assert "KL-319" in said
    assert before == 0


@pytest.mark.parametrize("is_whole", [True, False])
def test_only_a_log_from_offset_0_does_without_it(
    folder: Path, capfd: pytest.CaptureFixture[str], *, is_whole: bool
) -> None:
    newer = folder / f"{10:020}-{1:010}.checkpoint"
    shutil.copy(folder / NAME, newer)
    if not is_whole:
        drop_below(10, folder)
    overwrite(newer)
    status(kafkalog, ["verify", str(folder.parent), "--verbose"])
    said = " ".join(capfd.readouterr().out.replace("\\\n", "").split())
    assert "KL-319 HIGH" in said
    assert (f"mv {newer} " in said) is is_whole
