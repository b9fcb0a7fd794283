"""What a plan says about brokers whose copies are not among the inputs."""

from __future__ import annotations

from kafkalog_reader.audits.election.unseen import Unseen, UnseenRole
from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import Start, StartOrder
from kafkalog_reader.report.plan_unseen_text import unseen_texts


def plan_of(*unseen: Unseen, brokers: tuple[int, ...] = (3, 4)) -> Plan:
    choices = tuple(
        Choice(
            topic="t", partition=number, leader=brokers[0], equals=frozenset(brokers),
            others=frozenset(), electable=None, unseen=each,
        )
        for number, each in enumerate(unseen)
    )  # fmt: skip
    order = StartOrder(starts=(Start(brokers=brokers, settled=()),))
    return Plan(paths=("/mnt",), brokers=brokers, choices=choices, unanswered=(), order=order)


def test_what_to_do_without_the_only_sure_copies_is_said_once() -> None:
    one, two = (Unseen(brokers=brokers, role=UnseenRole.ALL_IN_SYNC) for brokers in ((1,), (1, 2)))
    first, second, last = unseen_texts(plan_of(one, two, one))
    assert first.startswith("2 partitions, first t-0: only broker 1 surely had every committed")
    assert "its copy is not here. Supply it first" in first
    assert "t-1: only brokers 1 and 2 surely" in second
    assert "their copies are not here. Supply one of them first" in second
    assert last.startswith("If such copies are lost for ever, follow the steps")


def test_a_plan_of_one_broker_has_no_steps_to_follow() -> None:
    unseen = Unseen(brokers=(1,), role=UnseenRole.ALL_IN_SYNC)
    _, last = unseen_texts(plan_of(unseen, brokers=(3,)))
    assert "make the plan with the log directories of all other brokers" in last


def test_a_leader_that_is_not_here_may_be_gone_for_good() -> None:
    (text,) = unseen_texts(plan_of(Unseen(brokers=(1,), role=UnseenRole.LEADER)))
    assert text.startswith("t-0: according to the metadata log broker 1 leads, and its copy")
    assert text.endswith("a merged log that is here has taken its place.")
