"""Groups findings: a cause with all its consequences, rated by the worst."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.audits.catalogue.actions import LOOK_FOR_A_COPY
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    HIGH_WATERMARK_BEYOND_END,
    REPLICA_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.catalogue.replica_rules import FORKED, LAGGING_REPLICA
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import SEVERITIES
from kafkalog_reader.audits.tables.findings import OF_ONE_COPY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding

_DAMAGE: Final = codes_with(Role.DAMAGE)
_LOST_ENDS: Final = codes_with(Role.LOST_END)
_OF_DAMAGE: Final = codes_with(Role.SUMS_UP_DAMAGE)


@dataclass(frozen=True, slots=True)
class Incident:
    """A cause and its consequences.

    Attributes:
        place: what the cause is about: ``orders-17 on broker 2``.
        cause: the finding that explains the others.
        members: all findings including the cause, the worst first; of equally bad ones, first the
            one that reports lost committed records, then the cause.
        topic: None for a log directory.
    """

    place: str
    cause: Finding
    members: tuple[Finding, ...]
    topic: str | None = None

    @property
    def headline(self) -> Finding:
        """The worst of its findings."""
        return self.members[0]

    @property
    def severity(self) -> str:
        """The worst of its findings' severities."""
        return self.headline.severity

    @property
    def records_at_risk(self) -> int:
        """The maximum of its findings, which are all about the same records."""
        return max(each.records_at_risk or 0 for each in self.members)


@dataclass(frozen=True, slots=True)
class IncidentKind:
    """Incidents with the same headline and the same kind of cause.

    Attributes:
        incidents: most records at risk first, then in the order in which they were found.
    """

    incidents: tuple[Incident, ...]

    @property
    def headline(self) -> Finding:
        """The headline of the incident that loses most."""
        return self.incidents[0].headline

    @property
    def severity(self) -> str:
        """The severity of each of its incidents."""
        return self.headline.severity

    @property
    def order(self) -> tuple[int, bool, bool, int, str]:
        """A sort key: worst first, what no copy holds before the rest, missing folders last."""
        return (
            SEVERITIES.index(self.severity),
            LOOK_FOR_A_COPY not in self.headline.actions,
            self.headline.code == REPLICA_DIRECTORY_MISSING,
            -sum(each.records_at_risk for each in self.incidents),
            self.headline.code,
        )


class Found(NamedTuple):
    """A finding, what it is about as text, and its partition."""

    finding: Finding
    place: str
    partition: object
    topic: str | None = None


def incidents(found: Sequence[Found]) -> list[Incident]:
    """Assign each finding to its root cause.

    Findings between the copies of one partition have one cause, which is the fork if there is one;
    findings about whether damage can be repaired belong to the damage, and a copy that lost its end
    lags for that reason.

    Args:
        found: worst first; a finding whose cause is not among them is its own cause.
    """
    causes = _Causes(found)
    members: dict[int, list[Finding]] = defaultdict(list)
    for number, each in enumerate(found):
        members[causes.root(number)].append(each.finding)
    return [
        Incident(
            place=found[root].place,
            cause=found[root].finding,
            members=tuple(_worst_first(together)),
            topic=found[root].topic,
        )
        for root, together in (
            (root, [found[root].finding, *(e for e in every if e is not found[root].finding)])
            for root, every in members.items()
        )
    ]


class _Causes:
    """Finds the root of each finding, by number."""

    def __init__(self, found: Sequence[Found]) -> None:
        self._found = found
        self._by_name: dict[tuple[object, str], int] = {}
        self._damage: dict[object, int] = {}
        self._between_copies: dict[object, int] = {}
        self._lost_ends: dict[object, int] = {}
        for number, (each, _, partition, _) in enumerate(found):
            name = f"{each.code} {each.file} {each.position}"
            self._by_name.setdefault((each.directory, name), number)
            if each.code in _LOST_ENDS:
                self._lost_ends.setdefault(each.directory, number)
            if each.code in _DAMAGE:
                self._damage.setdefault(partition, number)
            elif each.code == FORKED:
                self._between_copies[partition] = number
            elif each.code not in OF_ONE_COPY:
                self._between_copies.setdefault(partition, number)
        forked = {each.partition for each in found if each.finding.code == FORKED}
        for number, (each, _, partition, _) in reversed([*enumerate(found)]):
            if self._lost_end(each) is not None and partition not in forked:
                self._between_copies[partition] = number  # what the lost end explains

    def root(self, number: int) -> int:
        """The index of the root cause; its own index if nothing explains the finding."""
        passed = {number}
        while (cause := self._cause_of(number)) is not None and cause not in passed:
            passed.add(cause)
            number = cause
        return number

    def _cause_of(self, number: int) -> int | None:
        each, _, partition, _ = self._found[number]
        named = self._by_name.get((each.directory, each.caused_by or ""))
        if named is not None:
            return named
        if each.code in _OF_DAMAGE and partition in self._damage:
            return self._damage[partition]
        if (lost_end := self._lost_end(each)) is not None:
            return lost_end
        return None if each.code in OF_ONE_COPY else self._between_copies.get(partition)

    def _lost_end(self, each: Finding) -> int | None:
        """What shows that a copy which lags has lost its end."""
        return self._lost_ends.get(each.directory) if each.code == LAGGING_REPLICA else None


def _worst_first(together: Sequence[Finding]) -> list[Finding]:
    """The findings, worst first; the first of ``together`` is the cause."""
    cause = together[0]
    return sorted(
        together,
        key=lambda each: (
            SEVERITIES.index(each.severity),
            each.code != HIGH_WATERMARK_BEYOND_END,
            each is not cause,
            -(each.records_at_risk or 0),
            each.order,
        ),
    )


def kinds(found: Iterable[Incident]) -> list[IncidentKind]:
    """Group incidents by kind: worst kinds first, in each the greatest loss first."""
    by_kind: dict[tuple[str, str, str], list[Incident]] = defaultdict(list)
    for each in found:
        by_kind[each.severity, each.headline.code, each.cause.code].append(each)
    return sorted(
        (
            IncidentKind(tuple(sorted(same, key=lambda each: -each.records_at_risk)))
            for same in by_kind.values()
        ),
        key=lambda kind: kind.order,
    )
