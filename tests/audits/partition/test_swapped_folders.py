"""Folders of one broker whose names were exchanged: built states."""

from __future__ import annotations

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

    import click

    from fixtures.builder import Replica

LOGS = ("a@0/e0 b@1/e0 c@2/e0", "r@0/e0 s@1/e0 t@2/e0 u@3/e0", "x@0/e0 y@1/e0")
ENDS = (3, 4, 2)
SWAPPED = "KL-014"


SOUND = (0, 1, 2)
EXCHANGED = (1, 0, 2)
CIRCLE = (1, 2, 0)


def held(partition: int) -> Replica:
    end = ENDS[partition]
    return replica(LOGS[partition], partition=partition, high_watermark=end, recovery_point=end)


def written(root: Path, *brokers: tuple[int, ...]) -> Path:
    """Brokers that shut down cleanly; then folder N of each gets the name of the given one."""
    cluster(
        root,
        {node: [held(0), held(1), held(2)] for node in range(len(brokers))},
        clean=range(len(brokers)),
    )
    for node, names in enumerate(brokers):
        for partition in SOUND:
            (root / f"broker-{node}/t-{partition}").rename(root / f"{node}-{partition}")
        for partition, name in enumerate(names):
            (root / f"{node}-{partition}").rename(root / f"broker-{node}/t-{name}")
    return root


def found_in(root: Path, *options: str) -> list[dict[str, Any]]:
    rows = objects(asked(verify_command, str(root), *options, "--format", "json")[1])
    return [row for row in rows if row["severity"] in ("C", "H")]


def commands_of(root: Path) -> list[str]:
    output = asked(verify_command, str(root))[1].replace("\\\n", " ")
    lines = map(str.strip, output.splitlines())
    return [line for line in lines if line.startswith(("mv ", "mkdir "))]


@pytest.mark.parametrize("command", [verify_command, replica_diff, plan_command])
def test_every_command_says_which_folders(tmp_path: Path, command: click.Command) -> None:
    root = written(tmp_path, SOUND, EXCHANGED, SOUND)
    status, output, *_ = asked(command, str(root))
    said = " ".join(output.split())
    assert status == 1
    assert "on broker 1, the folders t-0 and t-1 have each other's names" in said
    assert not any(code in said for code in ("KL-505", "KL-508", "KL-524", "KL-903", "KL-304"))


def test_it_is_one_finding_and_nothing_else_is_wrong(tmp_path: Path) -> None:
    (found,) = found_in(written(tmp_path, SOUND, EXCHANGED, SOUND))
    assert (found["code"], found["severity"], found["confidence"]) == (SWAPPED, "C", "likely")
    assert "the first batches of t-0 are those of t-1 on brokers 0 and 2" in found["message"]
    assert "the log ends are those of the checkpoints" in found["message"]


@pytest.mark.parametrize("partition", [0, 1])
def test_each_of_both_partitions_reports_it(tmp_path: Path, partition: int) -> None:
    root = written(tmp_path, SOUND, EXCHANGED, SOUND)
    (found,) = found_in(root, "--topic", "t", "--partition", str(partition))
    assert found["code"] == SWAPPED


def test_the_third_partition_is_not_concerned(tmp_path: Path) -> None:
    root = written(tmp_path, SOUND, EXCHANGED, SOUND)
    assert found_in(root, "--topic", "t", "--partition", "2") == []


@pytest.mark.parametrize("state", [EXCHANGED, CIRCLE])
def test_the_printed_commands_give_the_folders_their_names(
    tmp_path: Path, state: tuple[int, ...]
) -> None:
    root = written(tmp_path / "state", SOUND, state, SOUND)
    for command in commands_of(root):
        subprocess.run(command, shell=True, check=True)
    right = written(tmp_path / "right", SOUND, SOUND, SOUND)
    for partition in range(3):
        log = f"broker-1/t-{partition}/{0:020}.log"
        assert (root / log).read_bytes() == (right / log).read_bytes()
    assert found_in(root) == []


def test_of_two_copies_the_checkpoints_show_which(tmp_path: Path) -> None:
    (found,) = found_in(written(tmp_path, SOUND, EXCHANGED))
    assert (found["brokerId"], found["confidence"]) == (1, "likely")


def test_where_nothing_shows_which_no_command_is_printed(tmp_path: Path) -> None:
    root = written(tmp_path, SOUND, EXCHANGED)
    for path in root.glob("broker-*/*-offset-checkpoint"):
        path.unlink()
    found = [each for each in found_in(root) if each["code"] == SWAPPED]
    assert [each["confidence"] for each in found] == ["possible"]
    assert "on broker 0 or broker 1, the folders t-0 and t-1" in found[0]["message"]
    assert commands_of(root) == []


def test_checkpoints_outweigh_two_brokers_that_agree(tmp_path: Path) -> None:
    """Two of three brokers have the names exchanged."""
    root = written(tmp_path, SOUND, EXCHANGED, EXCHANGED)
    (found,) = (each for each in found_in(root) if each["code"] == SWAPPED)
    assert "on broker 0 or broker 1 or broker 2, the folders" in found["message"]
    assert commands_of(root) == []


def test_other_records_in_one_partition_are_a_conflict(tmp_path: Path) -> None:
    """Broker 1 holds records in t-0 that no broker has in any partition."""
    other = replica("k@0/e0 l@1/e0 m@2/e0", high_watermark=3, recovery_point=3)
    right = [held(0), held(1), held(2)]
    cluster(tmp_path, {0: right, 1: [other, *right[1:]], 2: right}, clean=range(3))
    codes = {each["code"] for each in found_in(tmp_path)}
    assert "KL-505" in codes
    assert SWAPPED not in codes


def test_a_fork_after_equal_records_is_a_fork(tmp_path: Path) -> None:
    one = replica("a@0/e0 b@1/e0 c@2/e1", high_watermark=2)
    other = replica("a@0/e0 b@1/e0 d@2/e2", high_watermark=2)
    alike = replica("a@0/e0 b@1/e0", high_watermark=2, partition=1)
    cluster(tmp_path, {0: [one, alike], 1: [other, alike]})
    codes = {each["code"] for each in found_in(tmp_path)}
    assert "KL-503" in codes
    assert SWAPPED not in codes


def test_nothing_is_opened_where_the_copies_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("kafkalog_reader.audits.partition.swapped_folders.is_content_of", opened)
    assert found_in(written(tmp_path, SOUND, SOUND, SOUND)) == []
