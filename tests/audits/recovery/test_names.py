"""Names that a starting broker parses.

Source: Kafka 4.3, LocalLog#parseTopicPartitionName, LogFileUtils#offsetFromFileName.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.replica import TOPIC_ID
from kafkalog_reader.audits.recovery.names import (
    check_directories,
    check_files,
    is_of_broker,
    renamed_partition,
    serves_partitions,
    stops_start,
)
from kafkalog_reader.audits.recovery.outcome import DirectoryFailure, StartFailure
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory

GREATEST_INT, GREATEST_LONG = 2**31 - 1, 2**63 - 1


@pytest.fixture
def log_directory(tmp_path: Path) -> Path:
    """A broker's log directory with partition t-0."""
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / f"{0:020}.log").write_bytes(b"")
    (tmp_path / "replication-offset-checkpoint").write_text("0\n0\n")
    return tmp_path


def root_of(path: Path) -> LogDirectory:
    (root,) = discover([str(path)]).roots
    return root


def partition_of(path: Path) -> PartitionDirectory:
    (directory,) = discover([str(path)]).partition_directories(ReadRequest())
    return directory


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("t-0", False),
        ("a-b.c_d-12", False),
        ("t-+1", False),  # Integer.parseInt takes a sign
        (f"t-{GREATEST_INT}", False),
        (f"t-{GREATEST_INT + 1}", True),
        ("t-", True),
        ("-0", True),
        ("t-x", True),
        ("t-1x", True),
        ("t", True),
        ("t-0.bak", True),
        ("remote-log-index-cache", False),
        ("remote-log-index-cache2", True),
        ("t-0.0123456789abcdef-delete", False),
        ("t-0.0123456789abcdef-future", False),
        ("t-0.0123456789abcdef-stray", False),
        ("t-0.0123456789abcdef-other", True),
        ("t-0-delete", True),  # without the unique id
        ("t-x.0123456789abcdef-delete", True),
        ("t t-0.0123456789abcdef-delete", True),  # \S+ in the pattern
    ],
)
def test_a_folder_must_be_named_like_a_partition(
    log_directory: Path, name: str, stops: bool
) -> None:
    assert stops_start(name) is stops
    (log_directory / name).mkdir(exist_ok=True)
    root = root_of(log_directory)
    if not stops:
        check_directories(root)
        return
    with pytest.raises(StartFailure, match="a folder whose name is not a partition's"):
        check_directories(root)


def test_files_in_a_log_directory_may_have_any_name(log_directory: Path) -> None:
    (log_directory / "notes.txt").write_text("")
    (log_directory / "t").write_text("")
    check_directories(root_of(log_directory))


@pytest.mark.parametrize(
    ("name", "fails"),
    [
        (f"{7:020}.log", False),
        (f"{7:020}.index", False),
        (f"{7:020}.log.swap", False),
        ("-5.log", False),  # Long.parseLong takes a sign
        (f"{-GREATEST_LONG - 1}.log", False),
        (f"{-GREATEST_LONG - 2}.log", True),
        (f"{GREATEST_LONG}.snapshot", False),
        (f"{GREATEST_LONG + 1}.snapshot", True),
        ("x.log", True),
        (".timeindex", True),
        ("7x.txnindex", True),
        ("x.index.cleaned", True),
        ("x.log.deleted", False),  # removed before names are parsed
        ("x.txt", False),
        ("leader-epoch-checkpoint", False),
    ],
)
def test_files_of_segments_begin_with_an_offset(
    log_directory: Path, name: str, fails: bool
) -> None:
    (log_directory / "t-0" / name).write_bytes(b"")
    directory = partition_of(log_directory)
    if not fails:
        check_files(directory)
        return
    with pytest.raises(StartFailure, match="no offset before the first dot"):
        check_files(directory)


def test_a_folder_with_such_a_name_is_not_a_file(log_directory: Path) -> None:
    (log_directory / "t-0" / "x.log").mkdir()
    check_files(partition_of(log_directory))


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize(("offset", "fails"), [(0, True), (7, False)])
def test_an_index_of_a_segment_must_be_a_file(
    log_directory: Path, suffix: str, offset: int, fails: bool
) -> None:
    (log_directory / "t-0" / f"{offset:020}{suffix}").mkdir()
    directory = partition_of(log_directory)
    if not fails:
        check_files(directory)
        return
    with pytest.raises(DirectoryFailure, match="a directory in the place of a file"):
        check_files(directory)


@pytest.mark.parametrize(
    ("names", "serves"),
    [
        (["__cluster_metadata-0", "meta.properties"], False),
        (["__cluster_metadata-0", "t-0"], True),
        (["replication-offset-checkpoint"], True),
        (["bootstrap.checkpoint"], False),
        ([], False),
    ],
)
def test_a_controller_serves_no_partitions(names: list[str], serves: bool) -> None:
    assert serves_partitions(names) is serves


def test_the_log_directory_of_a_broker_is_recognised(log_directory: Path) -> None:
    assert is_of_broker(root_of(log_directory))


@pytest.mark.parametrize(
    ("name", "partition"), [("u-3.bak", "u-3"), ("t-0.bak", None), ("nothing", None)]
)
def test_a_folder_may_be_a_renamed_partition(
    log_directory: Path, name: str, partition: str | None
) -> None:
    (log_directory / name).mkdir()
    assert renamed_partition(root_of(log_directory), name) == partition


@pytest.mark.parametrize(
    ("topic_id", "removed", "partition"),
    [
        pytest.param(TOPIC_ID, [], "t-1", id="the-only-one-that-is-missing"),
        pytest.param("b" * 21 + "A", [], None, id="of-another-topic"),
        pytest.param(TOPIC_ID, ["t-2"], None, id="one-of-two"),
    ],
)
def test_the_topic_id_shows_which_partition_it_may_be(
    topic_id: str, removed: list[str], partition: str | None, tmp_path: Path
) -> None:
    """t-1 was renamed to a name that begins with no partition's; the checkpoints have its row."""
    held = [
        replica("a@0/e0", partition=number, high_watermark=1, topic_id=of_topic)
        for number, of_topic in ((0, TOPIC_ID), (1, topic_id), (2, TOPIC_ID))
    ]
    (path,) = cluster(tmp_path, {1: held}).values()
    (path / "t-1").rename(path / "t_1")
    for name in removed:
        shutil.rmtree(path / name)
    assert renamed_partition(root_of(path), "t_1") == partition


def test_a_row_in_one_checkpoint_alone_names_no_replica(tmp_path: Path) -> None:
    """A broker writes both files for each of its replicas; t-2 left between the two writes."""
    held = [replica("a@0/e0", partition=number, high_watermark=1) for number in range(3)]
    (path,) = cluster(tmp_path, {1: held}).values()
    (path / "t-1").rename(path / "t_1")
    shutil.rmtree(path / "t-2")
    checkpoint = path / "recovery-point-offset-checkpoint"
    rows = [row for row in checkpoint.read_text().splitlines() if row != "t 2 0"]
    checkpoint.write_text("\n".join(["0", "2", *rows[2:], ""]))
    assert renamed_partition(root_of(path), "t_1") == "t-1"
