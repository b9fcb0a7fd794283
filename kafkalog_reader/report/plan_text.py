"""A plan as text: the answer first, then the steps with commands that can be pasted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.replica_rules import METADATA_BEHIND
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.log.record_count import cut_text
from kafkalog_reader.audits.recovery.disks import METADATA_LOG
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.action_text import command_lines
from kafkalog_reader.report.election_text import lost_words
from kafkalog_reader.report.lost_already_text import lost_already_text, went_back_texts
from kafkalog_reader.report.open_finding_text import open_finding_lines, several_text
from kafkalog_reader.report.plan_quorum_steps import with_quorums
from kafkalog_reader.report.plan_step import PlanStep, StepKind, brokers_text, lost_text
from kafkalog_reader.report.plan_steps import plan_steps, start_text
from kafkalog_reader.report.plan_unseen_text import unseen_texts
from kafkalog_reader.report.spans import Line, Span, Style, listed, wrapped
from kafkalog_reader.report.way_out import way_out_commands, way_out_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan

_LONG: Final = frozenset({StepKind.SAVE, StepKind.CONTROLLERS, StepKind.UNFREEZE})
"""Steps that have a command for each partition or topic."""
_METADATA_UNSOUND: Final = "the metadata log is not sound: read below before a node starts"
_METADATA_ABSENT: Final = "no metadata log was supplied: read below before a node starts"
_MISSING: Final = codes_with(Role.REPLICA_NOT_READ)
_SHOWN: Final = 10
"""Maximum lines of one list; ``--format json`` has all."""


def plan_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """The whole plan."""
    yield from plan_summary_lines(plan, columns)
    yield from open_finding_lines(plan, columns)
    for text in _retention_texts(plan):
        yield ()
        yield from wrapped(text, columns, hanging=0)
    if not plan.has_work:
        return
    yield from _choice_lines(plan, columns)
    yield ()
    stopped = "Every broker is stopped now, and stays so until a step starts it. "
    if plan.is_one_broker:
        stopped = ""
    text = f"Read all steps before the first. {stopped}Replace the words in capitals."
    yield from wrapped(text, columns, hanging=0)
    for number, step in enumerate(plan_steps(plan), 1):
        yield ()
        yield from _step_lines(number, step, columns)


def plan_summary_lines(plan: Plan, columns: int = 80) -> Iterator[Line]:
    """The first lines: what has no plan, what to start in which order, and what is lost."""
    yield from _unanswered_lines(plan, columns)
    if not plan.choices:
        if lost := lost_already_text(plan):
            yield from wrapped(lost, columns, hanging=0)
        return
    style = Style.SOUND if plan.is_clean else Style.STRONG
    for line in wrapped(headline(plan), columns, hanging=0):
        yield tuple(Span(span.text, style) for span in line)
    yield from _tail_lines(plan, columns)
    for text in unseen_texts(plan)[:_SHOWN]:
        yield from wrapped(text, columns, hanging=0)
    for text in _unknown_isr_texts(plan):
        yield from wrapped(text, columns, hanging=0)
    if plan.order.by_membership:
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
                "(-stray)."
            )
        yield from wrapped(text, columns, hanging=0)


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
    if plan.is_one_broker or plan.renamed or not unknown:
        return
    if not plan.is_ordered:
        if not plan.empty_directories:
            yield (
                "Which replicas there are and which are in sync is "
                f"{'in ZooKeeper, and' if plan.has_zookeeper else 'in a metadata log, and'} not in "
                "these files: a broker that was not supplied starts last, once these lead."
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
            f"The in-sync replicas (ISR) of {_counted(count, 'partition', 'partitions')} are "
            f"{why}: this order is safe whatever they are{if_kept}."
        )


def _retention_texts(plan: Plan) -> Iterator[str]:
    """When brokers are assumed to start, which decides what retention deletes."""
    if "--started-at" in plan.options or not plan.choices:
        return
    count = sum(bool(choice.expiring_later) for choice in plan.choices)
    if not count:
        yield (
            "Unless a time is named, retention is applied as of each log's newest record. To apply "
            "it as of now, add --started-at now."
        )
        return
    counted = _counted(count, "partition", "partitions")
    yield (
        "Unless a time is named, retention is applied as of each log's newest record. If a broker "
        f"starts later, it may delete segments of {counted} right after the start. To see what it "
        "deletes now, add --started-at now."
    )


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def headline(plan: Plan) -> str:
    """What is missing, the order of starts and what it loses, and what is lost already."""
    answer = " ".join(filter(None, (_headline(plan), lost_already_text(plan))))
    answer = with_quorums(plan, answer)
    answer = " ".join((answer, *went_back_texts(plan)))
    if plan.exchanged:
        answer = (
            f"{plan.exchanged[0].upper()}{plan.exchanged[1:]}: exchange them or their mounts "
            "first, because no broker starts with those of another. If only the labels are wrong: "
            f"{_lowered(answer)}"
        )
    missing = plan.missing_directories
    if not missing:
        return answer
    it, is_, exists = ("it", "is", "exists") if len(missing) == 1 else ("they", "are", "exist")
    said = ", and ".join(each.message for each in missing[:_SHOWN])
    return (
        f"{said[0].upper()}{said[1:]}. If {it} {exists}, supply what is missing and make this plan "
        f"again. Only if {it} {is_} lost: {_lowered(answer)}"
    )


def _headline(plan: Plan) -> str:
    answer = _answer(plan)
    if not plan.unanswered:
        return answer
    if plan.is_one_broker:
        return f"When that is settled: {_lowered(answer)}"
    return f"The other {_counted(len(plan.choices), 'partition', 'partitions')}: {_lowered(answer)}"


def _answer(plan: Plan) -> str:
    first = [*_first(plan)]
    if not first:
        return _order(plan)
    then = f"{listed([*first, 'make this plan again'])}" if plan.waiting else f"{first[0]} (step 1)"
    if plan.renamed:  # what the order of starts loses then was not compared
        return f"First {then}. Before that, start no broker: its start may delete those segments."
    return f"First {then}. Without that: {_lowered(_order(plan))}"


def _first(plan: Plan) -> Iterator[str]:
    """What is done to files before there is a plan of everything."""
    if plan.merged:
        yield f"make {_counted(len(plan.merged), 'sound log', 'sound logs')} of damaged copies"
    if placed := sum(choice.takes_merged_log for choice in plan.merged):
        yield f"put {'it' if placed == 1 else 'them'} in place"
    renamed = len(plan.renamed)
    if renamed:
        yield f"give segments of {_counted(renamed, 'partition', 'partitions')} their names back"
    if repaired := sum(bool(c.repairs and not c.takes_merged_log) for c in plan.waiting):
        yield f"repair files of {_counted(repaired, 'partition', 'partitions')}"


def _lowered(text: str) -> str:
    return f"{text[0].lower()}{text[1:]}"


def _order(plan: Plan) -> str:
    lost = plan.lost
    others = "other " if plan.unanswered else ""
    count = _counted(len(plan.choices), f"{others}partition", f"{others}partitions")
    if plan.is_one_broker:
        (broker,) = plan.brokers
        if not plan.has_work:
            what = "no whole record" if plan.tails else "nothing"
            but = f", {_but(plan)}" if plan.open_findings else ""
            return f"Starting broker {broker} removes {what} from its {count}{but}."
        taken = lost_words(lost) if lost else "no record"
        return f"Starting broker {broker} removes {taken}."
    is_partial = any(c.unseen or c.not_supplied for c in plan.choices)
    is_partial |= bool(plan.went_back or plan.empty_directories)
    starts = [brokers_text(start.brokers) for start in plan.order.starts]
    order = f"start {', then '.join(starts)}{'' if len(starts) > 1 else ' in any order'}"
    if plan.empty_directories:
        several = "" if len(plan.empty_directories) == 1 else "s"
        starts_last = (
            f"the broker{several} whose log director{'ies are' if several else 'y is'} empty"
        )
        order = f"start {', then '.join((*starts, starts_last))}"
    if preparations := list(_preparations(plan)):
        order = f"{listed(preparations)} while all are stopped, then {order}"
    if plan.reassigned:
        copies = _counted(sum(len(c.reassigned) for c in plan.reassigned), "copy", "copies")
        order = f"{order}, then replace {copies} by reassignments"
    if plan.open_findings and not plan.has_work:
        what = "whole records" if plan.tails else "records"
        return f"No start and no election loses {what}, {_but(plan)}."
    if not plan.has_work:
        what = "No whole record" if plan.tails else "Nothing"
        return f"Nothing to do: {order}. {what} is lost."
    order = f"{order[0].upper()}{order[1:]}."
    but = f", {_but(plan)}" if plan.open_findings else ""
    if not lost and plan.unreadable:
        return f"{order} No record is deleted then, but {_unreadable(plan)}."
    if not lost:
        what = "No whole record" if plan.tails else "Nothing"
        if is_partial:
            what = "No supplied record"
        return f"{order} {what} is lost then{but}."
    supplied = ", of what was supplied" if is_partial else ""
    text = f"{order} Lost then{supplied}: {lost_words(lost)}; save them first.{_zeros_text(plan)}"
    if plan.unreadable:
        text = f"{text} And {_unreadable(plan)}."
    return f"{text} But {_METADATA_UNSOUND}." if _is_metadata_unsound(plan) else text


def _unreadable(plan: Plan) -> str:
    names = [shown(each.name) for each in plan.unreadable]
    which = listed(names) if len(names) <= _SHOWN else several_text(names)
    copy = "its leader's copy" if len(names) == 1 else "their leaders' copies"
    return f"{which} cannot be read past the damage of {copy}"


def _zeros_text(plan: Plan) -> str:
    """That the number of records in damaged batches is no bound where zeros follow them."""
    names = [c.name for c in plan.losing if c.has_zeros_at_end and c.lost_records.damaged]
    if not names:
        return ""
    which = listed(names) if len(names) <= _SHOWN else several_text(names)
    return f" More may have been where zeros end the log of {which}: how many is unknown."


def _is_metadata_unsound(plan: Plan) -> bool:
    """Whether the open findings are about the metadata log and nothing else."""
    findings = plan.open_findings
    return bool(findings) and all(
        each.name == METADATA_LOG or each.code == METADATA_BEHIND for each in findings
    )


def _but(plan: Plan) -> str:
    if plan.may_lack_metadata:
        return f"but {_METADATA_ABSENT}"
    if _is_metadata_unsound(plan):
        return f"but {_METADATA_UNSOUND}"
    if all(each.code in _MISSING or each in plan.empty_directories for each in plan.open_findings):
        return "but not every replica is here"
    of_directories = all(each.log_directory is not None for each in plan.open_findings)
    return f"but not every {'log directory' if of_directories else 'copy'} is sound"


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


def _preparations(plan: Plan) -> Iterator[str]:
    """What is done to files before the first start."""
    if missing := len(plan.missing_directories):
        yield f"restore {_counted(missing, 'log directory', 'log directories')}"
    if plan.set_aside:
        yield f"move {_counted(len(plan.set_aside), 'copy', 'copies')} aside"
    if plan.order.replaced:
        yield f"replace {_counted(len(plan.order.replaced), 'copy', 'copies')}"
    files = sum(step.kind is StepKind.WRITE_FILE for step in plan_steps(plan))
    if files:
        yield f"write {_counted(files, 'file', 'files')}"


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
    for each in [each for each in plan.unanswered if each.unknown_copies][:_SHOWN]:
        yield from wrapped(shown(way_out_text(each)), columns, hanging=0)
        for command in way_out_commands(plan, each):
            yield from command_lines(command, columns, indent=4)
    waiting = sorted({broker for each in plan.unanswered for broker in each.brokers if broker >= 0})
    if waiting:
        their = "its" if len(waiting) == 1 else "their"
        these = "this partition" if len(plan.unanswered) == 1 else "these partitions"
        text = (
            f"Do not start {brokers_text(waiting)} before that is settled: {their} start also "
            f"gives {these} a leader, and what that destroys is unknown."
        )
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
    if step.kind is StepKind.QUORUM:
        text = "Run this, and do the steps that it prints, before any controller starts:"
        yield (Span(f"   {text}"),)
    elif step.checks:
        yield (Span("   Before going on, this must show:"),)
    if len(step.checks) > _SHOWN:
        more = len(step.checks) - _SHOWN
        yield (Span(f"     ... {more:,} more topics (--format script)"),)
    for check in step.checks[-_SHOWN:]:
        yield from command_lines(check.command, columns, indent=5)
        for expected in () if step.kind is StepKind.QUORUM else check.expected[:_SHOWN]:
            yield from wrapped(f"→ {expected}", columns, indent=7)
        if len(check.expected) > _SHOWN:
            yield (Span(f"       ... {len(check.expected) - _SHOWN:,} more (--format json)"),)
