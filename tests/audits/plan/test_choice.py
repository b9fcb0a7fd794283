"""Which brokers wait for the leader of one partition, and what the controller does by itself."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome
from kafkalog_reader.audits.plan.choice import Choice, LostRecords

MERGE = MergeOutcome(readable_offsets=1, gained_offsets=1, corrected_batches=0, lost=())


def choice(**fields: Any) -> Choice:
    """Broker 1 leads t-0, broker 2 is as good, 3 must wait; the controller may elect 1 and 2."""
    given = {
        "topic": "t", "partition": 0, "leader": 1, "equals": frozenset({1, 2}),
        "others": frozenset({3}), "electable": frozenset({1, 2}), **fields,
    }  # fmt: skip
    return Choice(**given)


def lost(first: int, following: int, known: int) -> LostRecords:
    return LostRecords(
        brokers=(3,), first_offset=first, next_offset=following, records=CommitCount(known=known)
    )


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param([], [(0, 9, 9, True)], id="the_copy_keeps_everything"),
        pytest.param([(0, 9)], [(0, 9, 9, False)], id="it_cuts_everything"),
        pytest.param([(6, 9)], [(0, 6, 6, True), (6, 9, 3, False)], id="it_cuts_its_end"),
        pytest.param(
            [(0, 2), (6, 9)],
            [(0, 2, 2, False), (2, 6, 4, True), (6, 9, 3, False)],
            id="it_cuts_both_ends",
        ),
        pytest.param([(9, 12)], [(0, 9, 9, True)], id="another_range_is_cut"),
    ],
)
def test_what_is_lost_is_divided_by_the_step_that_loses_it(
    before: list[tuple[int, int]], expected: list[tuple[int, int, int, bool]]
) -> None:
    parts = lost(0, 9, 9).divided([lost(first, end, end - first) for first, end in before])
    assert [
        (each.first_offset, each.next_offset, each.records.known, each.by_reassignment)
        for each in parts
    ] == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, True, id="it_elects_the_equal_ones"),
        pytest.param({"electable": frozenset({2})}, True, id="one_of_them"),
        pytest.param({"electable": frozenset({1, 2, 3})}, False, id="or_a_wrong_one"),
        pytest.param({"electable": frozenset({3})}, False, id="only_a_wrong_one"),
        pytest.param({"electable": frozenset()}, False, id="nobody"),
        pytest.param({"electable": None}, False, id="unknown"),
        pytest.param({"electable": None, "others": frozenset()}, True, id="unknown_but_all_equal"),
        pytest.param({"allows_unclean": True}, False, id="unclean"),
        pytest.param({"allows_unclean": True, "others": frozenset()}, True, id="unclean_all_equal"),
        pytest.param({"set_aside": frozenset({3})}, False, id="set_aside"),
        pytest.param({"stays_leaderless": True}, False, id="leaderless"),
        pytest.param(
            {"stays_leaderless": True, "others": frozenset()}, False, id="leaderless_all_equal"
        ),
    ],
)
def test_whether_the_controller_elects_only_copies_that_may_lead(
    fields: dict[str, Any], expected: bool
) -> None:
    """ReplicationControlManager#handleBrokerFenced: the last fenced stays in the ISR alone."""
    assert choice(**fields).is_automatic is expected


@pytest.mark.parametrize(
    ("fields", "by_membership", "expected"),
    [
        pytest.param({}, True, set(), id="automatic"),
        pytest.param({}, False, set(), id="automatic_and_nothing_lost"),
        pytest.param({"lost": (lost(5, 7, 2),)}, True, set(), id="lost_but_by_membership"),
        pytest.param({"lost": (lost(5, 7, 2),)}, False, {3}, id="lost"),
        pytest.param({"electable": None}, True, {3}, id="unknown"),
        pytest.param({"electable": None}, False, {3}, id="unknown_and_not_by_membership"),
    ],
)
def test_brokers_that_must_not_lead_wait(
    fields: dict[str, Any], by_membership: bool, expected: set[int]
) -> None:
    assert choice(**fields).waiting(by_membership=by_membership) == expected


@pytest.mark.parametrize(
    ("fields", "running", "expected"),
    [
        ({}, (1, 2), False),
        ({}, (1, 2, 3), False),
        ({}, (1,), True),
        ({}, (), True),
        ({"electable": frozenset({1})}, (1,), False),
        ({"electable": None}, (1, 2, 3), True),
        ({"stays_leaderless": True}, (1, 2, 3), True),
    ],
)
def test_a_partition_may_lack_a_leader_while_an_electable_broker_is_down(
    fields: dict[str, Any], running: tuple[int, ...], expected: bool
) -> None:
    assert choice(**fields).may_lack_leader(running) is expected


@pytest.mark.parametrize(
    ("copies", "assigned", "expected"),
    [
        pytest.param(2, (1, 2), False, id="several_copies"),
        pytest.param(2, (), False, id="several_and_no_assignment"),
        pytest.param(1, (1,), False, id="the_only_replica"),
        pytest.param(1, (1, 2), True, id="another_broker_may_have_it_intact"),
        pytest.param(1, (), True, id="nobody_knows_whether_one_has"),
    ],
)
def test_a_merged_log_takes_the_place_of_all_copies(
    copies: int, assigned: tuple[int, ...], *, expected: bool
) -> None:
    paths = {broker: f"/b{broker}/t-0" for broker in range(1, copies + 1)}
    made = choice(merge=MERGE, paths=paths, assigned=assigned)
    assert made.waits_for_files
    assert made.may_be_intact_elsewhere is expected


def test_a_repair_of_files_comes_before_another_plan() -> None:
    assert choice(repairs={2: (Move(path="/a", target="/b"),)}).waits_for_files
    assert not choice(repairs={}).waits_for_files


def test_the_preferred_leader_is_the_first_that_is_assigned() -> None:
    assert choice(assigned=(3, 1, 2)).preferred_leader == 3
    assert choice(assigned=()).preferred_leader is None


def test_all_lost_ranges_are_added_up() -> None:
    both = choice(lost=(lost(5, 7, 2), lost(9, 12, 3)))
    assert both.lost_records == CommitCount(known=5)
    assert choice().lost_records == CommitCount()
    assert both.name == "t-0"
