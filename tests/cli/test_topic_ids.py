"""A directory without a topic id or with a wrong one: all commands print the same repair."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

import pytest

from fixtures import captures
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import click

DELETED: Final = "AAAAAAAAAAAAAAAAAAAADg"
RESTORE: Final = "restore partition.metadata"
ASIDE: Final = "move the partition directory aside"
SHELL: Final = ("mkdir ", "mv ", "printf ")


@pytest.fixture
def healed(tmp_path: Path) -> Path:
    """Three identical copies of t-0, and the metadata log of their cluster."""
    return shutil.copytree(captures.path("s3_2/healed"), tmp_path / "evidence")


@dataclass(frozen=True)
class Said:
    """The output of the commands for some files."""

    verify: str
    plan: str
    replica_diff: str


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str]) -> Callable[[Path], Said]:
    """Run all commands."""

    def answer(command: click.Command, *arguments: str) -> str:
        status(command, list(arguments))
        return capfd.readouterr().out

    def ask(root: Path) -> Said:
        path = str(root)
        return Said(
            verify=answer(kafkalog, "verify", path),
            plan=answer(kafkalog, "plan", path),
            replica_diff=answer(replica_diff, path),
        )

    return ask


def words(text: str) -> str:
    return " ".join(text.split())


def commands_in(text: str) -> str:
    lines = text.replace("\\\n", " ").splitlines()
    # a plan repeats them beside the finding
    return "\n".join(dict.fromkeys(words(e) for e in lines if e.strip().startswith(SHELL)))


def test_a_directory_of_another_topic_is_moved_away(
    healed: Path, ask: Callable[[Path], Said]
) -> None:
    folder = healed / "broker-0" / "t-0"
    shutil.rmtree(folder)
    shutil.copytree(captures.path("s1/healed") / "broker-0" / "t-0", folder)
    foreign = (folder / "partition.metadata").read_text()
    assert foreign != (healed / "broker-1" / "t-0" / "partition.metadata").read_text()
    texts = astuple(ask(healed))
    for text in texts:
        assert RESTORE not in words(text)
        assert ASIDE in words(text)
    commands = {commands_in(text) for text in texts}
    assert len(commands) == 1
    subprocess.run(["bash", "-e", "-c", commands.pop()], check=True)
    assert not folder.exists()
    (kept,) = healed.glob("**/aside/**/partition.metadata")
    assert kept.read_text() == foreign
    start = "Start brokers 1 and 2, then broker 0. Nothing is lost then"
    assert ask(healed).plan.startswith(start)


def test_a_missing_topic_id_is_written(healed: Path, ask: Callable[[Path], Said]) -> None:
    path = healed / "broker-1" / "t-0" / "partition.metadata"
    lines = path.read_text().split("\n")
    path.unlink()
    said = ask(healed)
    for text in (said.verify, said.replica_diff):
        assert RESTORE in words(text)
        assert ASIDE not in words(text)
    assert commands_in(said.verify) == commands_in(said.replica_diff)
    subprocess.run(["bash", "-e", "-c", commands_in(said.verify)], check=True)
    assert path.read_text().split("\n")[:2] == lines[:2]
    assert ask(healed).verify.startswith("sound: nothing wrong")


def test_a_directory_of_a_deleted_topic_gets_no_topic_id(
    healed: Path, ask: Callable[[Path], Said]
) -> None:
    """The metadata log has no topic with this id: no file can make a broker keep the directory."""
    for broker in (0, 1, 2):
        directory = healed / f"broker-{broker}" / "gone-0"
        (healed / f"broker-{broker}" / "t-0").rename(directory)
        (directory / "partition.metadata").write_text(f"version: 0\ntopic_id: {DELETED}\n")
    for text in astuple(ask(healed)):
        assert "KL-417" in text
        assert RESTORE not in words(text)
        assert ASIDE not in words(text)
        assert "-stray and the partition starts empty" not in words(text)
    said = ask(healed)
    for text in (said.verify, said.replica_diff):
        assert "was deleted, or the partition moved to other brokers, on purpose" in words(text)


def test_a_folder_of_another_topic_is_not_copied_again_where_no_other_broker_has_it(
    tmp_path: Path, ask: Callable[[Path], Said]
) -> None:
    root = shutil.copytree(captures.path("everything/killed"), tmp_path / "evidence")
    folder = root / "broker-0" / "codec-gzip-0"
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {DELETED}\n")
    said = ask(root)
    for text in astuple(said):
        assert "once another replica leads" not in words(text)
    assert "save its records before broker 0 is started" in words(said.verify)


def test_a_topic_id_that_nothing_supplied_names_is_asked_for(
    tmp_path: Path, ask: Callable[[Path], Said]
) -> None:
    root = shutil.copytree(captures.path("everything/killed"), tmp_path / "evidence")
    shutil.rmtree(root / "controller-100")
    shutil.rmtree(root / "broker-0" / "__cluster_metadata-0")
    (root / "broker-0" / "codec-gzip-0" / "partition.metadata").unlink()
    said = ask(root)
    for text in (said.verify, said.replica_diff):
        assert "where no command follows, supply the metadata log" in words(text)
