"""KL-310 of partitions that brokers had and no log directory has: copies of a real cluster."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.audits.catalogue.actions import (
    KEEP_DELETED_FOLDER,
    LOOK_FOR_A_COPY,
    RENAME_FOLDER,
)
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.partition.lost_partitions import lost_partitions
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from kafkalog_reader.audits.integrity.finding import Finding

CAPTURE = "s3_2/both-led"
"""Brokers 0, 1 and 2 have t-0; no broker was shut down cleanly."""
BROKERS = (0, 1, 2)


def found_in(*paths: Path, request: ReadRequest | None = None) -> list[Finding]:
    evidence = discover([str(path) for path in paths])
    return list(lost_partitions(evidence, request or ReadRequest(), cluster_metadata(evidence)))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The capture without the partition."""
    root = shutil.copytree(captures.path(CAPTURE), tmp_path / "state")
    for broker in BROKERS:
        shutil.rmtree(root / f"broker-{broker}" / "t-0")
    return root


def without_checkpoints(root: Path) -> None:
    for path in root.glob("broker-*/*-checkpoint"):
        path.unlink()


def test_a_partition_without_any_copy_is_found(state: Path) -> None:
    without_checkpoints(state)
    (found,) = found_in(state)
    assert (found.severity, found.confidence) == ("C", "possible")
    assert found.message == (
        "according to the metadata log its only replicas are on brokers 0, 1 and 2, and none of "
        "them has a folder of it: they will create empty ones"
    )


def test_it_is_not_critical_if_no_checkpoint_names_it(state: Path) -> None:
    """Such as a topic that was just created."""
    for path in state.glob("broker-*/*-checkpoint"):
        path.write_text("0\n0\n")
    (found,) = found_in(state)
    assert found.severity == "H"


def test_it_is_critical_if_a_checkpoint_shows_that_records_were_committed(state: Path) -> None:
    (found,) = found_in(state)
    assert found.severity == "C"
    assert found.message.endswith("by a checkpoint, records below offset 4 were committed")


@pytest.mark.parametrize("command", [verify_command, replica_diff, plan_command])
def test_commands_end_with_1_and_say_it_once(state: Path, command: click.Command) -> None:
    answer = CliRunner().invoke(command, [str(state)], standalone_mode=False)
    assert answer.return_value == 1
    assert " ".join(answer.stdout.split()).count("none of them has a folder of it") == 1
    assert "there is no such folder" not in answer.stdout


def test_one_copy_is_enough(state: Path) -> None:
    shutil.copytree(captures.path(CAPTURE) / "broker-2" / "t-0", state / "broker-2" / "t-0")
    assert found_in(state) == []


def test_a_broker_that_was_not_supplied_may_have_a_copy(state: Path) -> None:
    shutil.rmtree(state / "broker-2")
    (found,) = found_in(state)
    assert (found.code, found.severity) == ("KL-012", "H")
    assert found.message == (
        "no copy of t-0 was supplied, which the metadata log has on brokers 0, 1 and 2"
    )


def test_of_one_broker_alone_nobody_expects_the_others(state: Path) -> None:
    for broker in BROKERS[1:]:
        shutil.rmtree(state / f"broker-{broker}")
    (found,) = found_in(state)
    assert (found.code, found.severity) == ("KL-012", "I")


def test_with_several_controllers_somebody_looks_at_the_cluster(state: Path) -> None:
    """Broker 1 has no partition here, so that no copy of it is outside an ISR."""
    only = state / "broker-1"
    for broker in (0, 2):
        shutil.rmtree(state / f"broker-{broker}")
    other = shutil.copytree(state / "controller-100", state / "controller-101")
    meta = other / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=100", "node.id=101"))
    (found,) = found_in(only, state / "controller-100", other)
    assert (found.code, found.severity, found.partitions) == ("KL-012", "H", (("t", 0),))


def test_a_copy_of_some_partitions_lacks_none_of_the_others(state: Path) -> None:
    """Neither broker 0 nor 1 has most of the folders that its checkpoints name."""
    for broker in (0, 1):
        root = state / f"broker-{broker}"
        names = "".join(f"u {number} 5\n" for number in range(5))
        for path in root.glob("re*-offset-checkpoint"):
            path.write_text(f"0\n5\n{names}")
        shutil.copytree(captures.path(CAPTURE) / f"broker-{broker}" / "t-0", root / "u-0")
    shutil.rmtree(state / "broker-2")
    assert found_in(state) == []


def test_controllers_alone_have_no_partitions(state: Path) -> None:
    assert found_in(state / "controller-100") == []


def test_the_whole_cluster_has_all_partitions() -> None:
    assert found_in(captures.path(CAPTURE)) == []


def without_metadata(state: Path) -> Path:
    for folder in state.glob("*/__cluster_metadata-0"):
        shutil.rmtree(folder)
    return state


