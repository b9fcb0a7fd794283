"""The steps of a plan for log directories that are lost or missing."""

from __future__ import annotations

from kafkalog_reader.audits.catalogue.checkpoint_rules import LOG_DIRECTORY_MISSING
from kafkalog_reader.audits.election.unseen import Unseen, UnseenRole
from kafkalog_reader.audits.integrity.file_repair import Format
from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.open_finding import OpenFinding
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import Start, StartOrder
from kafkalog_reader.report.plan_directory_steps import directory_steps, lost_disk_steps

FORMAT = "kafka-storage.sh format --ignore-formatted --cluster-id c --config SERVER_PROPERTIES"


def plan_of(
    *unseen: Unseen | None, starts: tuple[int, ...] = (3,), zookeeper: bool = False
) -> Plan:
    choices = tuple(
        Choice(
            topic="t", partition=number, leader=3, equals=frozenset({3}), others=frozenset(),
            electable=None, unseen=each, assigned=(1, 3), cluster_id="c",
        )
        for number, each in enumerate(unseen)
    )  # fmt: skip
    order = StartOrder(starts=(Start(brokers=starts, settled=()),))
    return Plan(
        paths=("/mnt",), brokers=(3,), choices=choices, unanswered=(), order=order,
        has_zookeeper=zookeeper,
    )  # fmt: skip


def in_sync(*brokers: int) -> Unseen:
    return Unseen(brokers=brokers, role=UnseenRole.ALL_IN_SYNC)


def test_a_lost_broker_is_formatted_once_for_all_its_partitions() -> None:
    (step,) = lost_disk_steps(plan_of(in_sync(1), in_sync(1)))
    assert (step.brokers, step.commands[-1]) == ((1,), FORMAT)
    assert "names broker 1 in the ISR of 2 partitions, first t-0." in step.texts[0]


def test_a_broker_that_only_lags_could_not_be_elected_and_is_formatted_where_it_starts() -> None:
    assert not list(lost_disk_steps(plan_of(None)))
    (step,) = lost_disk_steps(plan_of(None, starts=(3, 1)))
    assert step.brokers == (1,)
    assert not any("ISR" in text for text in step.texts)


def test_zookeeper_lets_a_broker_start_without_a_format() -> None:
    assert not list(lost_disk_steps(plan_of(in_sync(1), zookeeper=True)))


def test_a_broker_of_which_another_copy_is_here_is_not_formatted() -> None:
    assert not list(lost_disk_steps(plan_of(in_sync(3))))


def test_the_missing_log_directories_of_a_broker_are_one_step() -> None:
    repairs = (Format(cluster_id="c", node=3),)
    severe = tuple(
        OpenFinding(
            name="broker 3", code=LOG_DIRECTORY_MISSING, severity="C", message=f"d{n} is missing",
            repairs=repairs,
        )
        for n in (1, 2)
    )  # fmt: skip
    order = StartOrder(starts=())
    for found, which in ((severe[:1], "log directory"), (severe, "log directories")):
        plan = Plan(paths=(), brokers=(3,), choices=(), unanswered=(), order=order, severe=found)
        (step,) = directory_steps(plan)
        assert step.title == f"Put the missing {which} of broker 3 back, or format the new disk"
        assert step.texts[: len(found)] == tuple(f"D{n + 1} is missing." for n in range(len(found)))
        assert step.commands[-1] == FORMAT
