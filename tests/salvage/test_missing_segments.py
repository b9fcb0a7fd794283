"""A segment that no log file holds makes a salvage incomplete. The states are built."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.salvage import salvage_command
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0 e@4/e0 f@5/e0"
BATCH = 69
FIRST, MIDDLE, LAST = (f"{base:020d}" for base in (0, 2, 4))


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """The partition on two brokers: segments 0, 2 and 4, and no checkpoint says where it ends."""
    copy = replica(LOG, segment_bytes=2 * BATCH, recovery_point=None)
    roots = cluster(tmp_path / "in", {0: copy, 1: copy}, clean=(0, 1))
    return [root / "t-0" for root in roots.values()]


def salvaged(folders: Sequence[Path], *options: str) -> tuple[int, str, list[dict[str, Any]]]:
    """Exit status, output, and the missing segments in the manifest."""
    root = folders[0].parents[2]
    output = root / "out"
    paths = [str(folder.parent) for folder in folders]
    status, text = asked(salvage_command, *paths, "--output", str(output), *options)
    (partition,) = json.loads((output / "manifest.json").read_text())["partitions"]
    assert partition["isComplete"] is (status == 0)
    return status, text, partition["missingSegments"]


def test_nothing_is_missing_where_every_index_has_its_log(folders: Sequence[Path]) -> None:
    assert salvaged(folders) == (0, "t-0: 6 records, offsets 0 to 5\n", [])


def test_an_index_above_the_log_shows_a_lost_end(folders: Sequence[Path]) -> None:
    for folder in folders:
        (folder / f"{LAST}.log").unlink()
    status, text, missing = salvaged(folders)
    assert status == 1
    assert text.splitlines() == [
        "t-0: 4 records, offsets 0 to 3",
        f"  records from offset 4 on are lost: {LAST}.index on brokers 0 and 1 has no {LAST}.log, "
        "and nothing shows how many records there were",
    ]
    assert [(each["baseOffset"], each["mayBeRenamed"]) for each in missing] == [(4, False)]


@pytest.mark.parametrize("options", [(), ("--as-segments", "--merge")])
def test_a_copy_that_lost_its_end_does_not_matter_where_another_has_it(
    folders: Sequence[Path], options: tuple[str, ...]
) -> None:
    (folders[0] / f"{LAST}.log").unlink()
    status, text, missing = salvaged(folders, *options)
    assert (status, missing) == (0, [])
    assert text.startswith("t-0: 6 records, offsets 0 to 5\n")


def test_an_index_below_the_log_is_what_retention_leaves(folders: Sequence[Path]) -> None:
    for folder in folders:
        (folder / f"{FIRST}.log").unlink()
    assert salvaged(folders)[::2] == (0, [])


@pytest.mark.parametrize("name", [f"{FIRST}.log.gz", f"{MIDDLE}.log.bak", f".{LAST}.log.Xa81jd"])
@pytest.mark.parametrize("options", [(), ("--as-segments",), ("--as-segments", "--merge")])
def test_a_file_of_another_name_may_be_the_segment(
    folders: Sequence[Path], name: str, options: tuple[str, ...]
) -> None:
    segment = name.lstrip(".")[: len(f"{FIRST}.log")]
    for folder in folders:
        (folder / segment).rename(folder / name)
    status, text, missing = salvaged(folders, *options)
    assert status == 1
    assert f"{name} on brokers 0 and 1 may be the segment {segment}" in text
    assert "How to put" not in text
    assert [(each["file"], each["mayBeRenamed"]) for each in missing] == [(name, True)]


def test_a_spare_file_of_a_segment_that_another_copy_holds_is_not_missing(
    folders: Sequence[Path],
) -> None:
    (folders[0] / f"{LAST}.log").rename(folders[0] / f".{LAST}.log.Xa81jd")
    assert salvaged(folders)[::2] == (0, [])


def test_only_what_was_asked_for_can_be_missing(folders: Sequence[Path]) -> None:
    for folder in folders:
        (folder / f"{FIRST}.log").rename(folder / f"{FIRST}.log.gz")
        (folder / f"{LAST}.log").unlink()
    assert salvaged(folders, "--from-offset", "2", "--to-offset", "4")[::2] == (0, [])
