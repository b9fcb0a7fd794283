"""What ``kafkalog quorum`` says about the controllers, as part of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def with_quorums(plan: Plan, answer: str) -> str:
    """The headline of a plan with what controllers lose, or that they cannot elect a leader."""
    if any(each.quorum.rolled_back.lost_end for each in plan.unsafe_quorums):
        answer += " Lost already: committed metadata, which no supplied copy has (kafkalog quorum)."
    elif plan.unsafe_quorums:
        risk = "can elect a leader that loses metadata, or elect none"
        if any(each.quorum.leading.younger for each in plan.unsafe_quorums):
            risk = "would lead with a metadata log that never named topics of these brokers"
        if plan.has_work:
            answer = (
                f"The controllers {risk}: do first what kafkalog quorum says. "
                f"Then {answer[0].lower()}{answer[1:]}"
            )
        else:
            answer += f" But the controllers {risk}: start them as kafkalog quorum says."
    for each in plan.lacking_quorums:
        voters = each.quorum.voters
        assert voters is not None
        count = len(voters.voters)
        why = (
            f"{len(each.quorum.startable)} of {count} voter{'' if count == 1 else 's'} can start "
            f"with these files, and it takes {voters.majority}"
        )
        others = "it is" if count == 1 else "the others are"
        lost = f"if {others} lost, do first what kafkalog quorum says"
        if not each.quorum.seated and not each.quorum.unread:
            lost = (
                "supply the log directories of the controllers, too; if they are lost, do first "
                "what kafkalog quorum says"
            )
        answer = f"NO QUORUM: {why}; {lost}. Then {answer[0].lower()}{answer[1:]}"
    return answer


def lacking_voters(plan: Plan) -> Iterator[str]:
    """That a majority of the voters is not in these files."""
    for each in plan.quorums:
        if each.is_short_of_voters:
            text = f"{headline(each)}. If the others exist, start them, too."
            if any(step.commands for step in steps_of_quorum.quorum_steps(each)):
                text += (
                    " If they are lost, `kafkalog quorum`, with the same paths, says how to get a "
                    "leader."
                )
            yield text
