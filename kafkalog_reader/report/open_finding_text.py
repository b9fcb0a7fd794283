"""What a plan leaves open: severe findings that no order of starts resolves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import SUPPLY_WHAT_IS_MISSING
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import SEVERITY_WORDS
from kafkalog_reader.format.broker_words import joined
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.action_text import command_lines, to_do_lines
from kafkalog_reader.report.plan_step import brokers_text
from kafkalog_reader.report.spans import Line, Span, Style, listed, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.plan.act import Act
    from kafkalog_reader.audits.plan.open_finding import OpenFinding
    from kafkalog_reader.audits.plan.plan import Plan

_MISSING: Final = codes_with(Role.REPLICA_NOT_READ)
_IN_FULL: Final = 3
"""Maximum paragraphs in full about findings of one kind; of more, the first is."""
_GROUPS: Final = 6
"""Maximum paragraphs; ``--format json`` has all, as for what follows."""
_SHOWN: Final = 10
"""Maximum findings of one paragraph, and names of their partitions."""
_ACTS: Final = 6
_COMMANDS: Final = 4
"""Maximum acts, and commands of one."""


def open_finding_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """The findings, those of one kind together, and where to read more."""
    if not plan.open_findings:
        return
    if plan.partitions:
        yield ()
    groups = [*_paragraphs([e for e in plan.open_findings if e not in plan.missing_directories])]
    with_copies = {each.name for each in plan.choices}
    with_copies |= {each.name for each in plan.unanswered}
    done: set[object] = set()
    said: set[tuple[str, ...]] = set()
    for same, text in groups[:_GROUPS]:
        first = same[0]
        beginning = (Span(f"{_head(first)} ", Style.LOST),)
        yield from wrapped(shown(text), columns, beginning=beginning)
        repairs = tuple(repair for each in same[:_SHOWN] for repair in each.repairs)
        to_do = first.actions, repairs
        is_elsewhere = first.log_directory is None and first.name in with_copies
        is_below = first.name in plan.acts and bool(plan.first_acts)
        if (not is_elsewhere or (repairs and not is_below)) and to_do not in done:
            done.add(to_do)
            is_said = first.actions in said and bool(repairs)
            yield from to_do_lines(first.actions, repairs, columns, indent=2, is_said=is_said)
            said.add(first.actions)
    if left := sum(len(same) for same, _ in groups[_GROUPS:]):
        yield (Span(f"... {left:,} more (--format json)"),)
    yield from _more_lines(plan, columns)


def open_finding_texts(plan: Plan) -> list[str]:
    """The same paragraphs without commands, each as one text."""
    return [f"{_head(same[0])} {text}" for same, text in _paragraphs(plan.open_findings)]


def _is_supplied_first(found: OpenFinding) -> bool:
    """Whether ``replica-diff`` would only ask for what was not supplied, as the plan does."""
    return found.code in _MISSING or found.actions[:1] == (SUPPLY_WHAT_IS_MISSING,)


def _head(found: OpenFinding) -> str:
    return f"{found.code} {SEVERITY_WORDS[found.severity]}"


def _paragraphs(
    found: Sequence[OpenFinding],
) -> Iterator[tuple[Sequence[OpenFinding], str]]:
    """The findings of each paragraph and its text: kind by kind, the same words once.

    A kind has the same code and actions, and copies of which the same is said are named together.
    Its paragraphs are in full words, or only the first, where the others differ in places and
    numbers: they are named in one more.
    """
    kinds: dict[tuple[object, ...], dict[str, list[OpenFinding]]] = {}
    for each in found:
        kind = each.code, each.severity, each.actions, each.log_directory is None
        kinds.setdefault(kind, {}).setdefault(each.message, []).append(each)
    for of_kind in kinds.values():
        alike = [*of_kind.values()]
        in_full = len(alike) if len(alike) <= _IN_FULL else 1
        for same in alike[:in_full]:
            copies = [*dict.fromkeys(each.replica for each in same if each.replica)]
            where = f"{joined(copies)}: " if copies else ""
            yield same, f"{_names(same)}: {where}{same[0].message}"
        if rest := [each for same in alike[in_full:] for each in same]:
            title = CATALOGUE[rest[0].code].title
            yield rest, f"{_names(rest)}: {title} ({_more(rest)}--format json has each)"


def _more(rest: Sequence[OpenFinding]) -> str:
    """How many they are, unless the names of partitions show it."""
    return f"{len(rest):,} more, " if len(rest) > len({each.name for each in rest}) else ""


def _names(same: Sequence[OpenFinding]) -> str:
    names = [*dict.fromkeys(each.name for each in same)]
    if len(names) > _SHOWN and same[0].log_directory is None:
        return several_text(names)
    return ", ".join(names)


def partitions_text(names: Sequence[str]) -> str:
    """Partitions by name, unless there are too many."""
    return listed(names) if len(names) <= _SHOWN else several_text(names)


def several_text(names: Sequence[str]) -> str:
    """Partitions of which there are too many to name."""
    return f"{len(names):,} partitions, first {names[0]}"


def _more_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """What to do because of them before a start; if nothing, what the worst one means."""
    of_partitions = [each for each in plan.open_findings if each.log_directory is None]
    is_missing = all(map(_is_supplied_first, of_partitions))
    is_next = not plan.has_work and plan.choices and not plan.unanswered and not is_missing
    start = ""
    if is_next and len(of_partitions) == len(plan.open_findings):
        order = "" if plan.is_one_broker else " in any order"
        start = f"tart {brokers_text(plan.brokers)}{order}."
    yield from act_lines(plan, columns)
    yield (Span(f"What it means: kafkalog explain {plan.open_findings[0].code}"),)
    if start:
        yield from wrapped(f"{'Then s' if plan.first_acts else 'S'}{start}", columns, hanging=0)


def act_lines(plan: Plan, columns: int) -> Iterator[Line]:
    """What comes before the first start, with its commands; nothing if there is nothing."""
    acts = plan.first_acts
    if acts:
        which = "that broker starts" if plan.is_one_broker else "a broker starts"
        yield (Span(f"Before {which}:"),)
    for act in acts[:_ACTS]:
        yield from _act_lines(act, columns)
    if len(acts) > _ACTS:
        yield (Span(f"  ... {len(acts) - _ACTS:,} more (--format json)"),)


def _act_lines(act: Act, columns: int) -> Iterator[Line]:
    about = f"{shown(partitions_text(act.partitions))}: "
    beginning = (Span("→ ", Style.ATTENTION),)
    yield from wrapped(f"{about}{act.text}", columns, indent=2, hanging=2, beginning=beginning)
    for command in act.commands[:_COMMANDS]:
        yield from command_lines(command, columns, indent=6)
    if len(act.commands) > _COMMANDS:
        left = len(act.commands) - _COMMANDS
        yield (Span(f"      ... {left:,} more commands (--format json)"),)
