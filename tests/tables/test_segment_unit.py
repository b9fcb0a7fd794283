"""Whole segments as work: which files of a directory count, and where its log ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.segment_unit import segment_units, whole_segments
from tests.tables.logs import batch

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.scan.segment_slice import SegmentSlice

SIZE = len(batch(0))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Segments 0, 3 and 6; 9 has only an index; 0 is also there deleted, 3 also cleaned."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    for base in (0, 3, 6):
        (directory / f"{base:020}.log").write_bytes(batch(base))
    (directory / f"{9:020}.index").write_bytes(b"")
    (directory / f"{0:020}.log.deleted").write_bytes(batch(0))
    (directory / f"{3:020}.log.cleaned").write_bytes(batch(3))
    return tmp_path


def described(each: SegmentSlice) -> tuple[int, str | None, bool]:
    return each.segment.base_offset, each.segment.suffix, each.is_log_end


def test_only_the_last_live_log_is_the_end(root: Path) -> None:
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    live = [described(each) for each in whole_segments(directory, live_only=True)]
    assert live == [(0, None, False), (3, None, False), (6, None, True), (9, None, False)]


def test_files_aside_are_logs_of_their_own(root: Path) -> None:
    """Nothing follows a log that is deleted or not finished yet."""
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    everything = {described(each) for each in whole_segments(directory, live_only=False)}
    assert everything == {
        (0, None, False),
        (0, "deleted", True),
        (3, None, False),
        (3, "cleaned", True),
        (6, None, True),
        (9, None, False),
    }


def test_a_swap_is_live_and_may_be_the_end(root: Path) -> None:
    (root / "t-0" / f"{6:020}.log").rename(root / "t-0" / f"{6:020}.log.swap")
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    ends = [described(e) for e in whole_segments(directory, live_only=False) if e.is_log_end]
    assert (6, "swap", True) in ends
    assert (3, None, True) not in ends


@pytest.mark.parametrize(
    ("most", "packed"),
    [
        (1, [[0], [3], [6], [9]]),
        (2 * SIZE + 4, [[0, 3], [6, 9]]),  # opening a segment counts, too
        (100 * SIZE, [[0, 3, 6, 9]]),
    ],
)
def test_small_segments_are_packed_together(root: Path, most: int, packed: list[list[int]]) -> None:
    request = ReadRequest(max_partition_bytes=most)
    units = list(segment_units(discover([str(root)]), request, live_only=True))
    assert [[each.segment.base_offset for each in unit.slices] for unit in units] == packed
    assert sum(unit.size_in_bytes for unit in units) == 3 * SIZE


def test_directories_that_are_no_replica_are_left_out_if_asked(root: Path) -> None:
    aside = root / "u-0.0123456789abcdef0123456789abcdef-delete"
    aside.mkdir()
    (aside / f"{0:020}.log").write_bytes(batch(0))
    evidence = discover([str(root)])
    for live_only, folders in ((True, {"t-0"}), (False, {"t-0", aside.name})):
        units = segment_units(evidence, ReadRequest(), live_only=live_only)
        paths = {each.directory.path.rpartition("/")[2] for unit in units for each in unit.slices}
        assert paths == folders
