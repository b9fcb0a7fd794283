"""Which offsets a salvage saw, counted run by run."""

from __future__ import annotations

import numpy as np
import pytest

from kafkalog_reader.salvage.offset_coverage import MAX_RANGES, LostOffsets, OffsetCoverage


def covered(*runs: list[tuple[int, int]]) -> OffsetCoverage:
    """The coverage after these runs of batches, each from its first to its last offset."""
    coverage = OffsetCoverage()
    for run in runs:
        first, last = (np.array([each[side] for each in run], np.int64) for side in (0, 1))
        coverage.add(first, last)
    return coverage


@pytest.mark.parametrize(
    ("runs", "missing", "ranges"),
    [
        pytest.param([[(5, 9), (10, 14)]], 0, [], id="adjacent"),
        pytest.param([[(5, 9), (11, 14)]], 1, [(10, 10)], id="one_is_missing"),
        pytest.param([[(5, 9)], [(12, 14)]], 2, [(10, 11)], id="between_runs"),
        pytest.param([[(5, 9)], [(10, 14)]], 0, [], id="runs_that_join"),
        pytest.param([[(0, 0), (3, 3), (9, 9)]], 7, [(1, 2), (4, 8)], id="two_gaps"),
        pytest.param([[], [(7, 7)], []], 0, [], id="empty_runs"),
    ],
)
def test_gaps_lie_between_the_first_and_the_last(
    runs: list[list[tuple[int, int]]], missing: int, ranges: list[tuple[int, int]]
) -> None:
    found = covered(*runs)
    assert (found.missing, found.missing_ranges) == (missing, ranges)
    batches = [batch for run in runs for batch in run]
    assert (found.first, found.last) == (batches[0][0], batches[-1][1])


def test_only_the_first_ranges_are_listed_but_all_offsets_are_counted() -> None:
    every_other = [(2 * n, 2 * n) for n in range(MAX_RANGES + 5)]
    found = covered(every_other[:600], every_other[600:])
    assert found.missing == MAX_RANGES + 4
    assert len(found.missing_ranges) == MAX_RANGES
    assert found.missing_ranges[-1] == (2 * MAX_RANGES - 1, 2 * MAX_RANGES - 1)


@pytest.mark.parametrize(
    ("offset", "lacks"),
    [(4, True), (5, False), (9, False), (10, True), (12, True), (13, False), (14, False),
     (15, True)],
)  # fmt: skip
def test_offsets_outside_and_in_gaps_are_lacking(offset: int, lacks: bool) -> None:
    assert covered([(5, 9), (13, 14)]).lacks(offset) is lacks


def test_nothing_seen_lacks_everything() -> None:
    assert OffsetCoverage().lacks(0)
    assert OffsetCoverage().as_json() == {
        "firstOffset": None, "lastOffset": None, "missingOffsets": 0, "missingOffsetRanges": [],
    }  # fmt: skip


def test_the_manifest_names_the_last_lost_offset_itself() -> None:
    lost = LostOffsets(first_offset=3, next_offset=4, why="no batch", held_by=("broker 2",))
    assert lost.as_json() == {
        "firstOffset": 3, "lastOffset": 3, "reason": "no batch", "heldBy": ["broker 2"],
    }  # fmt: skip
