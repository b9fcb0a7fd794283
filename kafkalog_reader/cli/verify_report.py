"""The report of ``kafkalog verify``: the verdict, then findings by kind, worst first."""

from __future__ import annotations

import time
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafkalog_reader.audits.catalogue.actions import (
    ACTIONS,
    LET_BEST_LEAD,
)
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.replica_rules import LAGGING_REPLICA
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import SEVERITY_WORDS
from kafkalog_reader.audits.integrity.damage import are_damaged, is_severe
from kafkalog_reader.audits.plan.next_start import is_safe_in_any_order
from kafkalog_reader.cli.exit_status import ExitStatus
from kafkalog_reader.cli.incident import Found, Incident, IncidentKind, incidents, kinds
from kafkalog_reader.cli.incident_actions import brokers_of, commands_of, first_actions
from kafkalog_reader.cli.printable import grouped, plural, size
from kafkalog_reader.cli.run import CLEAN, FOUND
from kafkalog_reader.cli.screen import screen, write_lines
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.report.action_text import command_lines
from kafkalog_reader.report.plan_headline import headline
from kafkalog_reader.report.plan_text import any_order_text
from kafkalog_reader.report.spans import Line, Span, Style, offsets_text, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.tables.verification import Verification
    from kafkalog_reader.io.directories import PartitionDirectory

_STYLES: Final = {"C": Style.LOST, "H": Style.LOST, "M": Style.ATTENTION}
EVERY_CRC: Final = "every CRC checked"
_COMPARE: Final = (
    "Run replica-diff with the same paths: it shows which copy holds what, and what each election "
    "loses."
)
_ORDER: Final = (
    "In {}, copies end at different offsets, as those of running brokers do. If these brokers are "
    "stopped, the order of their starts may matter: kafkalog plan, with the same paths, shows it."
)
_ANY_ORDER: Final = (
    "In {}, copies end at different offsets, as those of running brokers do. If these brokers are "
    "stopped, start them in any order."
)
_PLAN: Final = "If these brokers are stopped: {} kafkalog plan, with the same paths, has the steps."
_QUORUM: Final = (
    "The copies of the metadata log differ, as those of a running quorum do. If the controllers "
    "are stopped, kafkalog quorum, with the same paths, shows which can be elected."
)
_WITHOUT_CONTROLLERS: Final = (
    "No controller of these brokers is in these files. If the controllers are lost, start no "
    "broker: kafkalog quorum, with the same paths, says how to get a leader."
)
_KINDS_SHOWN: Final = 5
_LINES_SHOWN: Final = 45
"""Maximum lines of kinds that are shown in full: the whole report then fits on a screen."""
_PLACES_SHOWN: Final = 3
_LONG: Final = 5
"""Minimum seconds that the report mentions."""
_OF_SEVERAL: Final = codes_with(Role.SEVERAL_REPLICAS)


class HasPlan(Protocol):
    """Whatever has the plan of all partitions."""

    @property
    def plan(self) -> Plan | None: ...


