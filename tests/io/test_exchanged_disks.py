"""Disks of two nodes that were exchanged, where no label says whose they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import log_directory, replica
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.exchanged_disks import exchanged_disks

if TYPE_CHECKING:
    from pathlib import Path

EXCHANGED = {"n1/a": 2, "n1/b": 1, "n2/a": 1, "n2/b": 2}


def written(root: Path, nodes: dict[str, int]) -> Path:
    """Log directories by path, each with the node id in its ``meta.properties``."""
    for number, (path, node) in enumerate(nodes.items()):
        disk = log_directory(
            node, replica("a@0/e0", partition=number), directory_id=f"AAAAAAAAAAEAAAAAAAAA{number}A"
        )
        (root / "disks" / path).parent.mkdir(parents=True, exist_ok=True)
        disk.write(root / "disks" / path)
    return root / "disks"


@pytest.mark.parametrize(
    ("nodes", "exchanged"),
    [
        pytest.param(EXCHANGED, ["n1/a", "n2/a"], id="one_disk_of_each_node"),
        pytest.param(
            EXCHANGED | {"n1/c": 1, "n2/c": 2}, ["n1/a", "n2/a"], id="one_of_three_of_each_node"
        ),
        pytest.param({"n1/a": 1, "n1/b": 1, "n2/a": 2, "n2/b": 2}, [], id="in_their_places"),
        pytest.param({"a/n1": 1, "a/n2": 2, "b/n1": 1, "b/n2": 2}, [], id="folders_of_disks"),
        pytest.param({"n1/a": 2, "n1/b": 1, "n2/a": 2, "n2/b": 2}, [], id="one_disk_too_many"),
        pytest.param({"n1": 2, "n2": 1}, [], id="folders_say_nothing"),
    ],
)
def test_disks_are_exchanged_where_each_fits_into_the_other_folder(
    tmp_path: Path, nodes: dict[str, int], exchanged: list[str]
) -> None:
    root = written(tmp_path, nodes)
    found = [each for pair in exchanged_disks(discover([str(root)]).roots) for each in pair]
    assert sorted(each.path for each in found) == [f"{root}/{name}" for name in exchanged]


def test_a_warning_names_both(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = written(tmp_path, EXCHANGED)
    discover([str(root)])
    (said,) = [each for each in caplog.messages if "exchanged" in each]
    assert "n1/a has node id 2, and" in said
    assert "n2/a has 1, unlike the log directories beside them" in said
