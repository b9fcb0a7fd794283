"""KL-405: what a start does with .swap, .cleaned and .deleted files, by Kafka's LogLoader."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, parse_log, replica
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

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


def found_in(partition: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(partition.parent)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code == "KL-405"]


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


def test_a_damaged_swap_that_replaces_good_data_is_critical(partition: Path) -> None:
    path = add(partition, 0, "swap")
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(content)
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
