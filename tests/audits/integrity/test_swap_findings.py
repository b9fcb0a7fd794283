"""KL-405: what a start does with .swap, .cleaned and .deleted files, by Kafka's LogLoader."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, parse_log, replica
from kafkalog_reader.audits.catalogue.actions import (
    COMPARE_REPLICAS,
    DO_NOT_START,
    LOOK_FOR_A_COPY,
    NOTHING_TO_DO,
    RESTORE_OLD_SEGMENTS,
)
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.finding import Finding

LOG = "0-9/e0 10-19/e0 20-29/e0 30-39/e0"


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """Segments 0 and 20 of a broker that was killed."""
    batches = parse_log(LOG)
    described = replica(batches, segment_bytes=350, high_watermark=40)
    (root,) = cluster(tmp_path, {0: described}).values()
    assert sorted(path.name for path in (root / "t-0").glob("*.log")) == [
        f"{base:020}.log" for base in (0, 20)
    ]
    return root / "t-0"


def found_in(partition: Path, *others: Path, code: str = "KL-405") -> list[Finding]:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(each.parent) for each in (partition, *others)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code == code]


def add(partition: Path, base: int, suffix: str) -> Path:
    target = partition / f"{base:020}.log.{suffix}"
    shutil.copy(partition / f"{base:020}.log", target)
    return target


def test_a_sound_swap_replaces_the_segments_of_its_range(partition: Path) -> None:
    add(partition, 0, "swap")
    (found,) = found_in(partition)
    evidence = dict(found.evidence)
    assert (found.severity, evidence["outcome"], evidence["replaced"]) == ("M", "replaces", "0")
    assert (found.first_offset, found.next_offset) == (0, 20)


@pytest.mark.parametrize("old", ["0", ""])
def test_an_empty_swap_replaces_the_segment_of_its_name_alone(partition: Path, old: str) -> None:
    """Compaction left no record of it. Source: Kafka 3.9, LogLoader#load."""
    add(partition, 0, "swap").write_bytes(b"")
    if not old:
        (partition / f"{0:020}.log").unlink()
    (found,) = found_in(partition)
    what = "the next start puts the new segments 0 in place, which have no records"
    deletes = "; it deletes the old segments 0" if old else ""
    assert found.message.endswith(f".log.swap: {what}{deletes}")
    assert (found.severity, found.first_offset, found.actions) == ("M", None, (NOTHING_TO_DO,))
    assert dict(found.evidence)["replaced"] == old


def test_a_damaged_swap_that_replaces_good_data_is_critical(partition: Path) -> None:
    path = add(partition, 0, "swap")
    damage(path)
    (found,) = found_in(partition)
    assert (found.severity, dict(found.evidence)["damaged"]) == ("C", "0")


def test_a_swap_at_or_above_an_unfinished_cleaning_is_deleted(partition: Path) -> None:
    add(partition, 20, "swap")
    add(partition, 0, "cleaned")
    outcomes = {
        dict(each.evidence)["suffix"]: dict(each.evidence)["outcome"]
        for each in found_in(partition)
    }
    assert outcomes == {"swap": "deleted", "cleaned": "deleted"}


def test_deleted_files_are_information(partition: Path) -> None:
    add(partition, 0, "deleted")
    (found,) = found_in(partition)
    assert (found.severity, found.actions) == ("I", ("A1",))


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(content)


def carry_out(found: Finding) -> None:
    for move in found.repairs:
        assert isinstance(move, Move)
        Path(move.target).parent.mkdir(parents=True, exist_ok=True)
        assert not Path(move.target).exists()
        Path(move.path).rename(move.target)


@pytest.mark.parametrize("suffix", ["", ".deleted"], ids=["live", "deleted"])
def test_old_segments_that_are_sound_are_kept(partition: Path, suffix: str) -> None:
    old = partition / f"{0:020}.log"
    sound = old.read_bytes()
    damage(add(partition, 0, "swap"))
    if suffix:
        for kind in ("log", "index", "timeindex"):
            path = partition / f"{0:020}.{kind}"
            path.rename(f"{path}{suffix}")
    (found,) = found_in(partition)
    assert found.actions[0] == RESTORE_OLD_SEGMENTS
    carry_out(found)
    assert old.read_bytes() == sound
    assert [*partition.glob("*.swap"), *partition.glob("*.deleted")] == []
    assert found_in(partition) == []


