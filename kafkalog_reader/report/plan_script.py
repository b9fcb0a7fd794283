"""A plan as a shell script with Kafka's own tools, which asks before anything is destroyed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.plan_steps import (
    BROKERS,
    CONTROLLERS,
    PlanStep,
    StepKind,
    lost_text,
    plan_steps,
)
from kafkalog_reader.report.shell_word import shell_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan

_ELSEWHERE: Final = frozenset({StepKind.MOVE_ASIDE, StepKind.REPLACE, StepKind.REPAIR})
"""Kinds of steps that are done on other hosts."""
_HEAD: Final = """\
#!/bin/sh
# Made by `kafkalog plan`. Every broker must be stopped before this starts.
# Fill in the addresses; Kafka's bin directory must be on PATH.
set -eu
BOOTSTRAP=${BOOTSTRAP:-HOST:9092}
CONTROLLER=${CONTROLLER:-CONTROLLER:9093}
SAVED=${SAVED:-saved}

go_on() {  # a person answers, or nothing more happens
    printf '%s\\nType yes to go on: ' "$1"
    read -r answer
    test "$answer" = yes || { echo 'stopped here' >&2; exit 1; }
}
"""


def plan_script(plan: Plan) -> str:
    """The script; without steps it only says so."""
    return "\n".join(_lines(plan))


def _lines(plan: Plan) -> Iterator[str]:
    yield _HEAD
    for each in plan.unanswered:
        yield f"go_on {_quoted(f'NO PLAN for {each.name}: {each.reason}')}"
    for found in plan.open_findings:
        yield f"go_on {_quoted(f'{found.code} {found.name}: {found.message}')}"
    steps = plan_steps(plan)
    if not steps and not plan.open_findings:
        yield "echo 'nothing to do: start the brokers in any order'"
    for number, step in enumerate(steps, 1):
        yield ""
        yield from _step_lines(number, step)


def _step_lines(number: int, step: PlanStep) -> Iterator[str]:
    yield f"echo {_quoted(f'{number}. {step.title}')}"
    for text in step.texts:
        yield f"echo {_quoted(f'   {text}')}"
    for choice, lost in step.lost:
        yield f"echo {_quoted(f'   lost here: {lost_text(choice, lost)}')}"
    if step.kind is StepKind.START:
        yield f"go_on {_quoted(_question(step))}"
    elif step.kind is StepKind.CONTROLLERS:
        yield f"go_on {_quoted('Have the controllers run for 30 seconds, and no broker?')}"
    elif step.kind in _ELSEWHERE:
        # Paths are those of the inputs, and the step is for another host: nothing is moved here.
        yield f"echo {_quoted('   Run there, with the paths of that host:')}"
        for command in step.commands:
            yield f"echo {_quoted(f'     {command}')}"
        yield f"go_on {_quoted('Is that done?')}"
    elif step.kind is StepKind.UNFREEZE:
        yield f"go_on {_quoted('Shall the configuration be restored now?')}"
    if step.kind is StepKind.SAVE:  # its exit status is 1 if damage had to be left out
        left_out = _quoted("That left something out, see above. Go on all the same?")
        yield from (f"{_filled_in(command)} || go_on {left_out}" for command in step.commands)
    elif step.kind not in _ELSEWHERE and step.kind is not StepKind.START:
        yield from map(_filled_in, step.commands)
    if step.election is not None and step.kind is StepKind.START:
        yield f"echo {_quoted('   Partitions with a leader are left alone by this election.')}"
        yield from map(_filled_in, step.election.commands)
    for check in step.checks:
        yield _filled_in(check.command)
        for expected in check.expected:
            yield f"echo {_quoted(f'   must be above: {expected}')}"
    if step.checks:
        yield f"go_on {_quoted('Is it so?')}"


def _question(step: PlanStep) -> str:
    warning = "What is listed above as lost is then gone. " if step.is_destructive else ""
    return f"{warning}{step.title}. Is that done?"


def _quoted(text: str) -> str:
    return shell_word(shown(text))


def _filled_in(command: str) -> str:
    """The command with the script's variables instead of the words in capitals."""
    return (
        command.replace(f"--bootstrap-server {BROKERS}", '--bootstrap-server "$BOOTSTRAP"')
        .replace(f"--bootstrap-controller {CONTROLLERS}", '--bootstrap-controller "$CONTROLLER"')
        .replace("--output SAVED/", '--output "$SAVED"/')
        .replace("--output 'SAVED/", '--output "$SAVED"/\'')
    )
