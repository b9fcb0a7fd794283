"""The answer of a plan in one paragraph: what to do, in which order, and what that loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.replica_rules import METADATA_BEHIND
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.plan.at_stake import at_stake
from kafkalog_reader.audits.recovery.disks import METADATA_LOG
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.election_text import lost_words
from kafkalog_reader.report.lost_already_text import (
    lost_already_text,
    older_disk_texts,
    went_back_texts,
)
from kafkalog_reader.report.open_finding_text import partitions_text
from kafkalog_reader.report.plan_file_steps import file_steps
from kafkalog_reader.report.plan_quorum_steps import with_quorums
from kafkalog_reader.report.plan_step import brokers_text, counted
from kafkalog_reader.report.spans import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan

_METADATA_UNSOUND: Final = "the metadata log is not sound: read below before a node starts"
_METADATA_ABSENT: Final = (
    "Start no node before you have the metadata log: none was supplied, and without it brokers set "
    "every partition aside, or delete it. With it: "
)
_MISSING: Final = codes_with(Role.REPLICA_NOT_READ)
_SHOWN: Final = 10
"""Maximum missing log directories that are named; ``--format json`` has all."""


def headline(plan: Plan) -> str:
    """What is missing, the order of starts and what it loses, and what is lost already."""
    answer = " ".join(filter(None, (_headline(plan), lost_already_text(plan))))
    answer = with_quorums(plan, answer)
    answer = " ".join((answer, *went_back_texts(plan), *older_disk_texts(plan)))
    if plan.running and plan.has_work:
        answer = f"{answer} {_running(plan)}"
    if plan.may_lack_metadata:
        answer = f"{_METADATA_ABSENT}{_lowered(answer)}"
    if plan.exchanged:
        answer = (
            f"{plan.exchanged[0].upper()}{plan.exchanged[1:]}: exchange them or their mounts "
            "first, because no broker starts with those of another. If only labels or folders are "
            f"wrong: {_lowered(answer)}"
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


def _running(plan: Plan) -> str:
    """The two readings of copies that end before the others; the plan is safe in both.

    Copying a broker again that was killed gives the same files: only longer logs are new evidence.
    """
    was, its, it = "was", "its", "it was"
    if len(plan.running) > 1:
        was, its, it = "were", "their", "they were"
    names = brokers_text(plan.running)
    return (
        f"{names[0].upper()}{names[1:]} {was} killed before the others, or {it} copied while "
        f"running, before the others; the files do not show which. If killed, this is the plan. If "
        f"{it} copied first and ran on, stop every broker: the logs on {its} disks are then "
        "longer than in these copies. Only where they are, copy them again and plan by the new "
        "copies."
    )


def _headline(plan: Plan) -> str:
    answer = _answer(plan)
    if not plan.unanswered:
        return answer
    if plan.is_one_broker:
        return f"When that is settled: {_lowered(answer)}"
    others = len(plan.choices) + plan.idle_partitions
    return f"The other {counted(others, 'partition', 'partitions')}: {_lowered(answer)}"


def _answer(plan: Plan) -> str:
    first = [*_first(plan)]
    if not first:
        return _order(plan)
    then = listed([*first, "make this plan again"])
    if plan.renamed:  # what the order of starts loses then was not compared
        return f"First {then}. Before that, start no broker: its start may delete those segments."
    if plan.files_first:
        return f"First {then}. Before that, start no broker."
    return f"First {then}. Without that: {_lowered(_order(plan))}"


def _first(plan: Plan) -> Iterator[str]:
    """What is done to files before there is a plan of everything."""
    yield from dict.fromkeys(f"{each.what} ({each.code})" for each in plan.files_first)
    if plan.merged:
        yield f"make {counted(len(plan.merged), 'sound log', 'sound logs')} of damaged copies"
        yield f"put {'it' if len(plan.merged) == 1 else 'them'} in place"
    renamed = len(plan.renamed)
    if renamed:
        yield f"give segments of {counted(renamed, 'partition', 'partitions')} their names back"
    if repaired := sum(bool(c.repairs and c.merge is None) for c in plan.waiting):
        yield f"repair files of {counted(repaired, 'partition', 'partitions')}"


def _order(plan: Plan) -> str:
    lost = plan.lost
    others = "other " if plan.unanswered else ""
    count = counted(len(plan.choices), f"{others}partition", f"{others}partitions")
    if plan.is_one_broker:
        (broker,) = plan.brokers
        if not plan.has_work:
            what = "no whole record" if plan.tails else "nothing"
            but = f", {_but(plan)}" if plan.open_findings else ""
            return f"Starting broker {broker} removes {what} from its {count}{but}."
        taken = lost_words(lost) if lost else "no record"
        return f"Starting broker {broker} removes {taken}."
    is_partial = any(c.unseen or c.not_supplied or not c.assigned for c in plan.choices)
    is_partial |= any(each.may_be_elsewhere and each.is_whole for each in plan.lost_already)
    is_partial |= bool(plan.went_back or plan.empty_directories or [*older_disk_texts(plan)])
    is_partial |= bool(plan.running)
    counted_ones = f"{'whole ' if plan.tails else ''}{'supplied ' if is_partial else ''}record"
    nothing = "Nothing" if counted_ones == "record" else f"No {counted_ones}"
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
        copies = counted(sum(len(c.reassigned) for c in plan.reassigned), "copy", "copies")
        order = f"{order}, then replace {copies} by reassignments"
    if plan.open_findings and not plan.has_work:
        return f"No start and no election loses {counted_ones}s, {_but(plan)}."
    if not plan.has_work:
        order = order if plan.lacking_quorums else f"nothing to do: {order}"
        return f"{order[0].upper()}{order[1:]}. {nothing} is lost."
    order = f"{order[0].upper()}{order[1:]}."
    but = f", {_but(plan)}" if plan.open_findings else ""
    if not lost and plan.unreadable:
        return f"{order} No record is deleted then, but {_unreadable(plan)}."
    if not lost:
        return f"{order} {nothing} is lost then{but}.{_at_stake_text(plan)}"
    supplied = ", of what was supplied" if is_partial else ""
    text = f"{order} Lost then{supplied}: {lost_words(lost)}; save them first."
    if plan.unreadable:
        text = f"{text} And {_unreadable(plan)}."
    return f"{text} But {_METADATA_UNSOUND}." if _is_metadata_unsound(plan) else text


def _at_stake_text(plan: Plan) -> str:
    """What another order can lose; whoever can do without it need not keep to this one."""
    stake = at_stake(plan)
    if not stake.records:
        return ""
    names = partitions_text([*map(shown, stake.names)])
    text = f" Another order can lose {lost_words(stake.records)} ({names})"
    may_be_committed = stake.records.total > stake.records.uncommitted or stake.records.damaged
    if stake.is_all and not may_be_committed:
        text += f": if that does not matter, start {brokers_text(plan.brokers)} in any order"
    return f"{text}."


def _preparations(plan: Plan) -> Iterator[str]:
    """What is done to files before the first start."""
    if missing := len(plan.missing_directories):
        yield f"restore {counted(missing, 'log directory', 'log directories')}"
    if plan.set_aside:
        yield f"move {counted(len(plan.set_aside), 'copy', 'copies')} aside"
    if plan.order.replaced:
        yield f"replace {counted(len(plan.order.replaced), 'copy', 'copies')}"
    if files := sum(len(step.files) for step in file_steps(plan)):
        yield f"write {counted(files, 'file', 'files')}"


def _unreadable(plan: Plan) -> str:
    names = [shown(each.name) for each in plan.unreadable]
    which = partitions_text(names)
    copy = "its leader's copy" if len(names) == 1 else "their leaders' copies"
    return f"{which} cannot be read past the damage of {copy}"


def _but(plan: Plan) -> str:
    if plan.may_lack_metadata:
        return "as far as these files show"
    if _is_metadata_unsound(plan):
        return f"but {_METADATA_UNSOUND}"
    others = [each for each in plan.open_findings if not each.is_lost]
    if others and all(each.code in _MISSING or each in plan.empty_directories for each in others):
        return "but not every replica is here"
    of_directories = all(each.log_directory is not None for each in plan.open_findings)
    return f"but not every {'log directory' if of_directories else 'copy'} is sound"


def _is_metadata_unsound(plan: Plan) -> bool:
    """Whether the open findings are about the metadata log and nothing else."""
    findings = plan.open_findings
    return bool(findings) and all(
        each.name == METADATA_LOG or each.code == METADATA_BEHIND for each in findings
    )


def _lowered(text: str) -> str:
    return f"{text[0].lower()}{text[1:]}"
