"""Findings about what was supplied: missing replicas, node ids, times of copies."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.catalogue.actions import (
    NOTHING_TO_DO,
    RENAME_FOLDER,
    START_WITHOUT_CHECKPOINT,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
from kafkalog_reader.audits.tables.findings import audited
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import CLEAN_SHUTDOWN
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

CAPTURE = captures.path("s3_2/both-led")
AB = "a@0/e0 b@1/e0"


def found_in(*paths: Path | str, topic: str | None = None) -> list[Finding]:
    """The findings of each copy, and those about what was supplied."""
    findings = table("findings")
    asked = request(findings, topic=topic)
    units = findings.units(discover([str(path) for path in paths]), asked)
    return [each for unit in units for each, _ in verify(unit, asked).findings]


def of_code(found: list[Finding], code: str) -> list[Finding]:
    return [each for each in found if each.code == code]


def test_all_of_a_cluster_lacks_nothing() -> None:
    codes = {each.code for each in found_in(CAPTURE)}
    assert codes.isdisjoint({"KL-008", "KL-012", "KL-310", "KL-312"})


def test_a_broker_of_the_assignment_was_not_supplied() -> None:
    paths = [path for path in CAPTURE.iterdir() if path.name != "broker-2"]
    (found,) = of_code(found_in(*paths, topic="t"), "KL-012")
    assert (found.severity, found.confidence) == ("M", "proven")
    assert dict(found.evidence)["expected"] == "2"


def test_one_broker_alone_is_reported_and_not_blamed() -> None:
    (found,) = of_code(
        found_in(CAPTURE / "broker-1", CAPTURE / "controller-100", topic="t"), "KL-012"
    )
    assert found.severity == "I"


def test_one_broker_outside_the_isr_is_severe() -> None:
    """By the metadata log, the ISR is brokers 1 and 2, with leader epoch 1."""
    (found,) = of_code(
        found_in(CAPTURE / "broker-0", CAPTURE / "controller-100", topic="t"), "KL-012"
    )
    assert found.severity == "H"
    assert "outside the in-sync replicas (brokers 1 and 2)" in found.message


def test_an_assigned_replica_whose_folder_is_gone(tmp_path: Path) -> None:
    shutil.copytree(CAPTURE, tmp_path / "all")
    shutil.rmtree(tmp_path / "all" / "broker-1" / "t-0")
    (found,) = of_code(found_in(tmp_path / "all", topic="t"), "KL-310")
    assert found.severity == "H"
    assert found.directory is not None
    assert found.directory.log_directory.broker_id == 1


def test_a_folder_that_checkpoints_and_the_assignment_name_is_missed_once(tmp_path: Path) -> None:
    shutil.copytree(CAPTURE, tmp_path / "all")
    shutil.rmtree(tmp_path / "all" / "broker-1" / "t-0")
    (found,) = of_code(found_in(tmp_path / "all"), "KL-310")
    assert "which its checkpoints and the metadata log name" in found.message
    assert found.confidence == "proven"
    for name in ("replication-offset-checkpoint", "recovery-point-offset-checkpoint"):
        (tmp_path / "all" / "broker-1" / name).write_text("0\n0\n")
    (found,) = of_code(found_in(tmp_path / "all"), "KL-310")
    assert dict(found.evidence)["brokers"] == "1"


def with_rows_of_another_broker(root: Path) -> None:
    """By the metadata log only broker 2 has t-1; the checkpoints of broker 1 name it, too."""
    states = [
        PartitionState(replicas=(1, 2), in_sync=(1, 2), leader=1, leader_epoch=0),
        PartitionState(replicas=(2,), in_sync=(2,), leader=2, leader_epoch=0, partition=1),
    ]
    zero, one = replica(AB, high_watermark=2), replica(AB, high_watermark=2, partition=1)
    cluster(root, {1: [zero, one, metadata_log(states)], 2: [zero, one]})
    shutil.rmtree(root / "broker-1" / "t-1")


def test_a_row_of_a_partition_that_other_brokers_have_is_no_missing_folder(tmp_path: Path) -> None:
    with_rows_of_another_broker(tmp_path)
    found = found_in(tmp_path)
    assert of_code(found, "KL-310") == []
    (row,) = of_code(found, "KL-309")
    assert row.severity == "I"
    assert row.message.endswith("and needs none: according to the metadata log it is on broker 2")


def test_neither_is_it_of_one_broker_alone(tmp_path: Path) -> None:
    with_rows_of_another_broker(tmp_path)
    found = found_in(tmp_path / "broker-1")
    assert of_code(found, "KL-310") == []
    (row,) = of_code(found, "KL-309")
    assert row.message.startswith("t-1: named by")


def test_other_partitions_of_the_topic_have_more_replicas(tmp_path: Path) -> None:
    first, second = (replica(AB, partition=number, high_watermark=2) for number in (0, 1))
    cluster(tmp_path, {0: [first, second], 1: [first, second], 2: [first]})
    (found,) = of_code(found_in(tmp_path), "KL-012")
    assert (found.severity, found.confidence) == ("L", "possible")
    assert dict(found.evidence)["expected"] == "2"
    folder = next(tmp_path.glob("*2/t-0"))
    shutil.copytree(folder, folder.with_name("t-1.8f2c1d3e4b5a69788796a5b4c3d2e1f0-delete"))
    assert of_code(found_in(tmp_path), "KL-012") == []  # reassigned: the broker deletes it


def test_a_replica_with_a_wrong_cluster_id_was_supplied(tmp_path: Path) -> None:
    """KL-008 says that the id is wrong; without it the broker's partitions would be missing."""
    shutil.copytree(CAPTURE, tmp_path / "s")
    meta = tmp_path / "s" / "broker-2" / "meta.properties"
    lines = meta.read_text().splitlines()
    changed = [e.replace("cluster.id=", "cluster.id=X") if "cluster.id" in e else e for e in lines]
    meta.write_text("\n".join(changed))
    found = found_in(tmp_path / "s")
    assert of_code(found, "KL-008")
    assert of_code(found, "KL-012") == []


