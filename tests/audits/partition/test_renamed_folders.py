"""Folders renamed to a partition that their broker does not have: copies of a real cluster."""

from __future__ import annotations

import filecmp
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.partition.renamed_folders import renamed_folders
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from fixtures.builder import Replica
    from kafkalog_reader.audits.partition.misnamed import Misnamed

CAPTURE = "s3_2/healed"
"""Brokers 0, 1 and 2 have t-0 and nothing else."""
RENAMED = "KL-014"
CONTRADICTORY = ("KL-310", "KL-417", "KL-012", "KL-903", "KL-520")
COMMANDS = [verify_command, replica_diff, plan_command]
BOTH = (1, 2)


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    root = shutil.copytree(captures.path(CAPTURE), tmp_path / "state")
    (root / "broker-1" / "t-0").rename(root / "broker-1" / "t-7")
    return root


def found_in(root: Path) -> set[Misnamed]:
    evidence = discover([str(root)])
    found = renamed_folders(evidence, ReadRequest(), cluster_metadata(evidence))
    return {each for of_partition in found.values() for each in of_partition}


def codes(root: Path, *options: str) -> list[str]:
    rows = objects(asked(verify_command, str(root), *options, "--format", "json")[1])
    return [row["code"] for row in rows]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_recognises_it_once(renamed: Path, command: click.Command) -> None:
    status, output, *_ = asked(command, str(renamed))
    said = " ".join(output.split())
    assert status == 1
    assert "broker 1 has t-0 in the folder t-7" in said
    assert not any(code in said for code in CONTRADICTORY)
    assert re.search(r"(?<!do not )start brokers? [0-9]", said, re.IGNORECASE) is None


def test_the_printed_command_restores_the_capture(renamed: Path) -> None:
    output = asked(verify_command, str(renamed))[1].replace("\\\n", " ")
    (command,) = (line.strip() for line in output.splitlines() if line.strip().startswith("mv "))
    subprocess.run(command, shell=True, check=True)
    compared = filecmp.dircmp(captures.path(CAPTURE) / "broker-1", renamed / "broker-1")
    assert compared.left_only == compared.right_only == []
    assert RENAMED not in codes(renamed)


@pytest.mark.parametrize("partition", [0, 7])
def test_each_of_its_partitions_reports_it(renamed: Path, partition: int) -> None:
    found = codes(renamed, "--topic", "t", "--partition", str(partition))
    assert found.count(RENAMED) == 1
    assert not {*found} & {*CONTRADICTORY}


def test_no_other_state_of_the_captures_has_such_a_folder() -> None:
    for state in captures.states():
        assert found_in(captures.path(state)) == set(), state


def in_metadata(partition: int, *brokers: int) -> PartitionState:
    return PartitionState(
        replicas=brokers, in_sync=brokers, leader=brokers[0], leader_epoch=0, partition=partition
    )


def built(root: Path, states: list[PartitionState], brokers: dict[int, list[Replica]]) -> Path:
    brokers[1].append(metadata_log(states))
    cluster(root, brokers)
    return root


def test_the_only_copy_is_recognised_because_nothing_else_fits(tmp_path: Path) -> None:
    """Without any other copy to compare; the checkpoints have a row of t-0 and none of t-7."""
    held = replica("a@0/e0 b@1/e0", recovery_point=2, high_watermark=2)
    root = built(tmp_path, [in_metadata(0, 1)], {1: [held]})
    (root / "broker-1" / "t-0").rename(root / "broker-1" / "t-7")
    ((folder, place),) = next(iter(found_in(root))).folders
    assert (folder.partition, place) == (7, ("t", 0))
    found = codes(root)
    assert found.count(RENAMED) == 1
    assert "KL-310" not in found


def test_it_is_reported_where_only_the_lost_partition_is_requested(tmp_path: Path) -> None:
    """Partition 0 of t has the name of another topic; partition 1 of t is sound."""
    zero = replica("a@0/e0 b@1/e0", recovery_point=2, high_watermark=2)
    one = replica("x@0/e0 y@1/e0", recovery_point=2, high_watermark=2, partition=1)
    root = built(tmp_path, [in_metadata(0, 1), in_metadata(1, 1)], {1: [zero, one]})
    (root / "broker-1" / "t-0").rename(root / "broker-1" / "u-0")
    for topic in ("t", "u"):
        found = codes(root, "--topic", topic)
        assert found.count(RENAMED) == 1
        assert "KL-310" not in found


