"""Where files and folders of a stopped broker are moved."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.integrity.file_repair import Move, aside_path, index_moves, move_aside
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.io.names import ASIDE


@pytest.mark.parametrize(
    ("root", "target"),
    [
        ("/data/logs", f"/data/{ASIDE}/logs/t-0"),
        ("/data/logs/", f"/data/{ASIDE}/logs/t-0"),
        ("logs", f"{ASIDE}/logs/t-0"),
        (".", f"./../{ASIDE}/t-0"),
        ("..", f"../../{ASIDE}/t-0"),
        ("data/..", f"data/../../{ASIDE}/t-0"),
    ],
)
def test_what_leaves_a_log_directory_lands_beside_it(root: str, target: str) -> None:
    assert aside_path(root, "t-0") == target


def test_two_log_directories_of_one_disk_have_places_of_their_own() -> None:
    assert aside_path("/data/a", "t-0") != aside_path("/data/b", "t-0")


def test_a_move_begins_where_the_entry_is() -> None:
    assert move_aside("/data/logs", "t-0") == Move(
        path="/data/logs/t-0", target=f"/data/{ASIDE}/logs/t-0"
    )


@pytest.mark.parametrize("end", ["", "/"])
def test_indexes_keep_their_partition_in_the_path(end: str) -> None:
    root = LogDirectory(path="/data/logs")
    directory = PartitionDirectory(
        path=f"/data/logs/t-0{end}", log_directory=root, topic="t", partition=0
    )
    moves = index_moves(directory, ["0.index", "0.timeindex"])
    assert moves == tuple(
        Move(path=f"/data/logs/t-0/{name}", target=f"/data/{ASIDE}/logs/t-0/{name}")
        for name in ("0.index", "0.timeindex")
    )
