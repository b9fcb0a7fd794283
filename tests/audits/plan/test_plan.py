"""At which step of a plan records are lost."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.plan.choice import Choice, LostRecords
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import Start, StartOrder
from kafkalog_reader.audits.recovery.node_releases import NodeReleases
from kafkalog_reader.report.plan_steps import plan_steps


@pytest.mark.parametrize(
    ("holders", "step"),
    [
        pytest.param((1,), 1, id="runs_before_the_leader_does"),
        pytest.param((2,), 1, id="starts_with_the_leader"),
        pytest.param((3,), 2, id="starts_after_the_leader"),
        pytest.param((1, 3), 2, id="one_holder_is_still_stopped"),
    ],
)
def test_records_are_lost_once_their_holders_and_a_leader_run(
    holders: tuple[int, ...], step: int
) -> None:
    """A follower truncates when it fetches from a leader, not before (KIP-101)."""
    lost = LostRecords(brokers=holders, first_offset=5, next_offset=9, records=CommitCount(known=4))
    choice = Choice(
        topic="t", partition=0, leader=0, equals=frozenset({0}), others=frozenset({1, 2, 3}),
        electable=frozenset({0}), lost=(lost,),
    )  # fmt: skip
    starts = tuple(Start(brokers=each, settled=()) for each in ((1,), (0, 2), (3,)))
    plan = Plan(
        paths=("p",), brokers=(0, 1, 2, 3), choices=(choice,), unanswered=(),
        order=StartOrder(starts=starts),
    )  # fmt: skip
    assert plan.lost_at == {step: ((choice, 0),)}


@pytest.mark.parametrize(
    ("supported", "freezes"),
    [({}, True), ({1: 7, 2: 7}, False), ({1: 21, 2: 7}, True), ({1: 21, 2: 21}, True)],
)
def test_controllers_before_3_9_hold_no_unclean_election_that_must_be_forbidden(
    supported: dict[int, int], *, freezes: bool
) -> None:
    """ConfigurationControlManager#uncleanLeaderElectionEnabledForTopic of 3.5.2 returns false."""
    choice = Choice(
        topic="t", partition=0, leader=1, equals=frozenset({1}), others=frozenset({2}),
        electable=frozenset({1}),
    )  # fmt: skip
    starts = tuple(Start(brokers=each, settled=()) for each in ((1,), (2,)))
    plan = Plan(
        paths=("p",), brokers=(1, 2), choices=(choice,), unanswered=(),
        order=StartOrder(starts=starts), releases=NodeReleases(supported=supported),
    )  # fmt: skip
    assert plan.freezing == (("t",) if freezes else ())
    said = " ".join(" ".join(step.texts) for step in plan_steps(plan))
    assert ("without advertised.listeners" in said) is (supported != {1: 21, 2: 21})
    assert ("leave the commands out" in said) is (supported in ({}, {1: 21, 2: 7}))
