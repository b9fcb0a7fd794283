"""What ``kafkalog quorum`` says about the controllers, as part of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.report import quorum_steps as steps_of_quorum
from kafkalog_reader.report.plan_step import Check, PlanStep, StepKind, inputs_text
from kafkalog_reader.report.quorum_text import headline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan


def quorum_steps(plan: Plan) -> Iterator[PlanStep]:
    """What the controllers' own elections lose, and the order that prevents it."""
    for quorum in plan.unsafe_quorums:
        found = [*steps_of_quorum.quorum_steps(quorum)]
        check = Check(
            command=f"kafkalog quorum {inputs_text(plan)}",
            expected=("steps with commands: do those, and start no controller before",),
        )
        yield PlanStep(
            kind=StepKind.QUORUM,
            title="See in which order the controllers must start",
            texts=(f"{headline(quorum)}.", *(e.text for e in found if not e.is_of_disk)),
            checks=(check,) if any(each.commands for each in found) else (),
        )


def lacking_voters(plan: Plan) -> Iterator[str]:
    """That a majority of the voters is not in these files."""
    for each in plan.quorums:
        if each.verdict is Verdict.NO_MAJORITY:
            text = f"{headline(each)}. If the others exist, start them, too."
            if any(step.commands for step in steps_of_quorum.quorum_steps(each)):
                text += (
                    " If they are lost, `kafkalog quorum`, with the same paths, says how to get a "
                    "leader."
                )
            yield text