class Report:
    """Collects findings; damage of a log directory's file counts once for all its partitions.

    Args:
        started: by the monotonic clock.
        verbose: show everything, including consequences and information.
        fail_on: the lowest severity for which the exit status is 1.
        looked_at: what was checked, for the first line.
        next_start: has the plan of what was checked.

    Attributes:
        done: number of partitions and log directories checked.
    """

    def __init__(
        self,
        *,
        started: float,
        verbose: bool,
        fail_on: str = "high",
        looked_at: str = EVERY_CRC,
        next_start: HasPlan,
    ) -> None:
        self.done = self.partitions = 0
        self._ended = ExitStatus()
        self._replicas = self._batches = self._bytes = 0
        self._undecided: list[str] = []
        self._is_quorum_uneven = self._is_without_controllers = False
        self._found: list[tuple[Finding, dict[str, Any]]] = []
        self._places: set[tuple[object, ...]] = set()
        self._started = started
        self._verbose = verbose
        self._fail_on = fail_on
        self._looked_at = looked_at
        self._next_start = next_start

    @property
    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of all findings: worst first, then by topic, partition, broker and place."""
        return (row for _, row in sorted(self._found, key=_order))

    @property
    def is_answered(self) -> bool:
        """Whether everything was read."""
        return not self._ended.is_unanswered

    def add(self, verification: Verification) -> None:
        """Add one unit."""
        self.done += 1
        self.partitions += verification.replicas > 0
        self._replicas += verification.replicas
        self._undecided += verification.undecided
        self._is_quorum_uneven |= verification.is_quorum_uneven
        self._is_without_controllers |= verification.is_without_controllers
        self._ended.add(
            (each for each, _ in verification.findings), reason="; ".join(verification.undecided)
        )
        self._batches += verification.batches
        self._bytes += verification.size_in_bytes
        for each, row in verification.findings:
            place = (
                each.code, row["logDirectory"], *_partition(row), each.file, each.position,
                each.message,
            )  # fmt: skip
            if place not in self._places:
                self._places.add(place)
                self._found.append((each, row))

    @property
    def has_an_answer(self) -> bool:
        """Whether there was a partition, or something is wrong: nothing is not sound."""
        return self.partitions > 0 or self.status != CLEAN

    @property
    def status(self) -> int:
        """The exit status: 2 if something was not read or compared, 1 if something was found."""
        return self._ended.status(self._fail_on, is_start_safe=self._is_start_safe)

    @cached_property
    def _is_start_safe(self) -> bool:
        plan = self._next_start.plan
        return plan is None or is_safe_in_any_order(plan)

    @cached_property
    def _any_order(self) -> Plan | None:
        """The plan if it says that nothing has to be done."""
        plan = self._next_start.plan
        is_all = plan is not None and not (plan.has_work or plan.unanswered or plan.open_findings)
        return plan if is_all and self._is_start_safe else None

    def write(self) -> None:
        """Write the screen."""
        write_lines(self._lines(screen().columns))

    @property
    def incidents(self) -> list[Incident]:
        """All findings, each with its cause."""
        ordered = sorted(self._found, key=_order)
        return incidents(
            [Found(each, _place(each, row), _partition(row), row["topic"]) for each, row in ordered]
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """The partitions whose copies could not be compared, each with the reason."""
        return tuple(self._undecided)

    def _lines(self, columns: int) -> Iterator[Line]:
        every = self.incidents
        yield from wrapped(self.verdict(every), columns)
        found = kinds(each for each in every if self._verbose or each.severity != "I")
        in_full = used = 0
        for kind in found:
            lines = [*self._kind_lines(kind, columns)]
            used += 1 + len(lines)
            is_long = in_full and used > _LINES_SHOWN
            if not self._verbose and (in_full == _KINDS_SHOWN or is_long):
                break
            yield ()
            yield from lines
            in_full += 1
        if found[in_full:]:
            yield ()
            yield (Span("Also found (--verbose lists all):"),)
            for kind in found[in_full:]:
                yield kind_head(kind)
                if is_severe(kind.headline):
                    yield from where_lines(kind.incidents[0], columns)
        if self._undecided:
            yield ()
            yield from self._undecided_lines(columns)
        yield from self._ending(found, columns)

    def _ending(self, found: Sequence[IncidentKind], columns: int) -> Iterator[Line]:
        """The last lines, which say where to read more."""
        lagging = {
            _partition(row)
            for each, row in self._found
            if each.code == LAGGING_REPLICA and row["topic"] != METADATA_TOPIC
        }
        of_quorum = self._is_quorum_uneven or self._is_without_controllers
        if not found and not lagging and not of_quorum and self._is_start_safe:
            return
        yield ()
        members = (each for kind in found for one in kind.incidents for each in one.members)
        severe = {each.code for each in members if is_severe(each)}
        if severe & _OF_SEVERAL:
            yield from wrapped(_COMPARE, columns)
        elif not self._is_start_safe:
            plan = self._next_start.plan
            assert plan is not None
            text = headline(plan)
            yield from wrapped(_PLAN.format(f"{text[0].lower()}{text[1:]}"), columns)
        elif lagging and self._any_order is not None:
            yield from wrapped(
                f"{_ANY_ORDER.format(plural(len(lagging), 'partition'))} "
                f"{any_order_text(self._any_order)}",
                columns,
            )
        elif lagging:
            yield from wrapped(_ORDER.format(plural(len(lagging), "partition")), columns)
        if self._is_quorum_uneven:
            yield from wrapped(_QUORUM, columns)
        if self._is_without_controllers:
            yield from wrapped(_WITHOUT_CONTROLLERS, columns)
        if found:
            yield (Span(f"What it means: kafkalog explain {found[0].headline.code}"),)

    def _undecided_lines(self, columns: int) -> Iterator[Line]:
        listed = self._undecided if self._verbose else self._undecided[:_PLACES_SHOWN]
        for each in listed:
            yield from wrapped(f"not comparable: {each}", columns)
        if more := len(self._undecided) - len(listed):
            yield (Span(f"... {more:,} more (--verbose)"),)

    def verdict(self, every: Sequence[Incident]) -> str:
        """The first line: the verdict and what was checked."""
        counts = Counter(each.severity for each in every if each.severity != "I")
        words = [f"{counts[s]:,} {SEVERITY_WORDS[s].lower()}" for s in "CHML" if counts[s]]
        found = ", ".join(words) or f"nothing {'else ' if self._undecided else ''}wrong"
        seconds = time.monotonic() - self._started
        took = f", {seconds:,.0f} s" if seconds >= _LONG else ""
        copies = plural(self._replicas, "copy").replace("copys", "copies")
        return (
            f"{self._word(every)}: {found} in {plural(self.partitions, 'partition')} "
            f"({copies}, {size(self._bytes)}, {grouped(self._batches)} "
            f"batch{'' if self._batches == 1 else 'es'}, {self._looked_at}{took})"
        )

    def _word(self, every: Sequence[Incident]) -> str:
        """The verdict; never "sound" if the exit status is not 0."""
        is_damaged = any(are_damaged(each.members) for each in every)
        if not self.is_answered:
            return "damaged, and not read in full" if is_damaged else "not read in full"
        if is_damaged:
            return "damaged"
        if any(is_severe(each.headline) for each in every):
            return "not sound"
        if not self._is_start_safe:
            return "not safe to start in any order"
        if self.status == FOUND:
            return "not sound"
        return "not comparable" if self._undecided else "sound"

    def _kind_lines(self, kind: IncidentKind, columns: int) -> Iterator[Line]:
        yield kind_head(kind)
        shown_places = kind.incidents if self._verbose else kind.incidents[:_PLACES_SHOWN]
        # Where other places need another action, one of each is shown in full.
        by_action = {each.headline.actions[:1]: each for each in reversed(shown_places)}
        shown_in_full = kind.incidents if self._verbose else [*by_action.values()]
        for each in shown_places:
            yield from where_lines(each, columns)
            if each in shown_in_full:
                yield from self.member_lines(each, columns)
        if more := len(kind.incidents) - len(shown_places):
            yield (Span(f"  ... {more:,} more (--verbose)"),)
        actions = first_actions(shown_in_full)
        if self._any_order is not None:  # whoever is elected may lead
            actions = [each for each in actions if each != LET_BEST_LEAD]
        for action in actions:
            text = ACTIONS[action].text(**brokers_of(kind, action))
            yield from wrapped(f"→ {text}", columns, indent=2, hanging=2)
        commands = commands_of(actions, shown_places)
        if more := len(commands_of(actions, kind.incidents)) - len(commands):
            commands.append(f"# and {plural(more, 'more command')} (--verbose)")
        for command in commands:
            yield from command_lines(command, columns, indent=6)

    def member_lines(self, incident: Incident, columns: int) -> Iterator[Line]:
        """What the findings of an incident say."""
        headline, cause = incident.headline, incident.cause
        sure = "" if headline.confidence == "proven" else f" ({headline.confidence})"
        yield from wrapped(f"{_said(headline)}{sure}", columns, indent=6, hanging=0)
        if cause is not headline:
            yield from _member("caused by", cause, [headline], columns)
        others = [each for each in incident.members[1:] if each is not cause]
        in_full = others if self._verbose else _first_of_each_code(others)
        word = "so" if cause is headline else "with it"
        lines = (tuple(_member(word, each, [headline, cause], columns)) for each in in_full)
        for member in dict.fromkeys(lines):  # what is said of several copies in the same words
            yield from member
        rest = Counter(each.code for each in others if each not in in_full)
        if rest:
            shown_codes = {each.code for each in in_full}
            words = [
                f"{count:,} more {code}" if code in shown_codes else code
                for code, count in sorted(rest.items())
            ]
            yield from wrapped(f"and {', '.join(words)} (--verbose)", columns, indent=6, hanging=2)


def _first_of_each_code(members: Iterable[Finding]) -> list[Finding]:
    """The severe members; of one code only as many as there are places of a kind."""
    seen: Counter[str] = Counter()
    found = []
    for each in members:
        seen[each.code] += 1
        if is_severe(each) and seen[each.code] <= _PLACES_SHOWN:
            found.append(each)
    return found


def kind_head(kind: IncidentKind) -> Line:
    """Code, severity, name and count, in columns that never touch."""
    code, count = kind.headline.code, len(kind.incidents)
    partitions = {
        each.headline.about if each.headline.directory is None else each.headline.directory.identity
        for each in kind.incidents
        if each.headline.topic is not None
    }
    often = ""
    if count > 1:
        often = f": {plural(count, 'place')}"
        often += f" in {plural(len(partitions), 'partition')}" if partitions else ""
    return (
        Span(f"{code}  "),
        Span(f"{SEVERITY_WORDS[kind.severity]:<11}", _STYLES.get(kind.severity, Style.PLAIN)),
        Span(f"  {CATALOGUE[code].title}{often}"),
    )


def _place(each: Finding, row: dict[str, Any]) -> str:
    topic, partition = row["topic"], row["partition"]
    place = "" if topic is None else topic if partition is None else f"{topic}-{partition}"
    if each.directory is None:
        return place
    name = each.directory.replica_name
    return f"{place} on {name}" if place else name


def _partition(row: dict[str, Any]) -> tuple[object, ...]:
    """A key of the partition with its cluster, because two clusters may use the same name."""
    return row["clusterId"], row["topic"], row["partition"]


def where_lines(incident: Incident, columns: int) -> Iterator[Line]:
    """The place of a headline, wrapped only between its parts."""
    headline = incident.headline
    parts = [incident.place, *_in_file(headline)]
    if headline.first_offset is not None and headline.next_offset is not None:
        parts.append(offsets_text(headline.first_offset, headline.next_offset))
    if headline.records_at_risk:
        parts.append(f"{plural(headline.records_at_risk, 'record')} at risk")
    line = ""
    for part in filter(None, parts):
        if line and len(line) + 2 + len(part) > columns:
            yield (Span(line),)
            line = " " * 4
        line += f"  {part}"
    yield (Span(line),)


def _in_file(each: Finding) -> list[str]:
    """File and position, without the folder, which is already shown."""
    if each.file is None:
        return []
    folder, _, name = each.file.rpartition("/")
    is_own = each.directory is not None and folder == _folder(each.directory)
    file = name if is_own else each.file
    return [file] if each.position is None else [file, f"position {each.position:,}"]


def _folder(directory: PartitionDirectory) -> str:
    return shown(directory.path.rpartition("/")[2])


def _member(word: str, each: Finding, above: Sequence[Finding], columns: int) -> Iterator[Line]:
    """Another finding of an incident, without its place if one ``above`` has the same."""
    place = _in_file(each)
    at = f"{' '.join(place)}: " if place and place not in map(_in_file, above) else ""
    text = f"{word} {each.code} {SEVERITY_WORDS[each.severity]}: {at}{_said(each)}"
    return wrapped(text, columns, indent=6, hanging=2)


def _said(each: Finding) -> str:
    """The message without the place at its beginning, which is already printed."""
    message = each.message
    if each.directory is None:
        return message
    directory = each.directory
    root = shown(directory.log_directory.path)
    names = [directory.replica_name, each.file or "", root, f"{_folder(directory)}/"]
    beginning, colon, rest = message.partition(": ")
    if colon and any(name and beginning.startswith(name) for name in names):
        return rest
    return message


def _order(found: tuple[Finding, dict[str, Any]]) -> tuple[Any, ...]:
    each, row = found
    severity, *rest = each.order
    partition = -1 if row["partition"] is None else row["partition"]
    return (severity, row["topic"] or "", partition, *rest)
