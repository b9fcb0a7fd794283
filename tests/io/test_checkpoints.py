"""Checkpoints and other small files: absent, sound, changed and damaged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import CorruptCheckpointError, UnreadableFileError
from kafkalog_reader.format.checkpoint import LeaderEpochEntry
from kafkalog_reader.io import checkpoints
from kafkalog_reader.io.checkpoints import (
    checkpointed_offsets,
    read_leader_epochs,
    read_offset_checkpoint,
    read_producer_snapshot,
    read_topic_id,
)
from kafkalog_reader.io.directories import LogDirectory
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from pathlib import Path

HIGH_WATERMARKS = "replication-offset-checkpoint"


def test_absent_files_are_empty_or_none(tmp_path: Path) -> None:
    assert read_offset_checkpoint(str(tmp_path / HIGH_WATERMARKS), context=ReadContext()) == {}
    assert checkpointed_offsets(LogDirectory(path=str(tmp_path)), HIGH_WATERMARKS) == {}
    assert read_leader_epochs(str(tmp_path), context=ReadContext()) is None
    assert read_topic_id(str(tmp_path), context=ReadContext()) is None
    assert read_producer_snapshot(str(tmp_path), 3, context=ReadContext()) is None


def test_offset_checkpoint_is_by_topic_partition_and_its_last_row_wins(tmp_path: Path) -> None:
    path = tmp_path / HIGH_WATERMARKS
    path.write_text("0\n3\nt 0 5\na-b 17 9223372036854775807\nt 0 6\n")
    assert read_offset_checkpoint(str(path), context=ReadContext()) == {
        ("t", 0): 6,
        ("a-b", 17): 2**63 - 1,
    }


@pytest.mark.parametrize(("brokers", "partitions"), [(3, 60_000), (40, 10)])
def test_files_of_all_brokers_are_parsed_once(
    brokers: int, partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files of each broker, requested alternately, as by the partitions of a cluster."""
    parsed = []
    parse = checkpoints.parse_offset_rows
    monkeypatch.setattr(
        checkpoints, "parse_offset_rows", lambda *each: parsed.append(each) or parse(*each)
    )
    rows = "".join(f"a-topic-of-the-fleet {number} 5\n" for number in range(partitions))
    roots = [LogDirectory(path=str(tmp_path / str(broker))) for broker in range(brokers)]
    names = ("recovery-point-offset-checkpoint", HIGH_WATERMARKS)
    for root in roots:
        (tmp_path / root.path).mkdir()
        for name in names:
            (tmp_path / root.path / name).write_text(f"0\n{partitions}\n{rows}")
    for _ in range(3):
        for root in roots:
            for name in names:
                assert len(checkpointed_offsets(root, name)) == partitions
    assert len(parsed) == len(roots) * len(names)


def test_rows_that_were_used_longest_ago_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_ALWAYS_KEPT", 1)
    kept = checkpoints._Kept(max_bytes=20)
    parsed = []
    parse = checkpoints.parse_offset_rows
    monkeypatch.setattr(
        checkpoints, "parse_offset_rows", lambda *each: parsed.append(each) or parse(*each)
    )
    for name in ("one", "two", "three"):
        (tmp_path / name).write_text("0\n1\nt 0 5\n")  # ten bytes

    def rows(name: str) -> object:
        path = str(tmp_path / name)
        version = checkpoints.file_version(path, context=ReadContext())
        assert version is not None
        return kept.rows(path, version, ReadContext())

    for name in ("one", "two", "one", "three", "one", "two"):
        assert rows(name) == {("t", 0): 5}
    files = [str(where.file).rpartition("/")[2] for _, where in parsed]
    assert files == ["one", "two", "three", "two"]


def test_damaged_checkpoint_names_file_and_position(tmp_path: Path) -> None:
    path = tmp_path / HIGH_WATERMARKS
    path.write_text("0\n1\nt zero 5\n")
    with pytest.raises(CorruptCheckpointError) as caught:
        read_offset_checkpoint(str(path), context=ReadContext())
    assert (caught.value.where.file, caught.value.where.position) == (str(path), 4)


def test_checkpoint_is_read_again_when_it_changes(tmp_path: Path) -> None:
    root = LogDirectory(path=str(tmp_path))
    path = tmp_path / HIGH_WATERMARKS
    path.write_text("0\n1\nt 0 5\n")
    assert checkpointed_offsets(root, HIGH_WATERMARKS) == {("t", 0): 5}
    path.write_text("0\n1\nt 0 6\n")
    os.utime(path, (1, 1))
    assert checkpointed_offsets(root, HIGH_WATERMARKS) == {("t", 0): 6}


def test_leader_epochs_are_rows_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text("0\n3\n0 0\n5 10\n2 17\n")
    assert read_leader_epochs(str(tmp_path), context=ReadContext()) == (
        LeaderEpochEntry(leader_epoch=0, start_offset=0),
        LeaderEpochEntry(leader_epoch=5, start_offset=10),
        LeaderEpochEntry(leader_epoch=2, start_offset=17),
    )


def test_topic_id_is_the_text_that_kafka_writes(tmp_path: Path) -> None:
    (tmp_path / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAEAAAAAAAAABQ")
    assert read_topic_id(str(tmp_path), context=ReadContext()) == "AAAAAAAAAAEAAAAAAAAABQ"


def test_link_instead_of_a_checkpoint_is_refused_unless_requested(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("0\n1\nt 0 5\n")
    path = tmp_path / HIGH_WATERMARKS
    path.symlink_to("real")
    with pytest.raises(UnreadableFileError, match="symbolic link, not followed"):
        checkpointed_offsets(LogDirectory(path=str(tmp_path)), HIGH_WATERMARKS)
    followed = LogDirectory(path=str(tmp_path), context=ReadContext(follow_links=True))
    assert checkpointed_offsets(followed, HIGH_WATERMARKS) == {("t", 0): 5}
