"""What a plan leaves open is said once, with the command that prints what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.audits.integrity.file_repair import SetOffset
from kafkalog_reader.audits.plan.act import Act
from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.open_finding import OpenFinding
from kafkalog_reader.audits.plan.plan import Plan
from kafkalog_reader.audits.plan.start_order import StartOrder
from kafkalog_reader.report.open_finding_text import open_finding_lines, open_finding_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NO_REPLICA = "KL-012"
DAMAGE = "KL-105"
BEYOND_END = "KL-801"


def of(number: int, code: str, message: str = "it is so") -> OpenFinding:
    return OpenFinding(name=f"a-b-{number}", code=code, severity="H", message=message)


def act(partition: str, text: str, *commands: str) -> Act:
    return Act(text=text, commands=commands, codes=(DAMAGE,), partitions=(partition,))


def plan_of(found: Sequence[OpenFinding], acts: Iterable[Act] = ()) -> Plan:
    choice = Choice(
        topic="t", partition=0, leader=1, equals=frozenset({1, 2}), others=frozenset(),
        electable=frozenset({1, 2}),
    )  # fmt: skip
    return Plan(
        paths=("/mnt/b 1", "/mnt/b2"), brokers=(1, 2), choices=(choice,), unanswered=(),
        order=StartOrder(starts=()), severe=tuple(found),
        acts={each.partitions[0]: (each,) for each in acts},
    )  # fmt: skip


def lines_of(found: Sequence[OpenFinding], acts: Iterable[Act] = ()) -> list[str]:
    lines = open_finding_lines(plan_of(found, acts), 100)
    return ["".join(span.text for span in line) for line in lines]


def test_the_same_words_are_one_paragraph_with_all_partitions() -> None:
    found = [of(n, NO_REPLICA, "it is not here" if n < 3 else "nor there") for n in range(5)]
    lines = lines_of(found)
    assert "KL-012 HIGH a-b-0, a-b-1, a-b-2: it is not here" in lines
    assert "KL-012 HIGH a-b-3, a-b-4: nor there" in lines
    assert sum(line.startswith("KL-012") for line in lines) == 2


def test_copies_of_which_the_same_is_said_are_named_together() -> None:
    """KL-304 of ten partitions was a paragraph for each of three brokers."""
    found = [
        replace(of(n, BEYOND_END), replica=f"broker {broker}")
        for n in (0, 1)
        for broker in (1, 2, 3)
    ]
    lines = [line for line in lines_of(found) if line.startswith(BEYOND_END)]
    assert lines == [f"{BEYOND_END} HIGH a-b-0, a-b-1: brokers 1, 2 and 3: it is so"]


def test_many_partitions_are_counted() -> None:
    lines = lines_of([of(n, NO_REPLICA) for n in range(24)])
    assert "KL-012 HIGH 24 partitions, first a-b-0: it is so" in lines


def test_findings_of_one_kind_with_other_numbers_are_named_together() -> None:
    found = [of(n, DAMAGE, f"damage {min(n, 20)}") for n in range(10, 23)]
    paragraphs = [line for line in lines_of(found) if line.startswith("KL-105 HIGH ")]
    assert paragraphs[0] == "KL-105 HIGH a-b-10: damage 10"
    names = "12 partitions, first a-b-11"
    text = " ".join(" ".join(lines_of(found)).split())
    assert text.count(f"{names}: bytes that are not a batch") == 1
    assert open_finding_texts(plan_of(found))[1:] == [
        f"KL-105 HIGH {names}: bytes that are not a batch (--format json has each)"
    ]
    assert len(open_finding_texts(plan_of(found[:3]))) == 3


def test_paragraphs_that_are_left_out_are_counted_by_finding() -> None:
    found = [
        replace(of(n, DAMAGE), actions=(action,), message=f"damage {n}")
        for n, action in zip(range(10, 23), ACTIONS, strict=False)
    ]
    assert "... 7 more (--format json)" in lines_of(found)  # 13, of which 6 are shown
    assert len(open_finding_texts(plan_of(found))) == 13


def test_what_is_done_before_a_start_is_said_and_not_where_it_is_said() -> None:
    """Nobody has to run another command to learn what comes before the first start."""
    acts = [
        act("a-b-1", "check the disk", "smartctl -a DISK"),
        act("a-b-2", "check the disk", "smartctl -a DISK"),
        act("a-b-7", "nothing of this plan"),
    ]
    lines = lines_of([of(n, DAMAGE) for n in range(3)], acts)
    assert lines[-5:] == [
        "Before a broker starts:",
        "  → a-b-1 and a-b-2: check the disk",
        "      smartctl -a DISK",
        "What it means: kafkalog explain KL-105",
        "Then start brokers 1 and 2 in any order.",
    ]
    without = lines_of([of(0, BEYOND_END)])
    assert not [line for line in without if "Before" in line]
    assert without[-2:] == [
        "What it means: kafkalog explain KL-801",
        "Start brokers 1 and 2 in any order.",
    ]


def test_a_replica_that_is_missing_is_not_started_without() -> None:
    lines = lines_of([of(0, NO_REPLICA)])
    assert lines[-1] == "What it means: kafkalog explain KL-012"


def test_each_partition_has_the_command_of_its_own() -> None:
    repairs = [SetOffset(groups=("g",), topic="t", partition=n, offset=4) for n in range(2)]
    found = [
        OpenFinding(
            name=f"t-{n}", code=BEYOND_END, severity="H", message="it is so", actions=("A12",),
            repairs=(repair,),
        )
        for n, repair in enumerate(repairs)
    ]  # fmt: skip
    text = " ".join(" ".join(lines_of(found)).replace("\\", "").split())
    assert "--topic t:0 --reset-offsets --to-offset 4 --execute" in text
    assert "--topic t:1 --reset-offsets --to-offset 4 --execute" in text
    assert text.count("before the consumers of the group start") == 1


def test_a_plan_without_brokers_says_what_a_finding_means() -> None:
    """The node ids of the copies are unknown, so that nothing could be decided."""
    plan = replace(plan_of([of(0, DAMAGE)]), choices=(), brokers=())
    lines = ["".join(span.text for span in line) for line in open_finding_lines(plan, 100)]
    assert lines[-1] == "What it means: kafkalog explain KL-105"


def test_where_no_partition_has_a_plan_what_comes_first_is_said_all_the_same() -> None:
    plan = replace(plan_of([of(0, DAMAGE)], [act("a-b-0", "check the disk")]), choices=())
    lines = ["".join(span.text for span in line) for line in open_finding_lines(plan, 100)]
    assert lines[-3:-1] == ["Before a broker starts:", "  → a-b-0: check the disk"]
