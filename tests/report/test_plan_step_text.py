"""The steps of a plan on a screen: of what is many, the first few."""

from __future__ import annotations

from kafkalog_reader.report.plan_step import IN_SYNC, Check, PlanStep, StepKind
from kafkalog_reader.report.plan_step_text import step_lines


def lines_of(*steps: PlanStep) -> list[str]:
    return ["".join(span.text for span in line) for line in step_lines(steps, 80)]


def replaced(name: str) -> PlanStep:
    return PlanStep(
        kind=StepKind.REPLACE,
        title=f"Replace {name}",
        texts=(f"{name} would lead.", "Run this on its host."),
        commands=(f"mv {name} aside", f"cp saved/{name} {name}"),
    )


def test_what_an_earlier_step_says_is_not_said_again() -> None:
    assert lines_of(replaced("t-0"), replaced("t-1")) == [
        "",
        "1. Replace t-0",
        "   t-0 would lead.",
        "   Run this on its host.",
        "     mv t-0 aside",
        "     cp saved/t-0 t-0",
        "",
        "2. Replace t-1",
        "   t-1 would lead.",
        "   What step 1 says is true here, too.",
        "     mv t-1 aside",
        "     cp saved/t-1 t-1",
    ]


def test_of_a_hundred_copies_three_are_steps_in_full() -> None:
    lines = lines_of(
        *(replaced(f"t-{n}") for n in range(100)), PlanStep(kind=StepKind.START, title="Start")
    )
    assert len(lines) < 30
    assert "3. Replace t-2" in lines
    assert (
        " ".join(" ".join(line for line in lines if "more" in line or "all)" in line).split())
        == "4 to 100. 97 more steps of this kind, the next: Replace t-3 (--format script has "
        "all)"
    )
    assert lines[-1] == "101. Start"


def test_a_start_that_leads_many_topics_shows_some_checks_and_the_last() -> None:
    checks = [Check(command=f"describe t{n}", expected=("Leader: 2",)) for n in range(295)]
    lines = lines_of(PlanStep(kind=StepKind.START, title="Start", checks=(*checks, IN_SYNC)))
    assert [line.strip() for line in lines if "describe t" in line] == [
        "describe t0", "describe t1", "describe t2",
    ]  # fmt: skip
    assert lines[-4] == "     ... 292 more topics (--format script)"
    assert lines[-1].strip() == "→ nothing: every copy is in sync"


def test_a_command_that_fills_the_screen_is_left_to_the_script() -> None:
    for size, is_shown in ((500, True), (15_000, False)):
        step = PlanStep(kind=StepKind.PREFERRED, title="Elect", commands=("x" * size, "elect"))
        lines = lines_of(step)
        assert any("--format script has them" in line for line in lines) != is_shown
        assert ("     elect" in lines) == is_shown