def test_without_the_metadata_log_checkpoints_name_what_is_lost(state: Path) -> None:
    """As in a cluster with ZooKeeper. The capture has a high watermark of 4 on each broker."""
    (found,) = found_in(without_metadata(state))
    assert (found.severity, found.confidence, found.actions) == (
        "C",
        "possible",
        (LOOK_FOR_A_COPY,),
    )
    assert found.message == (
        "no supplied broker has a folder of it, which the checkpoints of brokers 0, 1 and 2 name: "
        "they will create empty ones; by a checkpoint, records below offset 4 were committed"
    )


def test_without_any_row_nothing_is_known(state: Path) -> None:
    without_checkpoints(without_metadata(state))
    assert found_in(state) == []


def test_of_one_broker_without_a_metadata_log_its_directory_says_what_is_missing(
    state: Path,
) -> None:
    without_metadata(state)
    assert found_in(state / "broker-1") == []
    answer = CliRunner().invoke(verify_command, [str(state / "broker-1")], standalone_mode=False)
    assert "KL-310 HIGH" in " ".join(answer.stdout.split())


def deleted_folder(state: Path, end: int) -> Path:
    """A replica that left broker 1, with the first ``end`` of its four batches of equal size."""
    folder = state / "broker-1" / f"t-0.{'0' * 32}-delete"
    shutil.copytree(captures.path(CAPTURE) / "broker-1" / "t-0", folder)
    log = folder / "00000000000000000000.log"
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size // 4 * end)
    return folder


def test_a_deleted_folder_with_the_last_records_leaves_before_a_start(state: Path) -> None:
    """LogManager#loadLog gives a -delete folder to the deletion of logs; seen on 3.9.1."""
    without_metadata(state)
    rows = [*(state / "broker-1").glob("re*-offset-checkpoint")]
    assert len(rows) == 2
    for path in rows:
        path.write_text("0\n0\n")
    folder = deleted_folder(state, 3)
    (found,) = found_in(state)
    assert (found.severity, found.actions[0]) == ("C", KEEP_DELETED_FOLDER)
    assert "on broker 1 may hold its records, but the broker deletes that" in found.message
    target = state / "aside" / "broker-1" / "t-0"
    assert found.repairs == (Move(path=str(folder), target=str(target)),)
    target.parent.mkdir(parents=True)
    folder.rename(target)
    (found,) = found_in(*(state / f"broker-{broker}" for broker in BROKERS))
    assert (found.severity, found.repairs) == ("C", ())
    assert f"moved aside: {target}; what is there ends before offset 3" in found.message


def test_a_deleted_folder_with_all_that_was_committed_is_not_critical(state: Path) -> None:
    deleted_folder(without_metadata(state), 4)
    for path in (state / "broker-1").glob("re*-offset-checkpoint"):
        path.write_text("0\n0\n")
    (found,) = found_in(state)
    assert (found.severity, found.actions[0]) == ("H", KEEP_DELETED_FOLDER)


@pytest.mark.parametrize("command", [verify_command, replica_diff, plan_command])
def test_commands_say_once_what_checkpoints_alone_name(state: Path, command: click.Command) -> None:
    answer = CliRunner().invoke(command, [str(without_metadata(state))], standalone_mode=False)
    assert answer.return_value == 1
    words = " ".join(answer.stdout.split())
    assert words.count("which the checkpoints of brokers 0, 1 and 2 name") == 1
    assert "there is no such folder" not in words


def test_other_topics_are_not_asked_about(state: Path) -> None:
    assert found_in(state, request=ReadRequest(topics=frozenset({"other"}))) == []


def test_a_copy_that_was_moved_aside_is_named(state: Path) -> None:
    aside = state / "aside" / "broker-1" / "t-0"
    shutil.copytree(captures.path(CAPTURE) / "broker-1" / "t-0", aside)
    (found,) = found_in(*(state / f"broker-{broker}" for broker in BROKERS))
    assert found.severity == "H"
    assert f"moved aside: {aside}" in found.message


def test_a_folder_that_is_not_loaded_is_named(state: Path) -> None:
    stray = f"t-0.{'0' * 32}-stray"
    shutil.copytree(captures.path(CAPTURE) / "broker-1" / "t-0", state / "broker-1" / stray)
    (found,) = found_in(state)
    assert f"{stray} on broker 1 may hold its records" in found.message
    assert (found.severity, found.actions) == ("H", (RENAME_FOLDER,))
    root = state / "broker-1"
    assert found.repairs == (Move(path=str(root / stray), target=str(root / "t-0")),)


def test_a_folder_of_another_topic_is_not_given_its_name(state: Path) -> None:
    stray = state / "broker-1" / f"t-0.{'0' * 32}-stray"
    shutil.copytree(captures.path(CAPTURE) / "broker-1" / "t-0", stray)
    (stray / "partition.metadata").write_text("version: 0\ntopic_id: 5vLx2mWbQ7yT3hJ1cRk0pA")
    (found,) = found_in(state)
    assert (found.actions, found.repairs) == ((LOOK_FOR_A_COPY,), ())
