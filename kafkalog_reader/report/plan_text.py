"""A plan as text: the answer first, then the steps with commands that can be pasted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.record_count import cut_text
from kafkalog_reader.audits.recovery.disks import METADATA_LOG
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.action_text import command_lines
from kafkalog_reader.report.deleted_topic_text import deleted_texts
from kafkalog_reader.report.election_text import lost_words
from kafkalog_reader.report.lost_already_text import lost_already_text
from kafkalog_reader.report.membership_text import reassignment_text
from kafkalog_reader.report.open_finding_text import (
    open_finding_lines,
    partitions_text,
    several_text,
)
from kafkalog_reader.report.plan_headline import headline
from kafkalog_reader.report.plan_step import brokers_text, counted
from kafkalog_reader.report.plan_step_text import step_lines
from kafkalog_reader.report.plan_steps import plan_steps, start_text
from kafkalog_reader.report.plan_unseen_text import unseen_texts
from kafkalog_reader.report.spans import Line, Span, Style, wrapped
from kafkalog_reader.report.way_out import way_out_commands, way_out_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan

_NOT_SUPPLIED: Final = "a broker that was not supplied starts last, once these lead"
_SHOWN: Final = 10
"""Maximum lines of one list; ``--format json`` has all."""


def plan_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """The whole plan."""
    yield from plan_summary_lines(plan, columns)
    yield from open_finding_lines(plan, columns)
    for text in (*_reassignment_texts(plan), *_retention_texts(plan)):
        yield ()
        yield from wrapped(text, columns, hanging=0)
    if plan.has_work:
        yield from _choice_lines(plan, columns)
        yield ()
        stopped = "Every broker is stopped now, and stays so until a step starts it. "
        if plan.is_one_broker:
            stopped = ""
        text = f"Read all steps before the first. {stopped}Replace the words in capitals."
        yield from wrapped(text, columns, hanging=0)
        yield from step_lines(plan_steps(plan), columns)
    if plan.choices and "--started-at" not in plan.options:
        yield ()
        text = "Retention is as of each log's newest record; --started-at now applies it as of now."
        yield from wrapped(text, columns, hanging=0)


def plan_summary_lines(plan: Plan, columns: int = 80) -> Iterator[Line]:
    """The first lines: what has no plan, what to start in which order, and what is lost."""
    yield from _unanswered_lines(plan, columns)
    if not (plan.choices or plan.files_first):
        for text in (lost_already_text(plan), *deleted_texts(plan)):
            yield from wrapped(text, columns, hanging=0) if text else ()
        return
    style = Style.SOUND if plan.is_clean else Style.STRONG
    for line in wrapped(headline(plan), columns, hanging=0):
        yield tuple(Span(span.text, style) for span in line)
    yield from _tail_lines(plan, columns)
    for text in deleted_texts(plan):
        yield from wrapped(text, columns, hanging=0)
    for text in unseen_texts(plan)[:_SHOWN]:
        yield from wrapped(text, columns, hanging=0)
    for text in _unknown_isr_texts(plan):
        yield from wrapped(text, columns, hanging=0)
    if text := any_order_text(plan):
        yield from wrapped(text, columns, hanging=0)
    if plan.order.by_membership and not plan.files_first:
        text = (
            "This order trusts the in-sync replicas (ISR) that the metadata log names: copies "
            "outside of it are not elected while unclean election is forbidden."
        )
        yield from wrapped(text, columns, hanging=0)
    if plan.is_selected:
        text = (
            "Only the selected partitions are in this plan, but a broker always starts with all "
            "of its partitions."
        )
        yield from wrapped(text, columns, hanging=0)
    if plan.is_one_broker and any(c.electable is None or c.not_supplied for c in plan.choices):
        text = (
            f"Only broker {plan.brokers[0]} was supplied. What it cuts when it follows another "
            "leader, and whether it may lead, is unknown without the other copies."
        )
        if plan.is_without_metadata:
            text += (
                " If the controllers have lost the metadata log, it sets every partition aside "
                "(-stray), or deletes it before release 3.7."
            )
        yield from wrapped(text, columns, hanging=0)


def any_order_text(plan: Plan) -> str:
    """Why the order does not matter although some copies must not lead; empty if none must not."""
    held_back = [choice for choice in plan.choices if choice.others]
    if plan.has_work or not held_back:
        return ""
    brokers = sorted(held_back[0].electable or ())
    named = shown(partitions_text([choice.name for choice in held_back]))
    who = "the in-sync replicas"
    if all(choice.electable == held_back[0].electable for choice in held_back):
        who = brokers_text(brokers)
    return (
        f"In {named}, other copies must not lead, and cannot: by the metadata log the controller "
        f"elects only {who}, unless an unclean election is allowed or held."
    )


def _tail_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """What starts cut although no whole record is lost; the steps name it where there are any."""
    if plan.has_work:
        return
    for loss in plan.tails[:_SHOWN]:
        yield from wrapped(start_text(loss), columns, indent=2)
    if len(plan.tails) > _SHOWN:
        size = sum(loss.size_in_bytes for loss in plan.tails[_SHOWN:])
        torn = sum(loss.max_in_torn_batch for loss in plan.tails[_SHOWN:])
        text = (
            f"... {len(plan.tails) - _SHOWN:,} more: {cut_text(0, 0, torn, size)} (--format json)"
        )
        yield from wrapped(text, columns, indent=2)


def _unknown_isr_texts(plan: Plan) -> Iterator[str]:
    """Why the ISR of partitions is unknown, and what depends on it."""
    unknown = any(choice.electable is None for choice in plan.choices)
    if plan.is_one_broker or plan.renamed or plan.files_first or not unknown:
        return
    if not plan.is_ordered:
        if not plan.empty_directories:
            yield (
                "Which replicas there are and which are in sync is "
                f"{'in ZooKeeper, and' if plan.has_zookeeper else 'in a metadata log, and'} not in "
                f"these files: {_NOT_SUPPLIED}."
            )
        return
    reasons = Counter(choice.why_unknown for choice in plan.choices if choice.electable is None)
    is_damaged = any(each.name == METADATA_LOG for each in plan.severe)
    none = f"no {'sound ' if is_damaged else ''}metadata log was supplied"
    for reason, count in reasons.items():
        why = f"unknown, because {reason or none}"
        if not reason and plan.has_zookeeper:
            why = "in ZooKeeper (/brokers/topics/TOPIC/partitions/N/state) and not in these files"
        if_kept = ", if a controller has that log" if plan.is_without_metadata else ""
        yield (
            f"The in-sync replicas (ISR) of {counted(count, 'partition', 'partitions')} are "
            f"{why}: this order is safe whatever they are{if_kept}."
        )
    if not all(choice.assigned for choice in plan.choices):
        yield f"Other copies are not counted, if there are any: {_NOT_SUPPLIED}."


def _reassignment_texts(plan: Plan) -> Iterator[str]:
    """Reassignments that the brokers go on with by themselves."""
    moving = [choice for choice in plan.choices if choice.adding or choice.removing]
    if moving:
        named = [
            f"{shown(each.name)} ({reassignment_text(each.adding, each.removing)})"
            for each in moving[:_SHOWN]
        ]
        more = f" and {len(moving) - _SHOWN:,} more" if len(moving) > _SHOWN else ""
        them = "It goes" if len(moving) == 1 else "They go"
        yield (
            f"In flight by the metadata log: a reassignment of {', '.join(named)}{more}. {them} on "
            "by itself once the brokers run, and replicas that are being added lack records until "
            "then."
        )


def _retention_texts(plan: Plan) -> Iterator[str]:
    """When brokers are assumed to start, which decides what retention deletes."""
    if "--started-at" in plan.options or not plan.choices:
        return
    count = sum(bool(choice.expiring_later) for choice in plan.choices)
    if count:
        shortened = counted(count, "partition", "partitions")
        yield (
            "If a broker starts later than its newest records, it may delete segments of "
            f"{shortened} right after the start. To see what it deletes now, add --started-at now."
        )


def unanswered_word(plan: Plan) -> str:
    """Begins each line about a partition without a plan."""
    return "NO PLAN" if plan.has_no_answer else "DOES NOT COME UP"


def unanswered_texts(plan: Plan) -> list[str]:
    """What has no plan and why; partitions with the same reason in one text."""
    names: dict[str, list[str]] = {}
    for each in plan.unanswered:
        names.setdefault(each.reason, []).append(each.name)
    return [
        shown(f"{of_reason[0] if len(of_reason) == 1 else several_text(of_reason)}: {reason}")
        for reason, of_reason in names.items()
    ]


def _unanswered_lines(plan: Plan, columns: int) -> Iterator[Line]:
    said = unanswered_texts(plan)
    for text in said[:_SHOWN]:
        yield from wrapped(
            text, columns, beginning=(Span(f"{unanswered_word(plan)} ", Style.LOST),)
        )
    if len(said) > _SHOWN:
        yield (Span(f"... {len(said) - _SHOWN:,} more (--format json)"),)
    if not plan.has_no_answer:
        return
    with_way_out = [(each, text) for each in plan.unanswered if (text := way_out_text(each))]
    for each, text in with_way_out[:_SHOWN]:
        yield from wrapped(shown(text), columns, hanging=0)
        for command in way_out_commands(plan, each):
            yield from command_lines(command, columns, indent=4)
    waiting = sorted({broker for each in plan.unanswered for broker in each.brokers if broker >= 0})
    if waiting:
        their = "its" if len(waiting) == 1 else "their"
        these = "this partition" if len(plan.unanswered) == 1 else "these partitions"
        why = f": {their} start also gives {these} a leader, and what that destroys is unknown"
        if all(each.misplaced_copies for each in plan.unanswered):
            why = ""
        text = f"Do not start {brokers_text(waiting)} before that is settled{why}."
        yield from wrapped(text, columns, hanging=0)


def _choice_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """The choices that the user must make."""
    if not plan.forced:
        return
    yield ()
    is_choice = any(choice.alternatives for choice in plan.forced)
    head = "A person must choose: every" if is_choice else "Every"
    supplied = " supplied copy" if any(c.unseen for c in plan.forced) else " leader"
    lost = [
        each for c in plan.forced for each in (c.lost_records, *(a.lost for a in c.alternatives))
    ]
    what = (
        "committed records" if all(each.known for each in lost) else "what is or may be committed"
    )
    yield (Span(f"{head}{supplied} loses {what}.", Style.ATTENTION),)
    for choice in plan.forced[:_SHOWN]:
        yield from wrapped(f"{shown(choice.name)} led by", columns, indent=2)
        led_by = [(choice.leader, f"{lost_words(choice.lost_records)} (in this plan)")]
        led_by += [(each.broker_id, lost_words(each.lost)) for each in choice.alternatives]
        for broker, loses in led_by:
            yield from wrapped(f"broker {broker}: loses {loses}", columns, indent=4, hanging=4)
    if any(choice.alternatives for choice in plan.forced):
        first = next(c for c in plan.forced if c.alternatives)
        other = first.alternatives[0].broker_id
        text = f"For another leader add --elect {first.name}={other} and read the plan again."
        yield from wrapped(shown(text), columns, indent=2)
    if len(plan.forced) > _SHOWN:
        yield (Span(f"  ... {len(plan.forced) - _SHOWN:,} more (--format json)"),)
