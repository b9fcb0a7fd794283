"""Where compared replicas part, who holds what, and which content others outvote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.log.lineage import EpochInterval
from tests.audits.comparison.bare_comparison import LACKED, ONE, THREE, TWO, branch, comparison

if TYPE_CHECKING:
    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.log.replica import Replica


def test_a_gap_in_one_log_is_no_fork_of_records() -> None:
    gap = replace(LACKED, absent=(TWO,), contents=((ONE, THREE),))
    conflict = replace(
        LACKED, kind=DifferenceKind.CONFLICT, first_offset=7, next_offset=8, absent=(),
        contents=((ONE, TWO), (THREE,)),
    )  # fmt: skip
    found = comparison(branch(0, 9, ONE, TWO, THREE), differences=(gap, conflict))
    assert (found.content_fork(ONE, TWO), found.record_fork(ONE, TWO)) == (5, None)
    assert (found.content_fork(TWO, THREE), found.record_fork(TWO, THREE)) == (5, 7)
    assert (found.content_fork(ONE, THREE), found.record_fork(ONE, THREE)) == (7, 7)


def test_replicas_fork_where_their_branches_begin() -> None:
    root = branch(0, 4, ONE, TWO, THREE, children=(branch(4, 6, ONE), branch(4, 5, TWO, THREE)))
    found = comparison(root)
    assert found.content_fork(ONE, TWO) == 4
    assert found.content_fork(TWO, THREE) is None
    assert found.forks == (root,)
    assert found.has_content_fork


@pytest.mark.parametrize(("start", "fork"), [(4, 4), (5, 5), (6, None)])
def test_below_a_log_start_nothing_differs(start: int, fork: int | None) -> None:
    root = branch(0, 4, ONE, TWO, children=(branch(4, 6, ONE), branch(4, 6, TWO)))
    found = comparison(root, start1=start)
    one, two, _ = found.replicas
    assert found.content_fork(one, two) == fork


@pytest.mark.parametrize(
    ("kind", "fork"),
    [
        (DifferenceKind.CONFLICT, 5),
        (DifferenceKind.MISSING, 5),
        (DifferenceKind.DAMAGED, None),
        (DifferenceKind.CLEANED, None),
    ],
)
def test_a_difference_that_nothing_explains_is_a_fork(
    kind: DifferenceKind, fork: int | None
) -> None:
    root = branch(0, 9, ONE, TWO, THREE)
    found = comparison(root, differences=(replace(LACKED, kind=kind),))
    assert found.content_fork(ONE, TWO) == fork
    assert found.content_fork(ONE, THREE) is None, "it is no side of it"


def test_order_is_that_of_the_replicas() -> None:
    assert comparison().order((THREE, ONE)) == (2, 0)


def holding(
    first: int, following: int, one: Replica, *contents: tuple[int, int, int, int]
) -> Branch:
    """A branch whose contents are (leader epoch, first offset, next offset, fingerprint)."""
    return replace(
        branch(first, following, one),
        contents=tuple((EpochInterval(*each[:3]), each[3]) for each in contents),
    )


@pytest.mark.parametrize(
    ("theirs", "fork"),
    [
        pytest.param([(0, 0, 4, 70), (1, 4, 9, 71)], None, id="alike"),
        pytest.param([(0, 0, 4, 70), (1, 4, 9, 72)], 0, id="other_batches"),
        pytest.param([(0, 0, 4, 70), (2, 4, 9, 71)], 0, id="another_epoch"),
        pytest.param([(0, 0, 4, 70)], 0, id="only_a_part"),
        pytest.param([], 0, id="nothing_known"),
    ],
)
def test_branches_of_equal_content_are_not_a_fork(
    theirs: list[tuple[int, int, int, int]], fork: int | None
) -> None:
    """A follower that was truncated inside a batch loses it, and then continues alike."""
    found = comparison(
        holding(0, 9, ONE, (0, 0, 4, 70), (1, 4, 9, 71)), holding(0, 9, TWO, *theirs)
    )
    assert found.content_fork(ONE, TWO) == found.content_fork(TWO, ONE) == fork


@pytest.mark.parametrize(
    ("start", "stop", "fork"), [(0, 9, None), (0, 12, None), (2, 9, 2), (0, 7, 0)]
)
def test_equal_content_must_fill_the_common_range(start: int, stop: int, fork: int | None) -> None:
    """Otherwise the replicas have different batches at its beginning or end."""
    same = (0, 0, 9, 70)
    found = comparison(holding(0, 9, ONE, same), holding(start, stop, TWO, same))
    assert found.content_fork(ONE, TWO) == fork


def test_logs_without_a_common_offset_do_not_differ() -> None:
    found = comparison(branch(0, 4, ONE), branch(4, 9, TWO), branch(3, 3, THREE))
    assert found.content_fork(ONE, TWO) is None
    assert found.content_fork(ONE, THREE) is None, "it has no batch"


def ranges(found: Comparison, *, by_content: bool = False) -> list[tuple[int, int, list[int]]]:
    return [
        (first, following, [int(each.broker_id or 0) for each in replicas])
        for _, replicas, first, following in found.held_ranges(by_content=by_content)
    ]


def test_held_ranges_leave_out_who_lacks_them() -> None:
    root = branch(0, 9, ONE, TWO)
    missing = replace(LACKED, contents=((ONE,),), absent=(TWO,))
    assert ranges(comparison(root)) == [(0, 9, [1, 2])]
    assert ranges(comparison(root, differences=(missing,))) == [
        (0, 5, [1, 2]), (5, 7, [1]), (7, 9, [1, 2]),
    ]  # fmt: skip
    at_start = replace(missing, first_offset=0, next_offset=2)
    at_end = replace(missing, first_offset=8, next_offset=9)
    assert ranges(comparison(root, differences=(at_start, at_end))) == [
        (0, 2, [1]), (2, 8, [1, 2]), (8, 9, [1]),
    ]  # fmt: skip
    both = replace(missing, absent=(ONE, TWO))
    assert ranges(comparison(root, differences=(both,))) == [(0, 5, [1, 2]), (7, 9, [1, 2])]


def test_held_ranges_of_a_tree_are_cut_at_its_branches() -> None:
    tree = branch(0, 4, ONE, TWO, children=(branch(4, 8, ONE), branch(4, 6, TWO)))
    lacks = replace(LACKED, first_offset=3, next_offset=5, contents=((TWO,),), absent=(ONE,))
    assert ranges(comparison(tree)) == [(0, 4, [1, 2]), (4, 8, [1]), (4, 6, [2])]
    assert ranges(comparison(tree, differences=(lacks,))) == [
        (0, 3, [1, 2]), (3, 4, [2]), (5, 8, [1]), (4, 5, [2]), (5, 6, [2]),
    ]  # fmt: skip


def test_a_conflict_divides_the_holders_only_if_asked() -> None:
    root = branch(0, 9, ONE, TWO, THREE)
    conflict = replace(
        LACKED, kind=DifferenceKind.CONFLICT, contents=((ONE, THREE), (TWO,)), absent=()
    )
    found = comparison(root, differences=(conflict,))
    assert ranges(found) == [(0, 9, [1, 2, 3])]
    assert ranges(found, by_content=True) == [
        (0, 5, [1, 2, 3]), (5, 7, [1, 3]), (5, 7, [2]), (7, 9, [1, 2, 3]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("contents", "members", "outvoted"),
    [
        (((ONE, THREE), (TWO,)), (), {TWO: 5}),
        (((ONE, THREE), (TWO,)), (ONE,), {TWO: 5}),
        (((ONE, THREE), (TWO,)), (TWO,), {}),  # the copies and the ISR disagree
        (((ONE,), (TWO,)), (), {}),
        (((ONE,), (TWO,)), (TWO,), {ONE: 5}),
        (((ONE,), (TWO,)), (ONE, TWO), {}),
        (((ONE,), (TWO,), (THREE,)), (THREE,), {ONE: 5, TWO: 5}),
    ],
)
def test_a_content_is_outvoted_by_copies_and_by_members_of_the_isr(
    contents: tuple[tuple[Replica, ...], ...],
    members: tuple[Replica, ...],
    outvoted: dict[Replica, int],
) -> None:
    root = branch(0, 9, ONE, TWO, THREE)
    conflict = replace(LACKED, kind=DifferenceKind.CONFLICT, contents=contents, absent=())
    later = replace(conflict, first_offset=8, next_offset=9)
    found = comparison(root, differences=(conflict, later))
    assert found.outvoted(members) == outvoted
    damaged = replace(conflict, kind=DifferenceKind.DAMAGED)
    assert comparison(root, differences=(damaged,)).outvoted(members) == {}


def test_equal_contents_of_two_branches_are_held_together() -> None:
    tree = replace(
        branch(0, 4, ONE, TWO),
        children=(
            holding(4, 9, ONE, (0, 4, 6, 1), (1, 6, 9, 2)),
            holding(4, 9, TWO, (0, 4, 6, 3), (1, 6, 9, 2)),
        ),
    )
    assert [each for each in ranges(comparison(tree)) if each[0] < each[1]] == [
        (0, 4, [1, 2]), (4, 6, [1]), (6, 9, [1, 2]), (4, 6, [2]),
    ]  # fmt: skip


def test_headers_outside_the_checksum_differ_at_the_first_of_them() -> None:
    root = branch(0, 9, ONE, TWO, THREE)
    first, second = (
        replace(
            LACKED, kind=DifferenceKind.UNCOVERED, first_offset=at, next_offset=at + 1,
            contents=((ONE,), (TWO,)), absent=(), damaged=(TWO,),
        )
        for at in (3, 6)
    )  # fmt: skip
    found = comparison(root, differences=(first, second, LACKED))
    assert (found.header_fork(ONE, TWO), found.header_fork(ONE, THREE)) == (3, None)
    assert (found.wrong_headers(ONE), found.wrong_headers(TWO)) == (0, 2)
    assert not found.has_two_contents
    conflict = replace(first, kind=DifferenceKind.CONFLICT)
    assert comparison(root, differences=(conflict,)).has_two_contents


def test_later_differences_take_their_place_by_offset() -> None:
    later = replace(LACKED, first_offset=9, next_offset=10)
    found = comparison(differences=(later,)).with_differences([LACKED])
    assert found.differences == (LACKED, later)


@pytest.mark.parametrize(("start", "is_fork"), [(4, True), (5, True), (6, False)])
def test_a_fork_that_nobody_can_read_is_none(start: int, is_fork: bool) -> None:
    """Brokers answer a fetch below the log start with OFFSET_OUT_OF_RANGE."""
    one, two, _ = comparison(start1=start).replicas
    root = branch(0, 4, one, two, children=(branch(4, 6, one), branch(4, 6, two)))
    assert comparison(root, start1=start).forks == ((root,) if is_fork else ())


def test_a_damaged_copy_in_a_conflict_counts_with_the_first_content() -> None:
    """Its checksum is wrong, so it is no third content, of which records could be lost."""
    conflict = replace(
        LACKED, kind=DifferenceKind.CONFLICT, contents=((ONE,), (TWO,), (THREE,)), absent=(),
        damaged=(THREE,),
    )  # fmt: skip
    found = comparison(branch(0, 9, ONE, TWO, THREE), differences=(conflict,))
    assert ranges(found, by_content=True) == [
        (0, 5, [1, 2, 3]), (5, 7, [1, 3]), (5, 7, [2]), (7, 9, [1, 2, 3]),
    ]  # fmt: skip
