"""Findings that belong together: a cause with all that follows from it, judged by the worst."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    HIGH_WATERMARK_BEYOND_END,
    REPLICA_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.catalogue.rule import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding


@dataclass(frozen=True, slots=True)
class Incident:
    """A cause and what follows from it.

    Attributes:
        place: what the cause is about: ``orders-17 on broker 2``.
        cause: the finding that explains the others.
        members: all findings, the cause among them, the worst first; of equally bad ones the one
            that says that committed records are gone, then the cause.
    """

    place: str
    cause: Finding
    members: tuple[Finding, ...]

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
        """Of the finding that names most; findings of one incident are about the same records."""
        return max(each.records_at_risk or 0 for each in self.members)


@dataclass(frozen=True, slots=True)
class Kind:
    """Incidents with the same headline, brought about by the same kind of cause.

    Attributes:
        incidents: most records at risk first, then in the order in which they were found.
    """

    incidents: tuple[Incident, ...]

    @property
    def headline(self) -> Finding:
        """Of the incident that loses most."""
        return self.incidents[0].headline

    @property
    def severity(self) -> str:
        """Of each of its incidents."""
        return self.headline.severity

    @property
    def order(self) -> tuple[int, bool, int, str]:
        """Worst first; what is missing comes behind what is there and damaged."""
        return (
            SEVERITIES.index(self.severity),
            self.headline.code == REPLICA_DIRECTORY_MISSING,
            -sum(each.records_at_risk for each in self.incidents),
            self.headline.code,
        )


def incidents(found: Sequence[tuple[Finding, str]]) -> list[Incident]:
    """Put each finding to the cause behind it, through causes of causes.

    Args:
        found: findings, each with its place; a cause that is not among them stands for itself.
    """
    by_name: dict[tuple[object, str], int] = {}
    for number, (each, _) in enumerate(found):
        name = f"{each.code} {each.file} {each.position}"
        by_name.setdefault((each.directory, name), number)
    members: dict[int, list[Finding]] = defaultdict(list)
    for number, (each, _) in enumerate(found):
        members[_root(number, found, by_name)].append(each)
    return [
        Incident(found[root][1], found[root][0], tuple(_worst_first(found[root][0], together)))
        for root, together in members.items()
    ]


def _root(
    number: int, found: Sequence[tuple[Finding, str]], by_name: dict[tuple[object, str], int]
) -> int:
    passed = {number}
    while (caused_by := found[number][0].caused_by) is not None:
        behind = by_name.get((found[number][0].directory, caused_by))
        if behind is None or behind in passed:
            break
        passed.add(behind)
        number = behind
    return number


def _worst_first(cause: Finding, together: Iterable[Finding]) -> list[Finding]:
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


def kinds(found: Iterable[Incident]) -> list[Kind]:
    """Put incidents of one kind together: worst kinds first, in each the greatest loss first."""
    by_kind: dict[tuple[str, str, str], list[Incident]] = defaultdict(list)
    for each in found:
        by_kind[each.severity, each.headline.code, each.cause.code].append(each)
    return sorted(
        (
            Kind(tuple(sorted(same, key=lambda each: -each.records_at_risk)))
            for same in by_kind.values()
        ),
        key=lambda kind: kind.order,
    )
