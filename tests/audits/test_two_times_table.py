"""What neither copy of two times has, or both have damaged, is no reason to say "nothing lost".

Batches ``0-4`` and ``5-9`` have five records each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.changes import changes, two_times
from kafkalog_reader.cli.changes import changes_command
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.request import ReadRequest
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

HELD = "0-4/e0 5-9/e0"
LOG = f"{0:020}.log"
LENGTH, RECORDS = 8, 61
"""Positions of a batch: of its length, and of its records."""


class Times:
    """Two copies of t-0 on broker 1, with high watermarks of 10 unless given."""

    def __init__(self, root: Path, old: int = 10, new: int = 10, new_log: str = HELD) -> None:
        cluster(root / "old", {1: replica(HELD, high_watermark=old)})
        cluster(root / "new", {1: replica(new_log, high_watermark=new)})
        self.paths = str(root / "old"), str(root / "new")
        self.logs = [next((root / side).rglob(f"t-0/{LOG}")) for side in ("old", "new")]

    def change(self, position: int, *sides: int) -> Times:
        for side in sides:
            content = bytearray(self.logs[side].read_bytes())
            content[position] ^= 0x40
            self.logs[side].write_bytes(content)
        return self

    @property
    def found(self) -> list[tuple[str, int | None, int | None]]:
        old, new = (discover([path]) for path in self.paths)
        every = changes(two_times(old, new), ReadRequest(), no_progress)
        return [(each.kind.value, each.first_offset, each.next_offset) for each in every]


@pytest.mark.parametrize("position", [RECORDS, LENGTH])
def test_the_same_damage_in_both_copies_is_damage(position: int, tmp_path: Path) -> None:
    times = Times(tmp_path).change(position, 0, 1)
    assert times.found == [("damaged", 0, 5), ("unchanged", 5, 10)]
    status, text = asked(changes_command, *times.paths)
    assert status == 1
    assert text.startswith("damaged (1 range): ")
    assert "both copies" in text


def test_new_records_that_are_damaged_are_damage(tmp_path: Path) -> None:
    times = Times(tmp_path, new_log=f"{HELD} 10-14/e0", new=15)
    times.change(times.logs[0].stat().st_size + RECORDS, 1)
    assert times.found == [("unchanged", 0, 10), ("damaged", 10, 15)]


def test_damage_that_was_deleted_since_is_no_damage(tmp_path: Path) -> None:
    cluster(tmp_path / "kept", {1: replica("5-9/e0", high_watermark=10, log_start=5)})
    times = Times(tmp_path).change(RECORDS, 0)
    old, new = (discover([path]) for path in (times.paths[0], str(tmp_path / "kept")))
    kinds = {each.kind.value for each in changes(two_times(old, new), ReadRequest(), no_progress)}
    assert kinds == {"expired", "unchanged"}


@pytest.mark.parametrize(
    ("old", "new", "lost", "copy"),
    [
        (12, 10, (10, 12), "the old copy"),
        (10, 13, (10, 13), "the new copy"),
        (12, 13, (10, 13), "both copies"),
    ],
)
def test_records_above_both_ends_that_were_committed_are_lost(
    old: int, new: int, lost: tuple[int, int], copy: str, tmp_path: Path
) -> None:
    times = Times(tmp_path, old, new)
    assert times.found == [("unchanged", 0, 10), ("lostCommitted", *lost)]
    status, text = asked(changes_command, *times.paths)
    assert status == 1
    assert text.startswith("lost committed records (1 range): ")
    assert f"below the high watermark of {copy}" in text


def test_a_partition_without_any_record_may_have_lost_all(tmp_path: Path) -> None:
    times = Times(tmp_path)
    for log in times.logs:
        log.write_bytes(b"")
    assert times.found == [("lostCommitted", 0, 10)]
