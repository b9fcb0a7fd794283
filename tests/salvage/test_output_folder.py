"""Folders of a salvage: marked while unfinished, never in an input, and none is overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.output_folder import OutputFolder

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.evidence import Evidence


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    partition = tmp_path / "in" / "t-0"
    partition.mkdir(parents=True)
    (partition / f"{0:020}.log").write_bytes(b"")
    return discover([str(tmp_path / "in")])


def of(topic: str | None, partition: int | None = None) -> PartitionDirectory:
    root = LogDirectory(path="/logs")
    return PartitionDirectory(path="/logs/x", log_directory=root, topic=topic, partition=partition)


def test_names_say_what_is_unfinished_and_none_is_used_twice(
    tmp_path: Path, evidence: Evidence
) -> None:
    output = OutputFolder(str(tmp_path / "out"), evidence)
    folders = [output.begin(each) for each in (of("t", 0), of("t", 0), of("t", 0), of(None))]
    assert [folder.name for folder in folders] == [
        "t-0.unfinished", "t-0~2.unfinished", "t-0~3.unfinished", "unnamed.unfinished",
    ]  # fmt: skip
    (folders[1] / "file").write_text("")
    assert output.finish(folders[1]) == tmp_path / "out" / "t-0~2"
    assert output.finish(folders[0]) is None
    assert not folders[0].exists()
    assert output.begin(of("t", 0)).name == "t-0~4.unfinished"  # a finished name stays taken
    assert output.doubtful(folders[2]) == tmp_path / "out" / "doubtful-offsets" / "t-0~3"


@pytest.mark.parametrize("inside", ["in", "in/t-0", "in/new/folder", "out/../in/t-0"])
def test_inputs_are_never_written_to(tmp_path: Path, evidence: Evidence, inside: str) -> None:
    with pytest.raises(UsageError, match="is an input"):
        OutputFolder(str(tmp_path / inside), evidence)


def test_a_link_into_an_input_is_seen_through(tmp_path: Path, evidence: Evidence) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "in")
    with pytest.raises(UsageError, match=r"option export: \S*link/new lies in"):
        OutputFolder(str(tmp_path / "link" / "new"), evidence, option="export")


def test_what_is_there_is_kept(tmp_path: Path, evidence: Evidence) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        OutputFolder(str(tmp_path / "full"), evidence)
    with pytest.raises(UsageError, match="is a file"):
        OutputFolder(str(tmp_path / "full" / "mine"), evidence)
    with pytest.raises(UsageError, match="cannot write"):
        OutputFolder(str(tmp_path / "full" / "mine" / "below"), evidence)
    assert (tmp_path / "full" / "mine").read_text() == "mine"


def test_only_folders_made_for_it_are_discarded_and_only_empty_ones(
    tmp_path: Path, evidence: Evidence
) -> None:
    (tmp_path / "there").mkdir()
    output = OutputFolder(str(tmp_path / "there/a/b"), evidence)
    output.discard()
    assert list((tmp_path / "there").iterdir()) == []
    OutputFolder(str(tmp_path / "there"), evidence).discard()
    assert (tmp_path / "there").is_dir()
    kept = OutputFolder(str(tmp_path / "there/a/b"), evidence)
    kept.write_manifest("{}\n")
    kept.discard()
    assert (tmp_path / "there/a/b/manifest.json").read_text() == "{}\n"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("", "option output: '' is not a folder"),
        ("a\0b", "is not a folder"),
        ("x" * 300, "cannot write x*: File name too long"),
    ],
)
def test_what_cannot_be_a_folder_is_refused(path: str, problem: str, evidence: Evidence) -> None:
    with pytest.raises(UsageError, match=problem):
        OutputFolder(path, evidence)
