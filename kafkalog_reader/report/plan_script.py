"""A plan as a bash script with Kafka's own tools, which asks before anything is destroyed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.command_text import CONTROLLERS, ZOOKEEPER
from kafkalog_reader.report.deleted_topic_text import deleted_texts
from kafkalog_reader.report.lost_already_text import lost_already_text
from kafkalog_reader.report.open_finding_text import open_finding_texts
from kafkalog_reader.report.plan_headline import headline
from kafkalog_reader.report.plan_step import (
    BROKERS,
    PlanStep,
    StepKind,
    lost_text,
)
from kafkalog_reader.report.plan_steps import plan_steps
from kafkalog_reader.report.plan_text import (
    unanswered_texts,
    unanswered_word,
)
from kafkalog_reader.report.plan_unseen_text import unseen_texts
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.way_out import way_out_commands, way_out_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan

_ELSEWHERE: Final = frozenset(
    {
        StepKind.RESTORE_DIRECTORY,
        StepKind.MOVE_ASIDE,
        StepKind.RENAME,
        StepKind.PUT_RIGHT,
        StepKind.REPLACE,
        StepKind.WRITE_FILE,
    }
)
"""Kinds of steps that are done on other hosts."""
_BUILT_IN: Final = frozenset({"printf"})
_RUNNING: Final = "{} been running for 30 seconds, and is every broker stopped?"
_VARIABLES: Final = {
    "BOOTSTRAP": "host:port of a broker of the cluster, one that starts first",
    "CONTROLLER": "host:port of a controller",
    "ZOOKEEPER": "host:port of ZooKeeper",
    "SAVED": "a folder for what is saved",
}
_FUNCTIONS: Final = """\
stop() {
    printf 'STOPPED: %s\\n' "$1" >&2
    exit 1
}

filled_in() {  # VARIABLE MEANING
    case ${!1:-} in
        '' | HOST:* | CONTROLLER:* | ZOOKEEPER:* | SAVED) stop "set $1: $2" ;;
    esac
}

go_on() {  # a person answers, or nothing more happens
    local answer
    printf '%s\\nType yes to go on: ' "$1"
    read -r answer || stop 'no answer'
    [[ $answer == yes ]] || stop "the answer was not yes: $1"
}

run() {  # COMMAND...: until it succeeds, or a person has done it in another way, or gives up
    local answer
    until "$@"; do
        printf 'That failed, see above. Type yes to try it again, '
        printf 'or done if you have done it by hand or your release does not need it: '
        read -r answer || stop 'no answer'
        [[ $answer == done ]] && return
        [[ $answer == yes ]] || stop "not done: $*"
    done
}

save() {  # kafkalog salvage...: 1 is damage that had to be left out
    local status=0
    "$@" || status=$?
    [[ $status -le 1 ]] || stop "nothing was saved (exit status $status): $*"
    [[ $status -eq 0 ]] || go_on 'That left something out, see above. Go on anyway?'
}

