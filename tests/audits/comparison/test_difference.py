"""Collected differences: adjacent ones become one, and the first of each kind is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkalog_reader.audits.comparison import difference as module
from kafkalog_reader.audits.comparison.difference import DifferenceKind, Differences
from tests.audits.comparison.bare_comparison import LACKED, ONE, THREE


def test_adjacent_differences_of_one_kind_become_one() -> None:
    found = Differences()
    found.add(LACKED)
    found.add(replace(LACKED, first_offset=7, next_offset=8, records=1))
    assert found.found == (replace(LACKED, next_offset=8, batches=2, records=3),)


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
    found.add(LACKED)
    found.add(replace(LACKED, **({"first_offset": 7, "next_offset": 9} | other)))
    assert len(found.found) == 2


def test_beyond_the_maximum_only_the_first_of_a_kind_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX", 2)
    found = Differences()
    for number in range(4):
        found.add(replace(LACKED, first_offset=10 * number, next_offset=10 * number + 1))
    assert (len(found.found), found.left_out) == (2, 2)
    conflict = replace(LACKED, kind=DifferenceKind.CONFLICT, first_offset=90, next_offset=91)
    assert found.takes(DifferenceKind.CONFLICT, 90)
    found.add(conflict)
    assert found.found[-1] == conflict
    assert not found.takes(DifferenceKind.CONFLICT, 95)
    assert found.takes(DifferenceKind.CONFLICT, 91), "it continues the last one"
    assert found.left_out == 3
