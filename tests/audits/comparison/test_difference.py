"""Collected differences, and the first offset at which two replicas hold different content."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkalog_reader.audits.comparison import difference as module
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind, Differences
from tests.audits.comparison.bare_comparison import ONE, THREE, TWO, branch, comparison

BASE = Difference(
    kind=DifferenceKind.MISSING,
    first_offset=5,
    next_offset=7,
    batches=1,
    records=2,
    contents=((ONE,),),
    absent=(TWO,),
)


def test_adjacent_differences_of_one_kind_become_one() -> None:
    found = Differences()
    found.add(BASE)
    found.add(replace(BASE, first_offset=7, next_offset=8, records=1))
    assert found.found == (replace(BASE, next_offset=8, batches=2, records=3),)


@pytest.mark.parametrize(
    "other",
    [
        {"first_offset": 8},
        {"kind": DifferenceKind.CLEANED},
        {"contents": ((THREE,),)},
        {"absent": (THREE,)},
        {"damaged": (ONE,)},
    ],
    ids=["gap", "kind", "contents", "absent", "damaged"],
)
def test_others_stay_apart(other: dict[str, object]) -> None:
    found = Differences()
    found.add(BASE)
    found.add(replace(BASE, **({"first_offset": 7, "next_offset": 9} | other)))
    assert len(found.found) == 2


def test_beyond_the_maximum_only_the_first_of_a_kind_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX", 2)
    found = Differences()
    for number in range(4):
        found.add(replace(BASE, first_offset=10 * number, next_offset=10 * number + 1))
    assert (len(found.found), found.left_out) == (2, 2)
    conflict = replace(BASE, kind=DifferenceKind.CONFLICT, first_offset=90, next_offset=91)
    assert found.takes(DifferenceKind.CONFLICT, 90)
    found.add(conflict)
    assert found.found[-1] == conflict
    assert not found.takes(DifferenceKind.CONFLICT, 95)
    assert found.takes(DifferenceKind.CONFLICT, 91), "it continues the last one"
    assert found.left_out == 3


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
    found = comparison(root, differences=(replace(BASE, kind=kind),))
    assert found.content_fork(ONE, TWO) == fork
    assert found.content_fork(ONE, THREE) is None, "it is no side of it"


def test_order_is_that_of_the_replicas() -> None:
    assert comparison().order((THREE, ONE)) == (2, 0)
