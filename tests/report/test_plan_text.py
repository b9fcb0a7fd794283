"""What the text of a plan says about the time of the starts, and what is lost at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.lost_already import LostAlready
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import StartOrder
from kafkalog_reader.audits.plan.unanswered import Unanswered
from kafkalog_reader.report.lost_already_text import lost_already_text
from kafkalog_reader.report.plan_text import plan_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


def choice(partition: int, *expiring: int) -> Choice:
    return Choice(
        topic="t", partition=partition, leader=1, equals=frozenset({1, 2}), others=frozenset(),
        electable=frozenset({1, 2}), expiring_later=expiring,
    )  # fmt: skip


def text_of(choices: Sequence[Choice], *options: str) -> str:
    plan = Plan(
        paths=("/mnt/b1",), brokers=(1, 2), choices=tuple(choices), unanswered=(),
        order=StartOrder(starts=()), options=options,
    )  # fmt: skip
    lines = ["".join(span.text for span in line) for line in plan_lines(plan, 100)]
    return " ".join(" ".join(lines).split())


def test_where_a_later_start_deletes_nothing_known_the_assumption_is_named() -> None:
    said = text_of([choice(0), choice(1)])
    assert said.endswith("as of each log's newest record; --started-at now applies it as of now.")


@pytest.mark.parametrize(
    ("expiring", "counted"),
    [([()], None), ([(1,)], "1 partition"), ([(1, 2), (2,)], "2 partitions")],
)
def test_partitions_that_a_later_start_shortens_are_counted(
    expiring: list[tuple[int, ...]], counted: str | None
) -> None:
    choices = [choice(number, *brokers) for number, brokers in enumerate(expiring)]
    said = text_of(choices)
    asked = f"it may delete segments of {counted} right after the start"
    assert (asked in said) == (counted is not None)


def test_a_given_start_time_needs_no_assumption() -> None:
    said = text_of([choice(0, 1)], "--started-at", "now")
    assert "retention" not in said.lower()


@pytest.mark.parametrize("is_end", [True, False])
def test_a_checkpoint_bounds_no_loss_from_above(is_end: bool) -> None:
    lost = LostAlready(
        topic="t", partition=0, first_offset=3, next_offset=5, is_committed=True, is_end=is_end
    )
    plan = Plan(
        paths=("/mnt/b1",), brokers=(1, 2), choices=(choice(0),), unanswered=(),
        order=StartOrder(starts=()), lost_already=(lost,),
    )  # fmt: skip
    said = lost_already_text(plan)
    assert ("2 records known, all committed (t-0 offsets 3–4), and more may" in said) == is_end
    assert ("up to 2 records, all committed (t-0 offsets 3–4), which no" in said) != is_end


@pytest.mark.parametrize(
    ("brokers", "names", "said"),
    [
        ((0,), ("t-0",), "Do not start broker 0 before that is settled: its start also gives this "
                         "partition a leader"),
        ((0, 1), ("t-0", "t-1"), "Do not start brokers 0 and 1 before that is settled: their start "
                                 "also gives these partitions a leader"),
    ],
)  # fmt: skip
def test_what_waits_for_an_answer_is_counted(
    brokers: tuple[int, ...], names: tuple[str, ...], said: str
) -> None:
    unanswered = tuple(Unanswered(name=n, reason="it forked", brokers=brokers) for n in names)
    plan = Plan(
        paths=("/mnt/b1",), brokers=(0, 1), choices=(), unanswered=unanswered,
        order=StartOrder(starts=()),
    )  # fmt: skip
    lines = ["".join(span.text for span in line) for line in plan_lines(plan, 100)]
    assert said in " ".join(" ".join(lines).split())
