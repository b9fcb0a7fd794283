"""Random histories; ``make histories`` runs more of them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.histories.check import differences, differences_of_files, history_of
from tests.model.elections import elections
from tests.model.partition import content_fork


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_elections_of_random_histories_are_those_of_the_model(first: int) -> None:
    """With intact epoch files a follower ends at the content fork; otherwise content decides."""
    assert [each for seed in range(first, first + 100) for each in differences(seed)] == []


def test_the_same_through_real_files() -> None:
    seeds = [*range(2000, 2060), 1000144]  # the last one: a high watermark above every log end
    assert [each for seed in seeds for each in differences_of_files(seed)] == []


def test_the_histories_hold_what_they_are_for() -> None:
    """A simulation without events would agree with everything."""
    seen: Counter[str] = Counter()
    for seed in range(1000):
        history = history_of(seed)
        stopped = {node: broker.replica for node, broker in history.brokers.items()}
        replicas = list(stopped.values())
        costs = elections(stopped, history.replicas)
        forks = {content_fork(one, other) for one in replicas for other in replicas} - {None}
        rounds = max(each.rounds for cost in costs for each in cost.followers)
        seen["clean"] += history.temper.is_clean
        seen["forked"] += bool(forks)
        seen["forked twice"] += len(forks) > 1
        seen["several rounds"] += rounds > 1
        seen["acknowledged"] += bool(history.acknowledged)
        seen["every leader loses committed records"] += all(cost.known for cost in costs)
        seen["acknowledged and lost everywhere"] += any(
            all(record not in each.records for each in replicas) for record in history.acknowledged
        )
    assert {name for name, count in seen.items() if count < 5} == set(), seen
