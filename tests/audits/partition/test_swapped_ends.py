"""Folders of a single broker whose names were exchanged: built states."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    import click

Place = tuple[str, int]
LOGS = ("a@0/e0 b@1/e0", "r@0/e0 s@1/e0 t@2/e0", "x@0/e0 y@1/e0 z@2/e0")
PARTITIONS: tuple[Place, ...] = (("t", 0), ("t", 1))
TOPICS: tuple[Place, ...] = (("a", 0), ("b", 0))
SWAPPED = "KL-014"


def folder(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


def written(
    root: Path,
    places: Sequence[Place],
    *,
    is_clean: bool = True,
    has_metadata: bool = False,
    is_swapped: bool = True,
) -> Path:
    """One broker; the first two folders then get each other's names."""
    held = [
        replica(
            log,
            topic=topic,
            partition=partition,
            topic_id=topic * 21 + "A",
            high_watermark=len(log.split()),
            recovery_point=len(log.split()) if is_clean else 0,
        )
        for (topic, partition), log in zip(places, LOGS, strict=False)
    ]
    states = [
        PartitionState(
            topic=topic, partition=partition, topic_id=topic * 21 + "A",
            replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0,
        )
        for topic, partition in places
    ]  # fmt: skip
    controller = {100: [metadata_log(states)]} if has_metadata else {}
    broker = cluster(root, {0: held, **controller}, clean=(0,) if is_clean else ())[0]
    if is_swapped:
        one, other = (broker / folder(each) for each in places[:2])
        one.rename(broker / "waiting")
        other.rename(one)
        (broker / "waiting").rename(other)
    return root


def found_in(root: Path) -> list[dict[str, Any]]:
    rows = objects(asked(verify_command, str(root), "--format", "json")[1])
    return [row for row in rows if row["severity"] in ("C", "H")]


@pytest.mark.parametrize("has_metadata", [True, False])
@pytest.mark.parametrize("places", [PARTITIONS, TOPICS], ids=["partitions", "topics"])
def test_one_finding_names_both_folders(
    tmp_path: Path, places: Sequence[Place], *, has_metadata: bool
) -> None:
    root = written(tmp_path, places, has_metadata=has_metadata)
    (found,) = found_in(root)
    one, other = map(folder, places)
    assert (found["code"], found["confidence"]) == (SWAPPED, "likely")
    assert f"on broker 0, the folders {one} and {other} have each other's names" in found["message"]


@pytest.mark.parametrize("command", [replica_diff, plan_command])
@pytest.mark.parametrize("places", [PARTITIONS, TOPICS], ids=["partitions", "topics"])
def test_no_command_compares_or_plans_by_the_wrong_names(
    tmp_path: Path, places: Sequence[Place], command: click.Command
) -> None:
    output = " ".join(asked(command, str(written(tmp_path, places)))[1].split())
    assert f"({SWAPPED})" in output
    assert "start broker" not in output.lower()
    assert "KL-304" not in output  # no record is gone


@pytest.mark.parametrize("places", [PARTITIONS, TOPICS], ids=["partitions", "topics"])
def test_the_printed_commands_put_it_right(tmp_path: Path, places: Sequence[Place]) -> None:
    root = written(tmp_path, places, has_metadata=True)
    lines = asked(verify_command, str(root))[1].replace("\\\n", " ").splitlines()
    for line in map(str.strip, lines):
        if line.startswith("mv "):
            subprocess.run(["/bin/sh", "-c", line], check=True)
    assert found_in(root) == []


@pytest.mark.parametrize("places", [PARTITIONS, TOPICS], ids=["partitions", "topics"])
def test_after_a_crash_nothing_proves_it(tmp_path: Path, places: Sequence[Place]) -> None:
    """A log may then end above its recovery point, and another one may have lost its end."""
    assert SWAPPED not in {
        row["code"] for row in found_in(written(tmp_path, places, is_clean=False))
    }


def test_a_log_that_lost_its_end_is_not_another_one(tmp_path: Path) -> None:
    """It ends where another one should end, which ends there, too."""
    root = written(tmp_path, PARTITIONS, is_swapped=False)
    log = root / "broker-0" / "t-1" / f"{0:020}.log"
    content = log.read_bytes()
    log.write_bytes(content[: len(content) // 3 * 2])
    codes = {row["code"] for row in found_in(root)}
    assert "KL-304" in codes
    assert SWAPPED not in codes


def test_of_two_that_may_be_the_other_one_none_is_named(tmp_path: Path) -> None:
    """Both t-1 and t-2 ended at 3: nothing says which of them is in the folder t-0."""
    root = written(tmp_path, (*PARTITIONS, ("t", 2)), is_swapped=False)
    broker = root / "broker-0"
    log = f"{0:020}.log"
    short = (broker / "t-0" / log).read_bytes()
    (broker / "t-0" / log).write_bytes((broker / "t-1" / log).read_bytes())
    for each in ("t-1", "t-2"):
        (broker / each / log).write_bytes(short)
    assert SWAPPED not in {row["code"] for row in found_in(root)}