def test_a_topic_with_fewer_replicas_than_brokers_lacks_none(tmp_path: Path) -> None:
    first, second = (replica(AB, partition=number, high_watermark=2) for number in (0, 1))
    cluster(tmp_path, {0: [first], 1: [first, second], 2: [second]})
    assert of_code(found_in(tmp_path), "KL-012") == []


def test_of_a_partial_copy_no_folder_is_missed(tmp_path: Path) -> None:
    source = captures.path("everything/stopped/broker-0")
    shutil.copytree(source, tmp_path / "broker-0")
    kept = {"codec-none-0", "codec-lz4-0"}
    for folder in (tmp_path / "broker-0").iterdir():
        if folder.is_dir() and folder.name not in kept:
            shutil.rmtree(folder)
    (found,) = of_code(found_in(tmp_path), "KL-310")
    assert (found.severity, found.confidence) == ("L", "possible")
    rows = (source / "replication-offset-checkpoint").read_text().splitlines()[2:]
    named = {row.rsplit(" ", 1)[0] for row in rows if not row.startswith("__cluster_metadata")}
    assert dict(found.evidence)["missing"] == str(len(named) - len(kept))


def test_a_broker_that_says_another_node_id_than_its_label(tmp_path: Path) -> None:
    (root,) = cluster(tmp_path, {4: replica(AB, high_watermark=2)}).values()
    assert of_code(found_in(f"4={root}"), "KL-312") == []
    (found,) = of_code(found_in(f"5={root}"), "KL-312")
    assert (found.severity, found.file) == ("H", "meta.properties")


def test_copies_of_running_brokers_at_different_moments(tmp_path: Path) -> None:
    def codes(*clean: int) -> set[str]:
        root = tmp_path / f"clean{len(clean)}"
        cluster(root, {0: replica(AB, high_watermark=2), 1: replica("a@0/e0", high_watermark=1)},
                clean=clean)  # fmt: skip
        findings = table("findings")
        asked = request(findings)
        units = findings.units(discover([str(root)]), asked)
        return {
            each.code
            for unit in units
            if isinstance(unit, PartitionUnit)
            for _, found in audited(unit, asked)
            for each in found
        }

    assert "KL-013" in codes()
    assert "KL-013" not in codes(0, 1)