look() {  # EXPECTED COMMAND...: until a person sees what is expected
    local answer expected=$1
    shift
    while true; do
        "$@" || printf 'exit status %s\\n' $?
        printf 'Above must be:\\n%s\\n' "$expected"
        printf 'Type yes to go on, again to look again: '
        read -r answer || stop 'no answer'
        [[ $answer == again ]] && continue
        [[ $answer == yes ]] && return
        stop "not as expected: $expected"
    done
}
"""


def plan_script(plan: Plan) -> str:
    """The script; without steps it only says so."""
    body = "\n".join(_body(plan))
    return "\n".join((*_head(plan, body), body))


def _head(plan: Plan, body: str) -> Iterator[str]:
    used = [name for name in _VARIABLES if f'"${name}"' in body]
    called = {
        command.split(" ", 1)[0]
        for step in plan_steps(plan)
        for command in (*_run_here(step), *(check.command for check in step.checks))
    }
    yield "#!/usr/bin/env bash"
    yield "# Made by `kafkalog plan`. Every broker must be stopped before this starts."
    if used:
        yield f"# Set in the environment, with Kafka's bin directory on PATH: {', '.join(used)}."
    yield "set -euo pipefail"
    yield ""
    yield _FUNCTIONS
    for name in used:
        yield f"filled_in {name} {shell_word(_VARIABLES[name])}"
    for tool in sorted(called - _BUILT_IN):
        yield f"command -v {tool} > /dev/null || stop '{tool} is not on PATH'"


def _body(plan: Plan) -> Iterator[str]:
    if said := headline(plan) if plan.choices or plan.files_first else lost_already_text(plan):
        yield _say(said)
    for text in (*deleted_texts(plan), *unseen_texts(plan)):
        yield _say(text)
    for text in unanswered_texts(plan):
        yield _say(f"{unanswered_word(plan)} {text}")
    for each in plan.unanswered:
        if text := way_out_text(each):
            yield _say(text)
            yield from map(_say, way_out_commands(plan, each))
    yield from map(_say, open_finding_texts(plan))
    for act in plan.first_acts:
        yield _say(f"Before a broker starts: {act.text}")
        yield from (_say(f"  {command}") for command in act.commands)
    if plan.unanswered or plan.open_findings:
        yield f"go_on {_quoted('These steps do not settle that. Go on anyway?')}"
    if plan.deleted:
        yield f"go_on {_quoted('Is that deletion wanted, or is what you need moved aside?')}"
    for number, step in enumerate(plan_steps(plan), 1):
        yield ""
        yield from _step_lines(number, step)


def _step_lines(number: int, step: PlanStep) -> Iterator[str]:
    yield _say(f"{number}. {step.title}")
    for text in step.texts:
        yield _say(f"   {text}")
    for choice, lost in step.lost:
        yield _say(f"   lost here: {lost_text(choice, lost)}")
    if step.kind is StepKind.START:
        yield f"go_on {_quoted(_question(step))}"
    elif step.kind is StepKind.CONTROLLERS:
        yield f"go_on {_quoted(_RUNNING.format('Have the controllers'))}"
    elif step.kind is StepKind.ZOOKEEPER:
        yield f"go_on {_quoted(_RUNNING.format('Has ZooKeeper'))}"
    elif step.kind in _ELSEWHERE:
        # Paths are those of the inputs, and the step is for another host: nothing is moved here.
        yield _say("   Run there, with the paths of that host:")
        # The words are in single quotes; what was saved is where the variable says.
        said = (_say(f"     {command}") for command in step.commands)
        yield from (each.replace(" SAVED/", " '\"$SAVED\"'/") for each in said)
        yield f"go_on {_quoted('Is that done?')}"
    elif step.kind is StepKind.UNFREEZE:
        yield f"go_on {_quoted('Restore the configuration now?')}"
    elif step.kind in (StepKind.REMOVE, StepKind.PREFERRED):
        yield f"go_on {_quoted('Are all copies in sync, so that this can be done now?')}"
    if step.election is not None and step.kind is StepKind.START:
        yield _say("   Partitions with a leader are left alone by this election.")
    yield from map(_called, _run_here(step))
    for check in step.checks:
        yield f"look {_quoted(chr(10).join(check.expected))} {_filled_in(check.command)}"


def _run_here(step: PlanStep) -> tuple[str, ...]:
    """The commands that the script runs itself, checks left out."""
    if step.kind in _ELSEWHERE:
        return ()
    if step.kind is StepKind.START:
        return () if step.election is None else step.election.commands
    return step.commands


def _question(step: PlanStep) -> str:
    warning = "What is listed above as lost is then gone. " if step.is_destructive else ""
    waited = " and have 30 seconds passed since" if step.election is not None else ""
    return f"{warning}{step.title}. Is that done{waited}?"


def _say(text: str) -> str:
    return f"printf '%s\\n' {_quoted(text)}"


def _quoted(text: str) -> str:
    return shell_word("\n".join(map(shown, text.split("\n"))))


def _called(command: str) -> str:
    """The command as the script runs it."""
    program = command.split(" ", 1)[0]
    caller = {"kafkalog": "save ", "printf": ""}.get(program, "run ")
    return f"{caller}{_filled_in(command)}"


def _filled_in(command: str) -> str:
    """The command with the script's variables instead of the words in capitals."""
    return (
        command.replace(f"--bootstrap-server {BROKERS}", '--bootstrap-server "$BOOTSTRAP"')
        .replace(f"--bootstrap-controller {CONTROLLERS}", '--bootstrap-controller "$CONTROLLER"')
        .replace(f"zookeeper-shell.sh {ZOOKEEPER}", 'zookeeper-shell.sh "$ZOOKEEPER"')
        .replace("--output SAVED/", '--output "$SAVED"/')
        .replace("--output 'SAVED/", '--output "$SAVED"/\'')
        .replace("mkdir -p SAVED/", 'mkdir -p "$SAVED"/')
        .replace("tar -cf SAVED/", 'tar -cf "$SAVED"/')
        .replace("tar -cf 'SAVED/", 'tar -cf "$SAVED"/\'')
    )
