"""Small files as a starting broker reads them.

Source: Kafka 4.3, CheckpointFile, PartitionMetadataReadBuffer, LeaderEpochFileCache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.recovery.files import (
    check_cleaner_offsets,
    read_epochs,
    read_high_watermarks,
    read_log_starts,
    read_recovery_points,
    read_topic_id_at_start,
    topic_id_of_peer,
)
from kafkalog_reader.audits.recovery.outcome import DirectoryFailure, StartFailure
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory

LOADS, OFFLINE, ENDS, NO_ROWS = "loads", "offline", "ends the broker", "no rows"
"""What a file causes; without rows the broker begins at 0."""
ID = "AAAAAAAAAAEAAAAAAAAAEQ"
GREATEST_INT, GREATEST_LONG = 2**31 - 1, 2**63 - 1


@pytest.fixture
def log_directory(tmp_path: Path) -> Path:
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / f"{0:020}.log").write_bytes(b"")
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n0\n")
    return tmp_path


def root_of(path: Path) -> LogDirectory:
    (root,) = discover([str(path)]).roots
    return root


def partition_of(path: Path) -> PartitionDirectory:
    (directory,) = discover([str(path)]).partition_directories(ReadRequest())
    return directory


CHECKPOINTS = [
    pytest.param("0\n1\nt 0 5\n", LOADS, id="one row"),
    pytest.param("0\n0\n", LOADS, id="no row"),
    pytest.param("", LOADS, id="empty"),
    pytest.param("0\n", LOADS, id="ends after the version"),
    pytest.param("0\r\n1\r\nt 0 5\r\n", LOADS, id="line ends of Windows"),
    pytest.param("0\n1\nt\t0  5", LOADS, id="any white space, no line end"),
    pytest.param("0\n1\nt 0 5  \n", LOADS, id="white space at the end of a row"),
    pytest.param("0\n1\nt 0 +5\n", LOADS, id="a sign"),
    pytest.param(f"0\n1\nt {GREATEST_INT} {GREATEST_LONG}\n", LOADS, id="greatest numbers"),
    pytest.param(f"0\n1\nt {-GREATEST_INT - 1} {-GREATEST_LONG - 1}\n", LOADS, id="least numbers"),
    pytest.param(f"0\n1\nt 0 {'0' * 99}5\n", LOADS, id="many zeros"),
    pytest.param(f"0\n1\nt 0 {-GREATEST_LONG - 2}\n", NO_ROWS, id="offset too small"),
    pytest.param(f"0\n1\nt {-GREATEST_INT - 2} 5\n", NO_ROWS, id="partition too small"),
    pytest.param(f"0\n1\nt 0 {GREATEST_LONG + 1}\n", NO_ROWS, id="offset too large"),
    pytest.param(f"0\n1\nt {GREATEST_INT + 1} 5\n", NO_ROWS, id="partition too large"),
    pytest.param("0\n1\nt x 5\n", NO_ROWS, id="partition is a word"),
    pytest.param("0\n-1\n", NO_ROWS, id="negative count"),
    pytest.param("1\n1\nt 0 5\n", OFFLINE, id="other version"),
    pytest.param("x\n1\nt 0 5\n", OFFLINE, id="version is a word"),
    pytest.param("0\nx\nt 0 5\n", OFFLINE, id="count is a word"),
    pytest.param(f"0\n{GREATEST_INT + 1}\nt 0 5\n", OFFLINE, id="count too large"),
    pytest.param("0\n2\nt 0 5\n", OFFLINE, id="count above the rows"),
    pytest.param("0\n0\nt 0 5\n", OFFLINE, id="count below the rows"),
    pytest.param("0\n1\nt 0\n", OFFLINE, id="a field too few"),
    pytest.param("0\n1\nt 0 5 6\n", OFFLINE, id="a field too many"),
    pytest.param("0\n1\n\n", OFFLINE, id="an empty row"),
]


@pytest.mark.parametrize(("content", "outcome"), CHECKPOINTS)
def test_offset_checkpoints_are_read_as_kafka_does(
    log_directory: Path, content: str, outcome: str
) -> None:
    for name in ("recovery-point-offset", "log-start-offset", "replication-offset"):
        (log_directory / f"{name}-checkpoint").write_bytes(content.encode())
    root = root_of(log_directory)
    if outcome == OFFLINE:
        for read in (read_recovery_points, read_log_starts, read_high_watermarks):
            with pytest.raises(DirectoryFailure):
                read(root)
        return
    rows = {} if outcome == NO_ROWS else read_recovery_points(root)
    assert read_recovery_points(root) == read_log_starts(root) == rows
    assert len(rows) == (0 if outcome == NO_ROWS else content.count("t"))
    if outcome == NO_ROWS:  # partitions get no leader
        with pytest.raises(DirectoryFailure, match="serves no partition"):
            read_high_watermarks(root)
    else:
        assert read_high_watermarks(root) == rows


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("0\n2\nt 0 5\nt 1\n", "line 4: 2 fields, 3 expected"),
        ("x\n1\nt 0 5\n", "line 1: not a number"),
        ("0\nx\nt 0 5\n", "line 2: not a number"),
        ("0\n1\n\n", "line 3: 1 fields, 3 expected"),
        ("0\n1\nx \n", "line 3: 1 fields, 3 expected"),
        ("0\n3\nt 0 5\n", "line 2 announces 3 entries, found 1"),
    ],
)
def test_a_line_of_a_checkpoint_is_named_by_its_number(
    log_directory: Path, content: str, problem: str
) -> None:
    (log_directory / "recovery-point-offset-checkpoint").write_text(content)
    with pytest.raises(DirectoryFailure, match=problem):
        read_recovery_points(root_of(log_directory))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("0\n2\nt 0 5\nt 1 x\n", "line 4: a field is not a number"),
        ("0\n-1\n", "line 2: -1 entries"),
    ],
)
def test_a_line_that_leaves_partitions_without_a_leader_is_named(
    log_directory: Path, content: str, problem: str
) -> None:
    (log_directory / "replication-offset-checkpoint").write_text(content)
    with pytest.raises(DirectoryFailure, match=problem):
        read_high_watermarks(root_of(log_directory))


def test_a_line_that_ends_the_broker_is_named(log_directory: Path) -> None:
    (log_directory / "t-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n1 -5\n")
    with pytest.raises(StartFailure, match="line 4: a negative leader epoch or offset"):
        read_epochs(partition_of(log_directory))


def test_another_version_of_a_checkpoint_is_named(log_directory: Path) -> None:
    (log_directory / "recovery-point-offset-checkpoint").write_text("1\n2\nt 0 5\nt 1 6\n")
    with pytest.raises(DirectoryFailure, match="line 1: checkpoint version 1, 0 expected"):
        read_recovery_points(root_of(log_directory))


def test_rows_are_offsets_by_partition(log_directory: Path) -> None:
    text = "0\n2\nt 0 5\nu 12 +7\n"
    (log_directory / "replication-offset-checkpoint").write_text(text)
    assert read_high_watermarks(root_of(log_directory)) == {("t", 0): 5, ("u", 12): 7}
    assert read_recovery_points(root_of(log_directory)) == {}  # no file


def test_a_checkpoint_that_changes_is_read_again(log_directory: Path) -> None:
    path = log_directory / "replication-offset-checkpoint"
    path.write_text("0\n1\nt 0 5\n")
    root = root_of(log_directory)
    assert read_high_watermarks(root) == {("t", 0): 5}
    path.write_text("0\n1\nt 0 123\n")
    assert read_high_watermarks(root_of(log_directory)) == {("t", 0): 123}


@pytest.mark.parametrize(("content", "outcome"), CHECKPOINTS)
def test_only_a_malformed_cleaner_checkpoint_fails(
    log_directory: Path, content: str, outcome: str
) -> None:
    (log_directory / "cleaner-offset-checkpoint").write_bytes(content.encode())
    root = root_of(log_directory)
    if outcome != OFFLINE:
        check_cleaner_offsets(root)
        return
    with pytest.raises(DirectoryFailure):
        check_cleaner_offsets(root)


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        ("0\n2\n0 0\n5 17\n", LOADS),
        (f"0\n1\n{GREATEST_INT} {GREATEST_LONG}\n", LOADS),
        ("0\n1\n0 -1\n", ENDS),  # LeaderEpochFileCache#assign checks both
        ("0\n1\n-1 0\n", ENDS),
        (f"0\n1\n{GREATEST_INT + 1} 0\n", ENDS),
        (f"0\n1\n0 {GREATEST_LONG + 1}\n", ENDS),
        ("0\n-1\n", ENDS),
        ("0\n2\n0 0\n", OFFLINE),
        ("0\n1\n0 0 0\n", OFFLINE),
        ("1\n0\n", OFFLINE),
    ],
)
def test_leader_epochs_are_read_as_kafka_does(
    log_directory: Path, content: str, outcome: str
) -> None:
    (log_directory / "t-0" / "leader-epoch-checkpoint").write_text(content)
    directory = partition_of(log_directory)
    if outcome == LOADS:
        rows = [f"{each.leader_epoch} {each.start_offset}" for each in read_epochs(directory)]
        assert rows == content.splitlines()[2:]
        return
    with pytest.raises(StartFailure if outcome == ENDS else DirectoryFailure):
        read_epochs(directory)


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "leader-epoch-checkpoint.tmp"])
def test_a_directory_in_the_place_of_the_epochs_takes_the_disk_offline(
    log_directory: Path, name: str
) -> None:
    (log_directory / "t-0" / name).mkdir()
    with pytest.raises(DirectoryFailure, match=name):
        read_epochs(partition_of(log_directory))


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (f"version: 0\ntopic_id: {ID}\n", LOADS),
        (f"version: 0\ntopic_id: {ID}", LOADS),
        ("version: 0\n", ENDS),  # a missing line is a NullPointerException
        ("", ENDS),
        ("version: 0\ntopic_id: x\n", ENDS),  # Uuid#fromString: not caught
        ("version: 0\ntopic_id: x\nmore\n", ENDS),  # two lines are read
        ("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA\n", OFFLINE),  # the zero id: IOException
        (f"version: x\ntopic_id: {ID}\n", OFFLINE),
        (f"version: -1\ntopic_id: {ID}\n", OFFLINE),
        (f"version:0\ntopic_id: {ID}\n", OFFLINE),  # no white space after the colon
        (f"version: 0\ntopic_id {ID}\n", OFFLINE),
    ],
)
def test_topic_ids_are_read_as_kafka_does(log_directory: Path, content: str, outcome: str) -> None:
    (log_directory / "t-0" / "partition.metadata").write_text(content)
    directory = partition_of(log_directory)
    if outcome == LOADS:
        assert read_topic_id_at_start(directory) == topic_id_of_peer(directory) == ID
        return
    with pytest.raises(StartFailure if outcome == ENDS else DirectoryFailure):
        read_topic_id_at_start(directory)
    assert topic_id_of_peer(directory) is None


def test_a_partition_without_the_file_has_no_topic_id(log_directory: Path) -> None:
    assert read_topic_id_at_start(partition_of(log_directory)) is None
