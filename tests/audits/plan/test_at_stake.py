"""What another order of starts can lose."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.plan.at_stake import AtStake, at_stake
from kafkalog_reader.audits.plan.choice import Alternative, Choice
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import Settled, Start, StartOrder
from kafkalog_reader.report.plan_headline import headline


def choice(partition: int, *lost: CommitCount, **changed: object) -> Choice:
    """Brokers 2, 3, ... must not lead, and lose this if they do; broker 1 loses nothing."""
    values: dict[str, object] = {
        "topic": "t", "partition": partition, "leader": 1, "equals": frozenset({1}),
        "others": frozenset(range(2, 2 + len(lost))), "electable": None,
        "alternatives": tuple(
            Alternative(broker_id=broker, lost=each) for broker, each in enumerate(lost, 2)
        ),
    }  # fmt: skip
    return Choice(**(values | changed))  # type: ignore[arg-type]


def plan_of(*choices: Choice) -> Plan:
    settled = tuple(Settled(choice=each, leaders=(1,)) for each in choices)
    starts = (Start(brokers=(1,), settled=settled), Start(brokers=(2, 3), settled=()))
    return Plan(
        paths=("/mnt",), brokers=(1, 2, 3), choices=choices, unanswered=(),
        order=StartOrder(starts=starts),
    )  # fmt: skip


def test_the_worst_election_of_each_partition_counts() -> None:
    plan = plan_of(
        choice(0, CommitCount(uncommitted=2), CommitCount(uncommitted=5)),
        choice(1, CommitCount(known=3), CommitCount(uncommitted=9)),
    )
    records = CommitCount(known=3, uncommitted=5)
    assert at_stake(plan) == AtStake(records=records, names=("t-0", "t-1"), is_all=True)


def test_who_can_do_without_uncommitted_records_need_not_keep_to_the_order() -> None:
    """Two records of a broker that was killed: three server.properties were to be changed."""
    uncommitted = choice(1, CommitCount(uncommitted=2))
    begins = (
        "Start broker 1, then brokers 2 and 3. No supplied record is lost then. Another order can "
        "lose"
    )
    assert headline(plan_of(uncommitted)) == (
        f"{begins} 2 records, none committed (t-1): if that does not matter, start brokers 1, 2 "
        "and 3 in any order."
    )
    committed = choice(1, CommitCount(known=2))
    assert headline(plan_of(committed)) == f"{begins} 2 committed records (t-1)."


@pytest.mark.parametrize(
    "changed",
    [
        {"others": frozenset({2, 3})},  # broker 3 has no copy: as a leader it empties the others
        {"stays_leaderless": True},
        {"refetching": (2,)},
        {"unreadable_from": 7},
    ],
)
def test_an_order_that_keeps_more_than_these_records_must_be_kept(
    changed: dict[str, object],
) -> None:
    plan = plan_of(choice(1, CommitCount(uncommitted=2), **changed))
    assert not at_stake(plan).is_all
    assert "in any order" not in headline(plan)
