"""The heaviest ranges of offsets that rise, against every possible selection."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.tables import rising_selection
from kafkalog_reader.tables.rising_selection import heaviest_rising

Ranges = list[tuple[int, int]]
FIVE: Ranges = [(0, 9), (10, 19), (20, 29), (30, 39), (40, 49)]


def moved(number: int, first: int, last: int) -> Ranges:
    """Five ranges that join, of which one has other offsets."""
    return [(first, last) if n == number else each for n, each in enumerate(FIVE)]


@pytest.mark.parametrize(
    ("ranges", "selected"),
    [
        pytest.param(FIVE, [0, 1, 2, 3, 4], id="all_rise"),
        pytest.param(moved(2, 5, 14), [0, 1, 3, 4], id="falls"),
        pytest.param(moved(2, 19, 28), [0, 1, 3, 4], id="overlaps_by_one"),
        pytest.param(moved(0, 60, 69), [1, 2, 3, 4], id="first_is_too_high"),
        pytest.param(moved(4, 500, 509), [0, 1, 2, 3, 4], id="last_above_a_gap_still_rises"),
        pytest.param([], [], id="nothing"),
        pytest.param([(7, 7)], [0], id="one"),
    ],
)
def test_a_range_that_contradicts_its_neighbours_is_passed_over(
    ranges: Ranges, selected: list[int]
) -> None:
    assert heaviest_rising(ranges, [10] * len(ranges), start=0, stop=1000) == selected


def test_the_heavier_of_two_that_overlap_is_taken() -> None:
    overlapping = [(0, 5), (5, 9)]
    assert heaviest_rising(overlapping, [10, 100], start=-5, stop=50) == [1]
    assert heaviest_rising(overlapping, [100, 10], start=-5, stop=50) == [0]


def test_of_equal_ones_the_first_is_taken_unless_another_joins() -> None:
    overlapping = [(3, 5), (5, 9)]
    assert heaviest_rising(overlapping, [1, 1], start=0, stop=50) == [0]
    assert heaviest_rising(overlapping, [1, 1], start=5, stop=50) == [1]  # joins the start
    assert heaviest_rising(overlapping, [1, 1], start=0, stop=10) == [1]  # joins the stop


def test_one_that_leaves_exactly_its_room_was_moved() -> None:
    """Without the bonus of the room (2), 0 and 1 would weigh as much as 0 and 2."""
    ranges = [(0, 9), (100, 109), (20, 29)]
    assert heaviest_rising(ranges, [1, 1, 1], start=0, stop=1000) == [0, 2]
    ranges = [(0, 9), (100, 110), (20, 29)]  # one offset longer than the room
    assert heaviest_rising(ranges, [1, 1, 1], start=0, stop=1000) == [0, 1]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), st.integers(1, 999)), max_size=8))
def test_no_other_selection_is_heavier(drawn: list[tuple[int, int, int]]) -> None:
    """Offsets are tripled, so that none join and no room is exact: only weights count."""
    ranges = [(first * 33, first * 33 + length * 33) for first, length, _ in drawn]
    weights = [weight * 1000 for _, _, weight in drawn]
    best = max(
        sum(weights[n] for n in chosen)
        for size in range(len(ranges) + 1)
        for chosen in combinations(range(len(ranges)), size)
        if all(ranges[one][1] < ranges[n][0] for one, n in pairwise(chosen))
    )
    selected = heaviest_rising(ranges, weights, start=-9, stop=10**6)
    assert all(ranges[one][1] < ranges[n][0] for one, n in pairwise(selected))
    assert sum(weights[n] for n in selected) == best


def test_too_many_ranges_are_taken_as_they_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    ranges = [(0, 4), (5, 9), (9, 12), (10, 12), (40, 44)]
    monkeypatch.setattr(rising_selection, "MAX_RANGES", 4)
    assert heaviest_rising(ranges, [1, 1, 99, 1, 1], start=5, stop=50) == [1, 3, 4]
    monkeypatch.setattr(rising_selection, "MAX_RANGES", 5)
    assert heaviest_rising(ranges, [1, 1, 99, 1, 1], start=5, stop=50) == [0, 2, 4]
