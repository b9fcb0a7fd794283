"""The steps that repair files before there is a plan of everything."""

from __future__ import annotations

from kafkalog_reader.audits.integrity.file_repair import Move, Repair, Rewrite
from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_loss import StartLoss
from kafkalog_reader.audits.plan.start_order import StartOrder
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.report.plan_repair_steps import repair_steps
from kafkalog_reader.report.plan_step import PlanStep, StepKind

MARKER = Move(path="/d/.kafka_cleanshutdown", target="/d/aside/.kafka_cleanshutdown")


def choice(partition: int, *repairs: Repair, losses: tuple[StartLoss, ...] = ()) -> Choice:
    return Choice(
        topic="t", partition=partition, leader=1, equals=frozenset({1}), others=frozenset(),
        electable=None, repairs={1: repairs}, start_losses=losses,
    )  # fmt: skip


def steps_of(*choices: Choice) -> list[PlanStep]:
    order = StartOrder(starts=())
    plan = Plan(paths=(), brokers=(1,), choices=choices, unanswered=(), order=order)
    return list(repair_steps(plan))


def loss(partition: int, outcome: StartOutcome, records: int = 5) -> StartLoss:
    return StartLoss(
        topic="t", partition=partition, broker_id=1, outcome=outcome, first_offset=0,
        next_offset=records, records=records, reason="its checkpoint ends early",
    )  # fmt: skip


def epochs(partition: int) -> Rewrite:
    return Rewrite(path=f"/d/t-{partition}/leader-epoch-checkpoint", lines=("0", "1", "0 0"))


def test_a_marker_of_a_clean_shutdown_is_moved_once_for_all_partitions() -> None:
    (step,) = steps_of(choice(0, MARKER), choice(1, MARKER))
    assert step.kind is StepKind.MOVE_ASIDE
    assert "it, and checks nothing." in step.texts[0]
    (step,) = steps_of(choice(0, MARKER, losses=(loss(0, StartOutcome.CUT),)))
    assert "it, and its start removes records of t-0 and maybe of others." in step.texts[0]


def test_the_files_of_one_name_on_a_broker_are_written_together() -> None:
    (step,) = steps_of(choice(0, epochs(0)), choice(1, epochs(1)))
    assert step.title.endswith("write leader-epoch-checkpoint of t-0 and t-1")
    assert [each.path for each in step.files] == [epochs(0).path, epochs(1).path]
    assert "With these files it serves the copies." in step.texts[-1]
    (alone,) = steps_of(choice(0, epochs(0)))
    assert "With that file it serves the copy." in alone.texts[-1]


def test_what_the_start_does_without_the_file_is_said_once_for_the_same_reason() -> None:
    losses = [(loss(n, StartOutcome.HIDDEN),) for n in range(12)]
    (step,) = steps_of(*(choice(n, epochs(n), losses=losses[n]) for n in range(12)))
    (why, _) = step.texts
    assert why.startswith("Without this, the start hides 5 records of t-0, ")
    assert why.endswith(" and more: its checkpoint ends early.")
    assert "of t-9" in why
    assert "of t-10" not in why


def test_records_that_the_start_cuts_anyway_are_no_reason_to_write_a_file() -> None:
    (step,) = steps_of(choice(0, epochs(0), losses=(loss(0, StartOutcome.CUT),)))
    assert step.texts[0] == "The broker cannot read that file in its copy of t-0."


def test_of_swap_files_the_old_segments_are_kept() -> None:
    name = "/d/t-0/00000000000000000000.log.swap"
    (step,) = steps_of(choice(0, Move(path=name, target="/d/aside/1.swap")))
    assert step.title.endswith("keep the old segments of t-0")
    (step,) = steps_of(choice(0, Move(path="/d/t-0/1.index", target="/d/aside/1.index")))
    assert step.title.endswith("move the index files of t-0's last segment aside")