def test_a_folder_that_its_checkpoints_name_has_the_right_name(tmp_path: Path) -> None:
    """The copy of the metadata log is older than the partition."""
    held = replica("a@0/e0 b@1/e0", partition=7, high_watermark=2)
    root = built(tmp_path, [in_metadata(0, 1)], {1: [held]})
    assert found_in(root) == set()


def test_other_records_are_of_another_partition(tmp_path: Path) -> None:
    """Broker 1 lost its folder of t-0, and has a folder of a partition that is unknown here."""
    other = replica("x@0/e0 y@1/e0", partition=0, high_watermark=2, directory="t-7")
    right = replica("a@0/e0 b@1/e0", high_watermark=2)
    root = built(tmp_path, [in_metadata(0, *BOTH)], {1: [other], 2: [right]})
    assert found_in(root) == set()
    assert "KL-417" in codes(root)


def test_a_folder_left_by_a_reassignment_has_the_right_name(tmp_path: Path) -> None:
    """Broker 1 gave t-1 away, and got t-0 while it was down."""
    zero = replica("a@0/e0 b@1/e0", high_watermark=2)
    one = replica("x@0/e0 y@1/e0", partition=1, high_watermark=2)
    states = [in_metadata(0, *BOTH), in_metadata(1, 2)]
    root = built(tmp_path, states, {1: [one], 2: [zero, one]})
    assert found_in(root) == set()


def test_a_folder_of_another_broker_s_partition_is_recognised_by_its_records(
    tmp_path: Path,
) -> None:
    zero = replica("a@0/e0 b@1/e0", high_watermark=2)
    renamed = replica("a@0/e0 b@1/e0", high_watermark=2, directory="t-1")
    one = replica("x@0/e0 y@1/e0", partition=1, high_watermark=2)
    states = [in_metadata(0, *BOTH), in_metadata(1, 2)]
    root = built(tmp_path, states, {1: [renamed], 2: [zero, one]})
    ((folder, place),) = next(iter(found_in(root))).folders
    assert (folder.log_directory.broker_id, folder.partition, place) == (1, 1, ("t", 0))


def test_nothing_is_opened_where_every_folder_is_assigned(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("kafkalog_reader.audits.partition.renamed_folders.topic_id_of", opened)
    monkeypatch.setattr("kafkalog_reader.audits.partition.renamed_folders.is_content_of", opened)
    assert found_in(captures.path(CAPTURE)) == set()


def without_metadata(root: Path) -> Path:
    """Broker 1 has a folder that no checkpoint names; no metadata log says what it should have."""
    zero = replica("a@0/e0 b@1/e0", recovery_point=2, high_watermark=2)
    one = replica("x@0/e0 y@1/e0", recovery_point=2, high_watermark=2, partition=1)
    cluster(root, {broker: [zero, one] for broker in (1, 2, 3)})
    (root / "broker-1" / "t-1").rename(root / "broker-1" / "t-9")
    return root


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_metadata_log_the_checkpoints_show_it(
    tmp_path: Path, command: click.Command
) -> None:
    status, output, *_ = asked(command, str(without_metadata(tmp_path)))
    said = " ".join(output.split())
    assert status == 1
    assert "broker 1 has t-1 in the folder t-9" in said
    assert not any(code in said for code in CONTRADICTORY)


def test_other_brokers_or_a_row_show_that_there_is_such_a_partition(tmp_path: Path) -> None:
    root = without_metadata(tmp_path / "other")
    shutil.copytree(root / "broker-1" / "t-9", root / "broker-2" / "t-9")
    assert found_in(root) == set()
    root = without_metadata(tmp_path / "row")
    rows = root / "broker-1" / "replication-offset-checkpoint"
    rows.write_text("0\n3\nt 0 2\nt 1 2\nt 9 2\n")
    assert found_in(root) == set()


def test_without_a_metadata_log_other_records_are_of_another_partition(tmp_path: Path) -> None:
    root = without_metadata(tmp_path)
    for broker in (2, 3):
        shutil.rmtree(root / f"broker-{broker}" / "t-1")
        shutil.copytree(root / f"broker-{broker}" / "t-0", root / f"broker-{broker}" / "t-1")
    assert found_in(root) == set()
