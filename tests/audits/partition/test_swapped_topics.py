"""Folders of different topics whose names were exchanged on one broker: built states."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

LOGS = {
    "a": "a@0/e0 b@1/e0",
    "b": "r@0/e0 s@1/e0 t@2/e0",
    "c": "x@0/e0",
    "e": "l@0/e0 m@1/e0 n@2/e0",
}
SWAPPED = "KL-014"


def written(root: Path, brokers: int, names: dict[str, str]) -> Path:
    """Brokers that shut down cleanly; on the last one folders get the names of others."""
    held = [
        replica(
            log,
            topic=topic,
            topic_id=topic * 21 + "A",
            high_watermark=len(log.split()),
            recovery_point=len(log.split()),
        )
        for topic, log in LOGS.items()
    ]
    roots = cluster(root, dict.fromkeys(range(brokers), held), clean=range(brokers))
    last = roots[brokers - 1]
    for topic in names:
        (last / f"{topic}-0").rename(root / topic)
    for topic, name in names.items():
        (root / topic).rename(last / f"{name}-0")
    return root


def found_in(root: Path) -> list[dict[str, Any]]:
    rows = objects(asked(verify_command, str(root), "--format", "json")[1])
    return [row for row in rows if row["severity"] in ("C", "H")]


def moves_of(root: Path) -> list[str]:
    output = asked(verify_command, str(root))[1].replace("\\\n", " ")
    lines = (line.strip() for line in output.splitlines())
    return [line for line in lines if line.startswith("mv ")]


@pytest.mark.parametrize(
    "names", [{"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a"}], ids=["two", "three"]
)
def test_one_finding_says_which_folder_is_whose(tmp_path: Path, names: dict[str, str]) -> None:
    root = written(tmp_path, 3, names)
    (found,) = found_in(root)
    assert found["code"] == SWAPPED
    assert found["confidence"] == "likely"
    assert "on broker 2, the folders a-0" in found["message"]
    for command in (replica_diff, plan_command):
        output = asked(command, str(root))[1]
        assert SWAPPED in output
        assert "move the partition directory aside" not in " ".join(output.split())


@pytest.mark.parametrize(
    "names", [{"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a"}], ids=["two", "three"]
)
def test_the_printed_commands_put_it_right(tmp_path: Path, names: dict[str, str]) -> None:
    root = written(tmp_path, 3, names)
    for command in moves_of(root):
        subprocess.run(["sh", "-c", command], check=True)
    assert found_in(root) == []
    assert asked(replica_diff, str(root))[0] == 0


def test_of_two_brokers_either_may_be_wrong(tmp_path: Path) -> None:
    root = written(tmp_path, 2, {"b": "e", "e": "b"})
    found = [each for each in found_in(root) if each["code"] == SWAPPED]
    assert [each["confidence"] for each in found] == ["possible"]
    assert "on broker 0 or broker 1" in found[0]["message"]
    assert moves_of(root) == []


def test_the_checkpoints_show_which_of_two_brokers_is_wrong(tmp_path: Path) -> None:
    """The logs of a and b end at 2 and 3, and so do their rows."""
    (found,) = found_in(written(tmp_path, 2, {"a": "b", "b": "a"}))
    assert (found["code"], found["confidence"]) == (SWAPPED, "likely")
    assert found["message"].startswith("on broker 1, the folders a-0 and b-0")


def test_exchanged_files_are_no_exchanged_folders(tmp_path: Path) -> None:
    """Only ``partition.metadata`` is in the wrong folder: the records are those of the names."""
    root = written(tmp_path, 3, {})
    files = [root / "broker-2" / f"{topic}-0" / "partition.metadata" for topic in "ab"]
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, reversed(contents), strict=True):
        file.write_bytes(content)
    assert SWAPPED not in {each["code"] for each in found_in(root)}


def test_a_topic_that_was_made_again_is_no_exchange(tmp_path: Path) -> None:
    root = written(tmp_path, 3, {})
    file = root / "broker-2" / "a-0" / "partition.metadata"
    file.write_text(file.read_text().replace("a" * 21, "d" * 21))
    assert SWAPPED not in {each["code"] for each in found_in(root)}


def test_a_folder_without_its_counterpart_is_no_exchange(tmp_path: Path) -> None:
    root = written(tmp_path, 3, {"a": "b", "b": "a"})
    shutil.rmtree(root / "broker-2" / "b-0")
    assert SWAPPED not in {each["code"] for each in found_in(root)}