def test_a_log_that_somebody_copied_alone_misses_no_epoch_checkpoint(tmp_path: Path) -> None:
    source = CAPTURE / "broker-1" / "t-0"
    (tmp_path / "t-0").mkdir()
    for path in source.glob("*.log"):
        shutil.copy(path, tmp_path / "t-0")
    assert of_code(found_in(tmp_path), "KL-302") == []
    shutil.copytree(source.parent, tmp_path / "broker-1")
    (tmp_path / "broker-1" / "t-0" / "leader-epoch-checkpoint").unlink()
    (found,) = of_code(found_in(tmp_path / "broker-1"), "KL-302")
    assert (found.severity, found.actions) == ("L", (NOTHING_TO_DO,))  # its start writes it
    (tmp_path / "broker-1" / CLEAN_SHUTDOWN).touch()
    (found,) = of_code(found_in(tmp_path / "broker-1"), "KL-302")
    assert (found.severity, found.actions) == ("H", (WRITE_EPOCHS,))


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("replication-offset-checkpoint", "M"),
        ("recovery-point-offset-checkpoint", "L"),
        ("log-start-offset-checkpoint", "L"),
    ],
)
def test_a_missing_checkpoint_says_what_to_do_before_the_start(
    name: str, severity: str, tmp_path: Path
) -> None:
    """The broker writes each of them again (LogManager#checkpoint...): another copy is no help."""
    shutil.copytree(CAPTURE / "broker-1", tmp_path / "broker-1")
    (tmp_path / "broker-1" / name).unlink()
    (found,) = of_code(found_in(tmp_path / "broker-1"), "KL-302")
    assert (found.severity, found.actions) == (severity, (START_WITHOUT_CHECKPOINT,))


def test_a_future_copy_may_take_the_place_of_the_missing_replica(tmp_path: Path) -> None:
    """A 4.4.0 broker logged "Successfully recovered abandoned future log", and served it."""
    shutil.copytree(CAPTURE, tmp_path / "all")
    folder = tmp_path / "all" / "broker-1" / "t-0"
    for state, words, others in (
        ("future", "put it in the replica's place", "create an empty one"),
        ("delete", "create an empty one", "put it in the replica's place"),
    ):
        folder = folder.rename(folder.with_name(f"t-0.{'0123456789abcdef' * 2}-{state}"))
        (found,) = of_code(found_in(tmp_path / "all", topic="t"), "KL-310")
        assert words in found.message
        assert others not in found.message


def test_a_stray_folder_of_the_topic_gets_its_name_back(tmp_path: Path) -> None:
    """By the metadata log the broker has the replica, and the folder has the topic's id."""
    shutil.copytree(CAPTURE, tmp_path / "all")
    root = tmp_path / "all" / "broker-1"
    stray = (root / "t-0").rename(root / f"t-0.{'0123456789abcdef' * 2}-stray")
    (found,) = of_code(found_in(tmp_path / "all", topic="t"), "KL-310")
    assert found.actions == (RENAME_FOLDER,)
    assert found.repairs == (Move(path=str(stray), target=str(root / "t-0")),)


def test_a_missing_folder_of_the_only_in_sync_replica_hides_committed_records(
    tmp_path: Path,
) -> None:
    """The broker creates an empty replica, and is the only one that may lead cleanly."""
    state = PartitionState(replicas=(0, 1, 2), in_sync=(2,), leader=2, leader_epoch=1)
    log = metadata_log([state])
    held = {0: [log], 1: [replica(AB, high_watermark=2)], 2: [log]}
    cluster(tmp_path, held, clean=(0, 1, 2))
    (found,) = of_code(found_in(tmp_path), "KL-310")
    assert "brokers 0 and 2 should have replicas, and have no folder of it: they will" in (
        found.message
    )
    assert "broker 1 is outside the in-sync replicas (broker 2)" in found.message
