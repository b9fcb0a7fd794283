"""Delivery states of a share partition, against a model that decides offset by offset.

KIP-932: where batches overlap, the greater delivery count holds, then the greater state.
"""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kafkalog_reader.tables.share_batches import StateBatch, combined

Found = list[tuple[int, int, int, int]]


def offset_by_offset(batches: list[StateBatch], start_offset: int) -> dict[int, tuple[int, int]]:
    """The (count, state) of each offset: the greatest of the batches that hold it."""
    decided: dict[int, tuple[int, int]] = {}
    for first, last, state, count in batches:
        for offset in range(max(first, start_offset), last + 1):
            decided[offset] = max(decided.get(offset, (0, 0)), (count, state))
    return decided


@pytest.mark.parametrize("start_offset", [0, 3, 8])
@pytest.mark.parametrize("seed", range(40))
def test_random_batches_give_each_offset_its_state(seed: int, start_offset: int) -> None:
    chance = random.Random(seed)
    batches = []
    for _ in range(chance.randrange(1, 7)):
        first = chance.randrange(12)
        last = first + chance.randrange(5)
        batches.append(StateBatch(first, last, chance.choice((0, 2, 4)), chance.randrange(1, 4)))
    found = combined(batches, start_offset)
    decided = {
        offset: (each.delivery_count, each.delivery_state)
        for each in found
        for offset in range(each.first_offset, each.last_offset + 1)
    }
    assert decided == offset_by_offset(batches, start_offset)
    assert sum(each.last_offset + 1 - each.first_offset for each in found) == len(decided)
    for before, after in pairwise(found):
        assert before.last_offset < after.first_offset
        # neighbours of one state are one batch
        assert before.last_offset + 1 < after.first_offset or before[2:] != after[2:]


@pytest.mark.parametrize(
    ("batches", "start_offset", "expected"),
    [
        pytest.param([(0, 4, 2, 1), (5, 9, 2, 1)], 0, [(0, 9, 2, 1)], id="joined"),
        pytest.param([(0, 4, 2, 1), (6, 9, 2, 1)], 0, [(0, 4, 2, 1), (6, 9, 2, 1)], id="gap"),
        pytest.param([(0, 4, 2, 1), (5, 9, 2, 2)], 0, [(0, 4, 2, 1), (5, 9, 2, 2)], id="counts"),
        pytest.param([(0, 4, 0, 1), (5, 9, 2, 1)], 0, [(0, 4, 0, 1), (5, 9, 2, 1)], id="states"),
        pytest.param(
            [(0, 9, 0, 1), (3, 5, 2, 1)], 0, [(0, 2, 0, 1), (3, 5, 2, 1), (6, 9, 0, 1)], id="inside"
        ),
        pytest.param([(0, 9, 2, 2), (3, 5, 4, 1)], 0, [(0, 9, 2, 2)], id="delivered_less_often"),
        pytest.param([(0, 4, 2, 1)], 4, [(4, 4, 2, 1)], id="only_the_start_offset_is_left"),
        pytest.param([(0, 4, 2, 1)], 5, [], id="below_the_start_offset"),
        pytest.param([(3, 2, 2, 1)], 0, [], id="no_offset"),
        pytest.param([], 7, [], id="nothing"),
    ],
)
def test_batches_are_combined(batches: Found, start_offset: int, expected: Found) -> None:
    found = combined([StateBatch(*each) for each in batches], start_offset)
    assert [tuple(each) for each in found] == expected


@pytest.mark.parametrize(
    ("state", "name"),
    [(0, "available"), (2, "acknowledged"), (4, "archived"), (5, "5"), (-1, "-1")],
)
def test_a_state_has_the_name_of_kafka_or_its_number(state: int, name: str) -> None:
    """RecordState: available 0, acquired 1, acknowledged 2, archived 4; others are not known."""
    assert StateBatch(0, 0, state, 1).state_name == name
