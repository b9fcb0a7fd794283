"""Our own commands about one partition: their words reach a shell unchanged."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.report.command_text import (
    export_command,
    forbid_command,
    merge_command,
    path_word,
    salvage_command,
)
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def audit(*paths: str, follow_links: bool = False) -> PartitionAudit:
    evidence = discover([*paths], ReadContext(follow_links=follow_links))
    ((_, directories),) = evidence.topic_partitions(ReadRequest())
    return audit_partition(directories)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Brokers 1 and 2, in a folder whose name needs quotes."""
    root = tmp_path / "my disks"
    cluster(root, {1: replica("0-9/e0"), 2: replica("0-9/e0")})
    return root


@pytest.mark.parametrize(
    ("named", "is_whole", "word"),
    [
        (None, True, "/d/logs"),
        (None, False, "/d/logs/t-0"),
        ("7", True, "7=/d/logs"),
        ("old disk", False, "'old disk=/d/logs/t-0'"),
    ],
)
def test_a_replica_is_named_by_what_was_given(named: str | None, is_whole: bool, word: str) -> None:
    root = LogDirectory(
        path="/d/logs", broker_id=7, named=named, clean_shutdown=False if is_whole else None,
        broker_label=None if named == "7" else named,
    )  # fmt: skip
    directory = PartitionDirectory(path="/d/logs/t-0", log_directory=root, topic="t", partition=0)
    assert path_word(directory) == word


def test_one_replica_is_saved_from_an_offset_on(two: Path) -> None:
    found = audit(str(two))
    words = shlex.split(salvage_command(found, found.replicas[1], 5))
    assert words == [
        "kafkalog", "salvage", f"{two}/broker-2", "--topic", "t", "--partition", "0",
        "--replica", "broker:2", "--from-offset", "5", "--output", "SAVED/t-0-broker-2",
    ]  # fmt: skip


def test_a_copy_of_an_unknown_broker_is_saved_without_its_number(tmp_path: Path) -> None:
    root = cluster(tmp_path, {1: replica("0-9/e0")})[1]
    (root / "meta.properties").unlink()
    found = audit(str(root))
    words = shlex.split(salvage_command(found, found.replicas[0], 0))
    assert "--replica" not in words
    assert words[-4:] == ["--from-offset", "0", "--output", "SAVED/t-0-copy"]


def test_all_copies_are_named_once(two: Path) -> None:
    found = audit(str(two))
    paths = [f"{two}/broker-1", f"{two}/broker-2"]
    choice = ["--topic", "t", "--partition", "0"]
    assert shlex.split(export_command(found)) == [
        "replica-diff", *paths, *choice, "--export", "SAVED/t-0-one-sided",
    ]  # fmt: skip
    assert shlex.split(merge_command(found)) == [
        "kafkalog", "salvage", *paths, *choice, "--merge", "--as-segments",
        "--no-instructions", "--output", "SAVED/t-0-merged",
    ]  # fmt: skip


@pytest.mark.parametrize("follow_links", [False, True])
def test_links_are_followed_again_where_they_were(two: Path, follow_links: bool) -> None:
    found = audit(str(two), follow_links=follow_links)
    for command in (
        export_command(found), merge_command(found), salvage_command(found, found.replicas[0], 0),
    ):  # fmt: skip
        assert ("--follow-links" in shlex.split(command)) is follow_links


def test_unclean_elections_of_one_topic_are_forbidden() -> None:
    """The option that names the servers is left as it is, for people to fill in."""
    command = forbid_command("my topic", "--bootstrap-server HOST:9092")
    assert shlex.split(command) == [
        "kafka-configs.sh", "--bootstrap-server", "HOST:9092", "--alter", "--entity-type",
        "topics", "--entity-name", "my topic", "--add-config",
        "unclean.leader.election.enable=false",
    ]  # fmt: skip