def test_old_segments_that_are_damaged_too_are_compared_first(partition: Path) -> None:
    damage(partition / f"{0:020}.log")
    add(partition, 0, "swap")
    (found,) = found_in(partition)
    assert (found.actions, found.repairs) == ((DO_NOT_START, COMPARE_REPLICAS), ())


def test_old_segments_that_end_earlier_do_not_hold_the_records(partition: Path) -> None:
    damage(add(partition, 0, "swap"))
    old = partition / f"{0:020}.log"
    header = old.read_bytes()
    old.write_bytes(header[: 12 + int.from_bytes(header[8:12], "big")])  # the first batch
    (found,) = found_in(partition)
    assert (found.actions, found.repairs) == ((DO_NOT_START, COMPARE_REPLICAS), ())


def test_what_a_start_finishes_by_itself_needs_nothing(partition: Path) -> None:
    add(partition, 0, "swap")
    (found,) = found_in(partition)
    assert found.actions == (NOTHING_TO_DO,)
    (partition / f"{0:020}.log.swap").rename(partition / f"{0:020}.log.cleaned")
    (found,) = found_in(partition)
    assert found.actions == (NOTHING_TO_DO,)


def test_a_start_that_deletes_the_only_file_of_a_range_is_not_harmless(partition: Path) -> None:
    (partition / f"{20:020}.log").rename(partition / f"{20:020}.log.swap")
    add(partition, 0, "cleaned")
    cleaned, swap = sorted(found_in(partition), key=lambda each: dict(each.evidence)["suffix"])
    assert cleaned.actions == (NOTHING_TO_DO,)
    assert swap.actions == (DO_NOT_START, COMPARE_REPLICAS)


@pytest.fixture
def with_gap(tmp_path: Path) -> Path:
    """Segments 0, 10, 20 and 30; the files of 10 and 20 are marked as deleted."""
    described = replica(parse_log(LOG), segment_bytes=1, high_watermark=40)
    partition = cluster(tmp_path, {0: described})[0] / "t-0"
    for base in (10, 20):
        for path in partition.glob(f"{base:020}.*"):
            if path.suffix != ".snapshot":
                path.rename(f"{path}.deleted")
    return partition


def test_deleted_segments_that_hold_a_gap_get_their_names_back(with_gap: Path) -> None:
    """LogLoader#removeTempFilesAndCollectSwapFiles deletes them before it loads a segment."""
    (found,) = found_in(with_gap)
    assert (found.severity, found.actions) == ("H", (RESTORE_OLD_SEGMENTS,))
    assert (found.first_offset, found.next_offset) == (10, 30)
    (gap,) = found_in(with_gap, code="KL-404")
    assert LOOK_FOR_A_COPY not in gap.actions
    carry_out(found)
    assert [*with_gap.glob("*.deleted")] == []
    assert found_in(with_gap) == found_in(with_gap, code="KL-404") == []


def test_deleted_segments_of_a_gap_do_not_matter_where_another_copy_has_it(
    with_gap: Path, tmp_path: Path
) -> None:
    described = replica(parse_log(LOG), segment_bytes=1, high_watermark=40)
    other = cluster(tmp_path / "other", {1: described})[1] / "t-0"
    (found,) = found_in(with_gap, other)
    assert (found.severity, found.actions, found.repairs) == ("I", (NOTHING_TO_DO,), ())


@pytest.mark.parametrize("change", ["damaged", "incomplete", "replaced"])
def test_deleted_segments_that_do_not_hold_all_of_a_gap_are_information(
    with_gap: Path, change: str
) -> None:
    """A segment with the name of a live one was replaced: by the log cleaner, which left a gap."""
    log = with_gap / f"{20:020}.log.deleted"
    if change == "damaged":
        damage(log)
    elif change == "incomplete":
        log.unlink()
    else:
        add(with_gap, 0, "deleted")
    (found,) = found_in(with_gap)
    assert (found.severity, found.actions, found.repairs) == ("I", (NOTHING_TO_DO,), ())
    (gap,) = found_in(with_gap, code="KL-404")
    assert LOOK_FOR_A_COPY in gap.actions
