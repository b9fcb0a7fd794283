"""Start orders: by hand, and for every small set of preferences compared with all orders."""

from __future__ import annotations

import itertools
import random

import pytest

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.plan.choice import Choice, LostRecords
from kafkalog_reader.audits.plan.start_order import start_order

LOST = (LostRecords(brokers=(9,), first_offset=0, next_offset=1, records=CommitCount(known=1)),)


def wish(
    name: str, good: set[int], bad: set[int], electable: set[int] | None = None, size: int = 1
) -> Choice:
    return Choice(
        topic=name,
        partition=0,
        leader=min(good),
        equals=frozenset(good),
        others=frozenset(bad),
        electable=None if electable is None else frozenset(electable),
        lost=LOST,
        size_in_bytes=size,
    )


def starts(*choices: Choice, brokers: tuple[int, ...] = (1, 2, 3)) -> list[tuple[int, ...]]:
    return [start.brokers for start in start_order(choices, brokers).starts]


def test_a_copy_that_must_not_lead_starts_when_another_leads() -> None:
    assert starts(wish("a", {2}, {1, 3})) == [(2,), (1, 3)]


def test_wishes_of_two_partitions_make_one_order() -> None:
    assert starts(wish("a", {1}, {2}), wish("b", {2}, {3})) == [(1,), (2,), (3,)]


def test_of_two_opposite_wishes_the_smaller_copy_is_replaced() -> None:
    order = start_order([wish("a", {1}, {2}, size=10), wish("b", {2}, {1}, size=3)], (1, 2))
    assert [(each.choice.topic, each.broker_id) for each in order.replaced] == [("b", 1)]
    assert [start.brokers for start in order.starts] == [(1,), (2,)]
    assert [[each.choice.topic for each in start.settled] for start in order.starts] == [
        ["a", "b"],
        [],
    ]


def test_opposite_wishes_need_no_replacement_where_the_isr_holds_only_good_copies() -> None:
    order = start_order([wish("a", {1}, {2}, {1}), wish("b", {2}, {1}, {2})], (1, 2))
    assert order.by_membership
    assert order.replaced == ()
    assert [start.brokers for start in order.starts] == [(1, 2)]


def test_any_of_the_isr_may_be_left_as_its_only_member() -> None:
    choice = wish("a", {1}, {2}, {1, 2})
    assert not choice.is_automatic
    order = start_order([choice], (1, 2))
    assert [start.brokers for start in order.starts] == [(1,), (2,)]
    assert order.starts[0].settled[0].may_lack_leader


def test_a_leader_that_is_alone_in_sync_needs_no_election() -> None:
    (first, _) = start_order([wish("a", {1}, {2}, {1})], (1, 2)).starts
    assert not first.settled[0].may_lack_leader


def test_the_only_copy_in_sync_waits_where_it_must_not_lead() -> None:
    order = start_order([wish("a", {1}, {2}, {2})], (1, 2))
    assert [start.brokers for start in order.starts] == [(1,), (2,)]
    assert order.starts[0].settled[0].may_lack_leader


@pytest.mark.parametrize("seed", range(200))
def test_replacing_is_the_last_resort_and_no_bad_copy_ever_runs_before_its_leader(
    seed: int,
) -> None:
    throw = random.Random(seed)
    brokers = (1, 2, 3)
    choices = []
    for number in range(throw.randint(1, 4)):
        good = set(throw.sample(brokers, throw.randint(1, 2)))
        choices.append(wish(f"t{number}", good, set(brokers) - good))
    order = start_order(choices, brokers)
    replaced = {(each.choice.topic, each.broker_id) for each in order.replaced}
    running: set[int] = set()
    for start in order.starts:
        running |= set(start.brokers)
        for choice in choices:
            good = choice.equals | {b for b in brokers if (choice.topic, b) in replaced}
            assert good & running or not choice.others & running
            assert not (choice.others - good) & set(start.brokers) or good & (
                running - set(start.brokers)
            )
    assert sorted(running) == list(brokers)
    possible = any(
        all(next(b for b in one if b in c.equals | c.others) in c.equals for c in choices)
        for one in itertools.permutations(brokers)
    )
    assert bool(order.replaced) == (not possible)
