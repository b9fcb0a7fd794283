"""A plan as text: the answer first, then the steps with commands that can be pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.rule import SEVERITY_WORDS
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.action_text import command_lines
from kafkalog_reader.report.election_text import lost_words
from kafkalog_reader.report.plan_steps import (
    PlanStep,
    StepKind,
    brokers_text,
    lost_text,
    plan_steps,
)
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan

_LONG: Final = frozenset({StepKind.SAVE, StepKind.CONTROLLERS, StepKind.UNFREEZE})
"""Steps that have a command for each partition or topic."""
_BUT: Final = "but not every copy is sound"
_SHOWN: Final = 10
"""Maximum lines of one list; ``--format json`` has all."""


def plan_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """The whole plan."""
    yield from plan_summary_lines(plan, columns)
    yield from _unanswered_lines(plan, columns)
    yield from _open_lines(plan, columns)
    if not plan.has_work:
        return
    yield from _choice_lines(plan, columns)
    yield ()
    text = (
        "Read all steps before the first. Every broker is stopped now, and stays so until a step "
        "starts it. Replace the words in capitals."
    )
    yield from wrapped(text, columns, hanging=0)
    for number, step in enumerate(plan_steps(plan), 1):
        yield ()
        yield from _step_lines(number, step, columns)


def plan_summary_lines(plan: Plan, columns: int = 80) -> Iterator[Line]:
    """The first lines: what to start in which order, and what is lost."""
    if not plan.choices:
        return
    style = Style.SOUND if plan.is_clean else Style.STRONG
    for line in wrapped(_headline(plan), columns, hanging=0):
        yield tuple(Span(span.text, style) for span in line)
    unknown = sum(c.electable is None for c in plan.choices)
    if unknown and plan.is_ordered and not plan.is_one_broker:
        text = (
            "No metadata log was supplied, so the in-sync replicas (ISR) are unknown: this order "
            "is safe whatever they are."
        )
        yield from wrapped(text, columns, hanging=0)
    if plan.order.by_membership:
        text = (
            "This order trusts the in-sync replicas (ISR) that the metadata log names: copies "
            "outside of it are not elected while unclean election is forbidden."
        )
        yield from wrapped(text, columns, hanging=0)
    if plan.is_selected:
        text = (
            "Only the partitions asked for are in this plan; a broker that starts starts all of "
            "its partitions."
        )
        yield from wrapped(text, columns, hanging=0)
    if plan.is_one_broker and any(c.electable is None or c.not_supplied for c in plan.choices):
        text = (
            f"Only broker {plan.brokers[0]} was supplied. What it cuts when it follows another "
            "leader, and whether it may lead, cannot be said without the other copies."
        )
        yield from wrapped(text, columns, hanging=0)


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _headline(plan: Plan) -> str:
    lost = plan.lost
    count = _counted(len(plan.choices), "partition", "partitions")
    if plan.is_one_broker:
        (broker,) = plan.brokers
        if not plan.has_work and not plan.open_findings:
            return f"The start of broker {broker} takes nothing from its {count}."
        if not plan.has_work:
            return f"The start of broker {broker} takes nothing from its {count}, {_BUT}."
        taken = lost_words(lost) if lost.total else "no record"
        return f"The start of broker {broker} takes {taken}."
    starts = [brokers_text(start.brokers) for start in plan.order.starts]
    order = f"start {', then '.join(starts)}{'' if len(starts) > 1 else ' in any order'}"
    if plan.order.replaced:
        copies = _counted(len(plan.order.replaced), "copy", "copies")
        order = f"replace {copies} while all are stopped, then {order}"
    if plan.open_findings and not plan.has_work:
        return f"No start and no election loses records in {count}, {_BUT}."
    if not plan.has_work:
        return f"Nothing to do: {order}. Nothing is lost in {count}."
    order = f"{order[0].upper()}{order[1:]}."
    if not lost.total:
        return f"{order} Nothing is lost in {count} then."
    return f"{order} Lost then: {lost_words(lost)}; save them first."


def _unanswered_lines(plan: Plan, columns: int) -> Iterator[Line]:
    for each in plan.unanswered:
        beginning = (Span("NO PLAN ", Style.LOST),)
        yield from wrapped(shown(f"{each.name}: {each.reason}"), columns, beginning=beginning)
    waiting = sorted({broker for each in plan.unanswered for broker in each.brokers if broker >= 0})
    if waiting:
        text = (
            f"Do not start {brokers_text(waiting)} before that is answered: with the start these "
            "partitions get a leader too, and this plan does not know what that destroys."
        )
        yield from wrapped(text, columns, hanging=0)


def _open_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """Severe findings that the plan does not resolve, and where to read more."""
    if not plan.open_findings:
        return
    yield ()
    for each in plan.open_findings[:_SHOWN]:
        beginning = (Span(f"{each.code} {SEVERITY_WORDS[each.severity]} ", Style.LOST),)
        yield from wrapped(shown(f"{each.name}: {each.message}"), columns, beginning=beginning)
    if len(plan.open_findings) > _SHOWN:
        yield (Span(f"... {len(plan.open_findings) - _SHOWN:,} more (--format json)"),)
    links = ("--follow-links",) if plan.follow_links else ()
    command = " ".join(map(shell_word, ("replica-diff", *plan.paths, *links)))
    yield (Span("Before you start a broker, read what to do about it:"),)
    yield (Span(f"  {command}"),)


def _choice_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """The choices that the user must make."""
    if not plan.forced:
        return
    yield ()
    yield (Span("A person must choose: every leader loses committed records.", Style.ATTENTION),)
    for choice in plan.forced[:_SHOWN]:
        taken = f"broker {choice.leader} loses {lost_words(choice.lost_records)} (in this plan)"
        rest = [f"broker {a.broker_id} {lost_words(a.lost)}" for a in choice.alternatives]
        yield from wrapped(shown(f"{choice.name}: {'; '.join([taken, *rest])}"), columns, indent=2)
    if any(choice.alternatives for choice in plan.forced):
        first = next(c for c in plan.forced if c.alternatives)
        other = first.alternatives[0].broker_id
        text = f"For another leader add --elect {first.name}={other} and read the plan again."
        yield from wrapped(shown(text), columns, indent=2)
    if len(plan.forced) > _SHOWN:
        yield (Span(f"  ... {len(plan.forced) - _SHOWN:,} more (--format json)"),)


def _step_lines(number: int, step: PlanStep, columns: int) -> Iterator[Line]:
    beginning = (Span(f"{number}. ", Style.STRONG),)
    yield from wrapped(step.title, columns, hanging=3, beginning=beginning)
    for text in step.texts[:_SHOWN]:
        yield from wrapped(text, columns, indent=3, hanging=0)
    if len(step.texts) > _SHOWN:
        yield (Span(f"   ... {len(step.texts) - _SHOWN:,} more (--format json)"),)
    for choice, lost in step.lost[:_SHOWN]:
        beginning = (Span("lost here: ", Style.LOST),)
        yield from wrapped(lost_text(choice, lost), columns, indent=3, beginning=beginning)
    if len(step.lost) > _SHOWN:
        yield (Span(f"   ... {len(step.lost) - _SHOWN:,} more (--format json)"),)
    if step.kind is StepKind.PREFERRED or step.election is None:
        shown_commands = step.commands[:_SHOWN] if step.kind in _LONG else step.commands
        for command in shown_commands:
            yield from command_lines(command, columns, indent=5)
        if len(shown_commands) < len(step.commands):
            more = len(step.commands) - len(shown_commands)
            yield (Span(f"     ... {more:,} more commands (--format script)"),)
    yield from _check_lines(step, columns)
    if step.kind is StepKind.START and step.election is not None:
        text = (
            "Where it still shows Leader: none after 30 seconds, elect; a partition that has a "
            "leader is left alone by this:"
        )
        yield from wrapped(text, columns, indent=3, hanging=0)
        for command in step.election.commands:
            yield from command_lines(command, columns, indent=5)
        yield from wrapped("Then check again.", columns, indent=3)


def _check_lines(step: PlanStep, columns: int) -> Iterator[Line]:
    if step.kind is StepKind.SAVE:
        text = "Go on when each has ended with exit status 0, or when you know what it left out."
        yield from wrapped(text, columns, indent=3, hanging=0)
    if step.checks:
        yield (Span("   Before going on, this must show:"),)
    if len(step.checks) > _SHOWN:
        more = len(step.checks) - _SHOWN
        yield (Span(f"     ... {more:,} more topics (--format script)"),)
    for check in step.checks[-_SHOWN:]:
        yield from command_lines(check.command, columns, indent=5)
        for expected in check.expected[:_SHOWN]:
            yield from wrapped(f"→ {expected}", columns, indent=7)
        if len(check.expected) > _SHOWN:
            yield (Span(f"       ... {len(check.expected) - _SHOWN:,} more (--format json)"),)
