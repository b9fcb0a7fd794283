"""How the log of one replica is divided into shares."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.tables.log_shares import (
    MAX_SEGMENTS,
    OPEN_COST,
    Stretch,
    grouped,
    open_cost,
    shares,
)

MIB = 1 << 20
TASK = 128 * MIB


def whole(*sizes: int) -> list[Stretch]:
    return [Stretch(number, 0, size) for number, size in enumerate(sizes)]


def at_pages(stretch: Stretch, target: int) -> int | None:
    """A border every 4 KiB, as an index names them."""
    cut = target // 4096 * 4096
    return cut if stretch.start < cut < stretch.stop else None


def nowhere(stretch: Stretch, target: int) -> int | None:
    return None


def sizes(divided: list[tuple[Stretch, ...]]) -> list[int]:
    return [sum(each.stop - each.start for each in share) for share in divided]


def test_ten_gigabytes_of_uneven_segments_are_equal_shares() -> None:
    uneven = whole(*[90 * MIB, 143 * MIB, 71 * MIB, 10 * MIB, 126 * MIB, 300 * MIB] * 14)
    found = sizes(list(shares(uneven, TASK, at_pages)))
    assert max(found) <= 1.15 * sum(found) / len(found)
    assert max(found) <= 1.125 * TASK


def test_a_little_more_than_a_task_is_not_cut() -> None:
    assert sizes(list(shares(whole(100 * MIB, 33 * MIB), TASK, at_pages))) == [133 * MIB]


def test_what_has_no_border_stays_whole() -> None:
    found = list(shares(whole(100 * MIB, 500 * MIB, 20 * MIB), TASK, nowhere))
    assert sizes(found) == [100 * MIB, 500 * MIB, 20 * MIB]


def test_thousands_of_tiny_segments_are_several_shares() -> None:
    found = list(shares(whole(*[100] * 1000), TASK, at_pages))
    assert sum(map(len, found)) == 1000
    assert max(map(len, found)) <= 1.125 * 128


@given(
    lengths=st.lists(st.integers(min_value=1, max_value=1 << 31), max_size=12),
    task=st.integers(min_value=1 << 12, max_value=1 << 40),
    has_borders=st.booleans(),
)
def test_shares_are_the_stretches_in_order_without_gap_or_overlap(
    lengths: list[int], task: int, has_borders: bool
) -> None:
    task = max(task, sum(lengths) // 1000)
    found = list(shares(whole(*lengths), task, at_pages if has_borders else nowhere))
    assert all(found)
    joined: list[Stretch] = []
    for each in (stretch for share in found for stretch in share):
        if joined and joined[-1].number == each.number:
            assert joined[-1].stop == each.start
            joined[-1] = Stretch(each.number, joined[-1].start, each.stop)
        else:
            joined.append(each)
    assert joined == whole(*lengths)


def test_a_group_costs_no_more_than_a_task() -> None:
    groups = list(grouped([MIB] * 100, lambda size: (size, 1), 10 * MIB))
    assert [size for size, _ in groups] == [9 * MIB] * 11 + [MIB]  # opening: 80 KiB each
    groups = list(grouped([7] * 3000, lambda size: (size, 1), 1 << 60))
    assert [len(items) for _, items in groups] == [MAX_SEGMENTS] * 3


def test_opening_is_cheaper_where_tasks_are_small() -> None:
    assert [open_cost(TASK), open_cost(1 << 60), open_cost(12800)] == [OPEN_COST, OPEN_COST, 100]
