"""Brokers that were not supplied and may hold more: in-sync replicas have all that is committed."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.election.membership import PartitionMembership
from kafkalog_reader.audits.election.unseen import Unseen, UnseenRole, unseen_brokers

ALL, LEADER, IN_SYNC = UnseenRole.ALL_IN_SYNC, UnseenRole.LEADER, UnseenRole.IN_SYNC


def membership(leader: int, isr: tuple[int, ...], elr: tuple[int, ...]) -> PartitionMembership:
    return PartitionMembership(
        leader=leader, leader_epoch=4, partition_epoch=7, replicas=(1, 2, 3), isr=isr, elr=elr,
        last_known_elr=(), topic_id="", source="", source_offset=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("leader", "isr", "elr", "here", "is_lacking", "expected"),
    [
        pytest.param(1, (1, 2, 3), (), {1, 2, 3}, True, None, id="everybody_is_here"),
        pytest.param(1, (1, 2, 3), (), {1, 3}, False, None, id="a_follower_is_not"),
        pytest.param(1, (1, 2, 3), (), {1, 3}, True, ((2,), IN_SYNC), id="and_records_are_lacking"),
        pytest.param(1, (1, 2, 3), (), {2, 3}, False, ((1,), LEADER), id="the_leader_is_not"),
        pytest.param(1, (1, 2, 3), (), {3}, True, ((1,), LEADER), id="nor_a_follower"),
        pytest.param(2, (3, 1, 2), (), {9}, False, ((1, 2, 3), ALL), id="nobody_in_sync_is"),
        pytest.param(1, (1,), (), {2, 3}, False, ((1,), ALL), id="the_only_one_in_sync"),
        pytest.param(1, (1, 2), (), {1, None}, True, ((2,), IN_SYNC), id="one_without_an_id"),
        pytest.param(-1, (), (2, 3), {1}, False, ((2, 3), ALL), id="no_isr_but_eligible_ones"),
        pytest.param(-1, (), (2, 3), {3}, True, ((2,), IN_SYNC), id="one_eligible_is_here"),
        pytest.param(-1, (), (2, 3), {3}, False, None, id="and_nothing_is_lacking"),
        pytest.param(-1, (), (), {1}, True, None, id="nobody_is_known"),
        pytest.param(1, (1, 2), (3,), {1, 2}, True, None, id="eligible_ones_beside_an_isr"),
        pytest.param(3, (1, 2), (), {1}, False, None, id="a_leader_out_of_sync"),
    ],
)
def test_who_may_hold_more(
    leader: int,
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    here: set[int | None],
    is_lacking: bool,
    expected: tuple[tuple[int, ...], UnseenRole] | None,
) -> None:
    found = unseen_brokers(membership(leader, isr, elr), here, is_lacking=is_lacking)
    assert found == (None if expected is None else Unseen(brokers=expected[0], role=expected[1]))
