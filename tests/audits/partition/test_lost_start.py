"""A first segment that is gone: lost where a topic is only compacted, else maybe by retention."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from tests.audits.partition.test_supply_findings import found_in, of_code

if TYPE_CHECKING:
    from pathlib import Path

BROKER = "broker-0"
FIRST = f"{0:020}.log"


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    shutil.copytree(captures.path("everything/stopped"), tmp_path, dirs_exist_ok=True)
    return tmp_path / BROKER


@pytest.mark.parametrize("left", [(".index", ".timeindex"), (".index",), (".timeindex",)])
def test_a_compacted_topic_lost_its_first_segment(left: tuple[str, ...], disk: Path) -> None:
    """Whichever indexes are left of it: nothing is to be done about them apart."""
    for each in (disk / "compacted-0").glob(f"{0:020}.*"):
        if each.suffix not in left:
            each.unlink()
    found = found_in(disk, topic="compacted")
    (lost,) = of_code(found, "KL-404")
    assert (lost.severity, lost.first_offset, lost.next_offset) == ("H", 0, 29)
    assert of_code(found, "KL-209") == []


def test_a_first_segment_of_a_topic_with_retention_may_be_lost(disk: Path) -> None:
    """Retention leaves no index: it renames the files of a segment together."""
    (disk / "codec-none-0" / FIRST).unlink()
    found = found_in(disk, topic="codec-none")
    assert of_code(found, "KL-404") == []
    left = of_code(found, "KL-209")
    assert {each.severity for each in left} == {"M"}
    assert {each.first_offset for each in left} == {0}
    assert all("unless they were copied while it ran" in each.message for each in left)


@pytest.mark.parametrize("state", ["being_deleted", "without_entries"])
def test_a_first_segment_that_retention_deletes_leaves_indexes(disk: Path, state: str) -> None:
    folder = disk / "codec-none-0"
    if state == "being_deleted":
        (folder / FIRST).rename(folder / f"{FIRST}.deleted")
    else:
        (folder / FIRST).unlink()
        for each in folder.glob(f"{0:020}.*index"):
            each.write_bytes(b"")
    found = of_code(found_in(disk, topic="codec-none"), "KL-209")
    assert {each.severity for each in found} == {"L"}


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__transaction_state"])
def test_the_log_of_a_coordinator_begins_at_0(disk: Path, topic: str) -> None:
    """No index, no other copy and no checkpoint is needed; `kafkalog groups` says it, too."""
    root = disk / f"{topic}-2"
    for each in root.glob(f"{0:020}.*"):
        each.rename(root / each.name.replace(f"{0:020}", f"{7:020}"))
    lost = of_code(found_in(disk, topic=topic), "KL-404")
    assert [(each.severity, each.first_offset, each.next_offset) for each in lost] == [("H", 0, 7)]


def test_a_topic_that_was_only_ever_compacted_begins_at_0(disk: Path) -> None:
    """Nothing else is left of the segment: its indexes and its snapshot are gone, too."""
    for each in (disk / "compacted-0").glob(f"{0:020}.*"):
        each.unlink()
    (lost,) = of_code(found_in(disk, topic="compacted"), "KL-404")
    assert (lost.severity, lost.first_offset, lost.next_offset) == ("H", 0, 29)
    assert "only compacted ever since it was created" in lost.message


def test_the_leftover_of_a_lost_segment_is_named(disk: Path) -> None:
    folder = disk / "compacted-0"
    for each in folder.glob(f"{0:020}.*"):
        each.unlink() if each.suffix != ".log" else each.rename(folder / f"{FIRST}.deleted")
    (lost,) = of_code(found_in(disk, topic="compacted"), "KL-404")
    assert f"{FIRST}.deleted may still hold records" in lost.message


def test_a_copy_of_a_deleted_topic_has_its_own_history(disk: Path) -> None:
    """The metadata log knows the policies of the topic of that name which exists."""
    folder = disk / "compacted-0"
    for each in folder.glob(f"{0:020}.*"):
        each.unlink()
    (folder / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAQw")
    assert of_code(found_in(disk, topic="compacted"), "KL-404") == []


def test_without_a_metadata_log_nobody_knows_the_policy(disk: Path) -> None:
    root = disk / "__consumer_offsets-2"
    for each in root.glob(f"{0:020}.*"):
        each.rename(root / each.name.replace(f"{0:020}", f"{7:020}"))
    shutil.rmtree(disk / "__cluster_metadata-0")
    assert of_code(found_in(disk, topic="__consumer_offsets"), "KL-404") == []


def test_a_follower_of_a_leader_that_lost_its_beginning_is_no_witness(disk: Path) -> None:
    """It adopts the start and checkpoints it; the cleaner deletes the segment a moment later.

    A broker refuses DeleteRecords for such a topic (POLICY_VIOLATION).
    """
    checkpoint = disk / "log-start-offset-checkpoint"
    checkpoint.write_text("0\n2\nrecords-deleted 0 45\ncompacted 0 29\n")
    (lost,) = of_code(found_in(disk, topic="compacted"), "KL-404")
    assert (lost.severity, lost.first_offset, lost.next_offset) == ("H", 0, 29)
    assert f"{FIRST} may still hold records of them" in lost.message
    assert of_code(found_in(disk, topic="records-deleted"), "KL-404") == []


@pytest.mark.parametrize(
    ("is_kept", "severity"), [(False, "H"), (True, "M")], ids=["gone", "compressed"]
)
def test_an_index_after_the_end_of_every_copy_is_all_that_is_left(
    disk: Path, is_kept: bool, severity: str
) -> None:
    """Kafka deletes the oldest segments first. A file that may be the segment has KL-003."""
    last = max((disk / "codec-none-0").glob("*.log"))
    last.rename(last.with_suffix(".log.gz")) if is_kept else last.unlink()
    found = of_code(found_in(disk, topic="codec-none"), "KL-209")
    assert {each.severity for each in found} == {severity}
    assert all(("no supplied copy reaches" in each.message) != is_kept for each in found)
