"""The answer of a plan in one paragraph."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.catalogue.checkpoint_rules import LOG_DIRECTORY_MISSING
from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.integrity.file_repair import Format, Move, Write
from kafkalog_reader.audits.partition.epoch_rows import EpochRows
from kafkalog_reader.audits.plan.choice import Choice, LostRecords
from kafkalog_reader.audits.plan.open_finding import OpenFinding
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import Start, StartOrder
from kafkalog_reader.audits.plan.unanswered import Unanswered
from kafkalog_reader.report.plan_headline import headline

RENAME = Move(path="/mnt/b1/t-0/1.log", target="/mnt/b1/t-0/00000000000000000001.log")
EPOCHS = Write(path="/mnt/b1/t-0/leader-epoch-checkpoint", lines=("0", "0"))


def choice(partition: int = 0, **changed: object) -> Choice:
    values: dict[str, object] = {
        "topic": "t", "partition": partition, "leader": 1, "equals": frozenset({1}),
        "others": frozenset({2}), "electable": frozenset({1, 2}), "assigned": (1, 2),
        "paths": {1: f"/mnt/b1/t-{partition}", 2: f"/mnt/b2/t-{partition}"}, **changed,
    }  # fmt: skip
    return Choice(**values)  # type: ignore[arg-type]


def plan_of(
    *choices: Choice,
    brokers: tuple[int, ...] = (1, 2),
    unanswered: tuple[Unanswered, ...] = (),
    severe: tuple[OpenFinding, ...] = (),
) -> Plan:
    starts = tuple(Start(brokers=(each,), settled=()) for each in brokers)
    return Plan(
        paths=("/mnt",), brokers=brokers, choices=choices, unanswered=unanswered, severe=severe,
        order=StartOrder(starts=starts),
    )  # fmt: skip


def lost(broker: int = 2, **records: int) -> LostRecords:
    return LostRecords(
        first_offset=3, next_offset=5, records=CommitCount(**records), brokers=(broker,)
    )


def test_the_order_of_starts_comes_before_what_it_loses() -> None:
    assert headline(plan_of(choice())) == "Start broker 1, then broker 2. Nothing is lost then."
    said = headline(plan_of(choice(lost=(lost(uncommitted=2),))))
    assert said.startswith("Start broker 1, then broker 2. Lost then: 2 ")
    assert said.endswith("; save them first.")


@pytest.mark.parametrize("damaged", [0, 2])
def test_how_many_records_stood_where_zeros_end_a_log_is_unknown(damaged: int) -> None:
    of_zeros = "Records may have stood in the 1,137 zero bytes that end the log"
    said = headline(plan_of(choice(lost=(lost(1, damaged=damaged),), zeros_at_end=1137)))
    assert f"{of_zeros} of t-0: whether any did, and whether they were committed, is unknown." in (
        said
    )
    assert ("up to 2 records in damaged batches" in said) == bool(damaged)
    several = headline(plan_of(choice(zeros_at_end=1000), choice(1, zeros_at_end=137)))
    assert f"{of_zeros} of t-0 and t-1:" in several
    assert "zero bytes" not in headline(plan_of(choice()))


def test_a_start_of_one_broker_has_no_order() -> None:
    alone = choice(others=frozenset())
    said = headline(plan_of(alone, brokers=(1,)))
    assert said.startswith("Starting broker 1 removes nothing from its 1 partition")
    many = [choice(number, others=frozenset()) for number in range(1200)]
    assert "from its 1,200 partitions" in headline(plan_of(*many, brokers=(1,)))


def test_files_are_put_right_before_any_start() -> None:
    said = headline(plan_of(choice(repairs={1: (EPOCHS,)}), choice(1, repairs={2: (EPOCHS,)})))
    assert said.startswith(
        "First repair files of 2 partitions and make this plan again. Without that: start "
    )


def test_every_file_that_is_written_before_the_starts_counts() -> None:
    rows = {1: EpochRows(rows=((0, 0),), is_new=True)}
    said = headline(plan_of(choice(epoch_rows=rows), choice(1, epoch_rows=rows)))
    assert said.startswith("Write 2 files while all are stopped, then start broker 1, then")


def test_no_order_is_offered_where_a_start_may_delete_segments() -> None:
    said = headline(plan_of(choice(renames={1: (RENAME,)})))
    assert said == (
        "First give segments of 1 partition their names back and make this plan again. Before "
        "that, start no broker: its start may delete those segments."
    )


def test_what_has_an_answer_is_the_rest() -> None:
    unanswered = (Unanswered(name="t-1", reason="it forked", brokers=(1, 2)),)
    assert headline(plan_of(choice(), unanswered=unanswered)).startswith("The other 1 partition: ")


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (["/mnt/b1/d2 is missing"], "/mnt/b1/d2 is missing. If it exists, supply what is missing"),
        (["d2 is missing", "d3 is missing"],
         "D2 is missing, and d3 is missing. If they exist, supply what is missing"),
    ],
)  # fmt: skip
def test_a_missing_log_directory_is_asked_for_first(messages: list[str], said: str) -> None:
    severe = tuple(
        OpenFinding(
            name="broker 1", code=LOG_DIRECTORY_MISSING, severity="C", message=message,
            repairs=(Format(cluster_id="c", node=1),),
        )
        for message in messages
    )  # fmt: skip
    answer = headline(plan_of(choice(), severe=severe))
    assert answer.startswith(said)
    assert "lost: restore " in answer
