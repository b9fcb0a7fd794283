"""What the files of a log directory show about the release that wrote it.

KAFKA-1650 (meta.properties, 0.9), KIP-33 (time indexes, 0.10.1), KIP-101 and KIP-107 (leader
epochs, log start checkpoint, 0.11), KIP-516 (partition.metadata, 2.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.log import release_signs as module
from kafkalog_reader.audits.log.release_signs import (
    ReleaseSigns,
    release_signs,
    writes_time_indexes,
)
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

LOG = f"{0:020}.log"
TIMES = f"{0:020}.timeindex"
STARTS = "log-start-offset-checkpoint"


def written(root: Path, *names: str) -> Path:
    """Empty files below a log directory."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    return root


def signs(files: bool, times: bool, epochs: bool, ids: bool) -> ReleaseSigns:
    return ReleaseSigns(has_segments=files, time_indexes=times, leader_epochs=epochs, topic_ids=ids)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(["other"], signs(False, False, False, False), id="nothing"),
        pytest.param([f"t-0/{LOG}"], signs(True, False, False, False), id="0.9"),
        pytest.param([f"t-0/{LOG}", f"t-0/{TIMES}"], signs(True, True, False, False), id="0.10.1"),
        pytest.param(
            [f"t-0/{LOG}", "t-0/leader-epoch-checkpoint"], signs(True, True, True, False), id="0.11"
        ),
        pytest.param([f"t-0/{LOG}", STARTS], signs(True, True, True, False), id="log_starts"),
        pytest.param([STARTS], signs(False, True, True, False), id="no_replica"),
        pytest.param(
            [f"t-0/{LOG}", "t-0/partition.metadata"], signs(True, True, True, True), id="2.8"
        ),
        pytest.param(
            [f"a-0/{LOG}", "b-0/partition.metadata"], signs(True, True, True, True), id="another"
        ),
        pytest.param([f"notatopic/{LOG}"], signs(False, False, False, False), id="other_folder"),
    ],
)
def test_a_file_shows_the_release_since_which_it_is_written(
    tmp_path: Path, names: list[str], expected: ReleaseSigns
) -> None:
    assert release_signs(str(written(tmp_path, *names))) == expected


def test_a_log_directory_that_cannot_be_listed_shows_nothing(tmp_path: Path) -> None:
    assert release_signs(str(tmp_path / "gone")) == signs(False, False, False, False)


def test_only_some_folders_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FOLDERS_LOOKED_INTO", 2)
    written(tmp_path, "a-0/x", "a-1/x", f"a-2/{LOG}")
    assert not release_signs(str(tmp_path)).has_segments
    monkeypatch.setattr(module, "_FOLDERS_LOOKED_INTO", 3)
    assert release_signs(str(tmp_path)).has_segments


def test_a_link_is_no_replica(tmp_path: Path) -> None:
    written(tmp_path / "elsewhere", f"t-0/{LOG}")
    root = written(tmp_path / "root", "x")
    (root / "t-0").symlink_to(tmp_path / "elsewhere" / "t-0")
    assert not release_signs(str(root)).has_segments


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([f"t-0/{LOG}"], False),
        ([f"t-0/{LOG}", f"t-0/{TIMES}"], True),
        ([f"t-0/{LOG}", "t-0/leader-epoch-checkpoint"], True),
        ([f"t-0/{LOG}", "t-0/partition.metadata"], True),
        ([f"t-0/{LOG}", STARTS], True),
        ([f"t-0/{LOG}", f"t-1/{TIMES}"], False),
    ],
)
def test_a_replica_misses_a_time_index_only_if_its_broker_writes_some(
    tmp_path: Path, names: list[str], expected: bool
) -> None:
    root = written(tmp_path, *names)
    request = ReadRequest(topics=frozenset({"t"}), partitions=frozenset({0}))
    (directory,) = discover([str(root)]).partition_directories(request)
    assert writes_time_indexes(str(root), directory.path, segments(directory)) is expected
