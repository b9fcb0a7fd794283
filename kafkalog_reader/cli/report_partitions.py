"""The partitions of a report: each is audited once; the worst are kept, the others counted."""

from __future__ import annotations

import heapq
import zlib
from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.tables.findings import finding_row
from kafkalog_reader.audits.tables.verification import Verification, verification_of
from kafkalog_reader.cli.exit_status import NOT_READ
from kafkalog_reader.cli.fleet import entry_of
from kafkalog_reader.cli.incident import kinds
from kafkalog_reader.io.names import shortened, shown
from kafkalog_reader.report.advice_text import advice_lines, not_known
from kafkalog_reader.report.advised_actions import listed_actions
from kafkalog_reader.report.headline_text import worst_severity
from kafkalog_reader.report.html import CLASSES, UNWRAPPED, element, lines_html, text_html
from kafkalog_reader.report.partition_html import partition_html
from kafkalog_reader.report.partition_json import partition_object
from kafkalog_reader.report.report_data import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.cli.fleet import Entry, Fleet
    from kafkalog_reader.cli.incident import Incident, IncidentKind
    from kafkalog_reader.cli.verify_report import Report

MAX_OBJECTS: Final = 20_000
"""Partitions whose JSON a report may hold."""
MAX_SHOWN: Final = 12_000
"""Partitions in trouble that a report may list."""
MAX_MESSAGE: Final = 20_000
"""Characters of one message or value of a finding."""
_MAX_HISTORIES: Final = 200
"""Partitions whose leadership is shown."""
_NAMED: Final = 5
_MAX_UNKNOWN: Final = 1_000


class ShownPartition(NamedTuple):
    """A partition in trouble as it is listed: HTML of its name, and of all about it."""

    order: tuple[Any, ...]
    severity: str
    summary: str
    packed: bytes

    @property
    def body(self) -> str:
        """All about it; kept compressed until it is written."""
        return zlib.decompress(self.packed).decode()


class WorstPartition(NamedTuple):
    """The partition that the page names first: what to do about it, as texts and HTML."""

    order: tuple[Any, ...]
    name: str
    severity: str
    has_candidates: bool
    actions: tuple[str, ...]
    advice: str


_Item = TypeVar("_Item")


class WorstFirst(Generic[_Item]):
    """Keeps the items with the lowest order, and counts the others."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._heap: list[tuple[_Reversed, int, _Item]] = []
        self.left_out = 0
        self._added = 0

    def add(self, order: tuple[Any, ...], item: _Item) -> None:
        """Add an item; if there are too many, the one with the greatest order is dropped."""
        self._added += 1
        entry = (_Reversed(order), self._added, item)
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)
            self.left_out += 1

    def __iter__(self) -> Iterator[_Item]:
        """The worst first."""
        return (
            item for _, _, item in sorted(self._heap, key=lambda each: (each[0].order, each[1]))
        )

    def __len__(self) -> int:
        return len(self._heap)


class _Reversed(NamedTuple):
    order: tuple[Any, ...]

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        assert isinstance(other, _Reversed)
        return other.order < self.order


class Partitions:
    """What the page says of all partitions; they are added one by one.

    Attributes:
        fleet: the summary and the plan, as ``replica-diff`` prints them.
        report: the findings by cause, as ``verify`` prints them.
        shown: the partitions in trouble.
        objects: (cluster, topic, partition) and compressed JSON of each partition.
        unknown: what is not known, with the number of partitions and the first names.
        histories: leader epochs of partitions in trouble, as rows of the table leader_epochs.
        redacted: JSON without what the report must not name.
        directory_rows: findings of log directories, as rows of the table findings.
        worst: the partition that is worst, apart from the metadata log.
        quorum: the metadata log of each cluster, with its findings.
    """

    def __init__(
        self, fleet: Fleet, report: Report, redacted: Callable[[str], str] = lambda text: text
    ) -> None:
        self.redacted = redacted
        self.fleet = fleet
        self.report = report
        self.shown: WorstFirst[ShownPartition] = WorstFirst(MAX_SHOWN)
        self.objects: WorstFirst[tuple[tuple[str, str, int], bytes]] = WorstFirst(MAX_OBJECTS)
        self.unknown: dict[str, tuple[int, list[str]]] = {}
        self.unknown_left_out = 0
        self.histories: dict[tuple[str | None, str, int], list[dict[str, Any]]] = {}
        self.quorum: list[tuple[str, str]] = []
        self.worst: WorstPartition | None = None
        self.directory_rows: list[dict[str, Any]] = []

    @cached_property
    def incidents(self) -> list[Incident]:
        """All findings, each with its cause; call it when everything was added."""
        return self.report.incidents

    @cached_property
    def kinds(self) -> list[IncidentKind]:
        """The same by kind, the worst first."""
        return kinds(self.incidents)

    @cached_property
    def verdict(self) -> str:
        """The verdict and what was checked, in one sentence."""
        return self.report.verdict(self.incidents)

    def add_directory(self, found: Sequence[Finding]) -> None:
        """Add the findings of a log directory."""
        rows = [(each, finding_row(None, each)) for each in map(_bounded, found)]
        self.directory_rows += [row for _, row in rows]
        self.report.add(Verification(findings=tuple(rows)))
        self.fleet.add_directory(each for each, _ in rows)
        for each, _ in rows:
            if each.code in NOT_READ:
                self.note_unknown(each.placed_message)

    def add(
        self, audit: PartitionAudit, found: Sequence[Finding], unit: PartitionUnit | None
    ) -> None:
        """Add one partition."""
        found = tuple(map(_bounded, found))
        self.fleet.add(audit, found, unit)
        self.report.add(verification_of([(audit, found)]))
        entry = entry_of(audit, found)
        for text in (*_not_read(audit, found), *not_known(audit)):
            self.note_unknown(text, entry.name)
        is_wrong = any(each.severity in "CHM" for each in found)
        is_shown = is_wrong if audit.is_metadata else (
            entry.is_alarming or audit.verdict is not Verdict.CONSISTENT
        )  # fmt: skip
        body = partition_html(audit, found) if is_shown or audit.is_metadata else ""
        if audit.is_metadata:
            self.quorum.append((entry.name, body))
        if is_shown:
            self._show(audit, found, entry, body)
        text = json_text(partition_object(audit, found))
        place = (audit.cluster_id or "", audit.topic or entry.name, audit.partition or 0)
        self.objects.add(entry.order, (place, zlib.compress(text.encode("utf-8", "replace"))))

    def _show(
        self, audit: PartitionAudit, found: Sequence[Finding], entry: Entry, body: str
    ) -> None:
        if not audit.is_metadata and (self.worst is None or entry.order < self.worst.order):
            self.worst = WorstPartition(
                order=entry.order,
                name=entry.name,
                severity=worst_severity(audit, found),
                has_candidates=entry.is_alarming and bool(audit.elections),
                actions=tuple(each.text for each in listed_actions(audit, found)),
                advice=lines_html(advice_lines(audit, UNWRAPPED)),
            )
        summary = (
            element("span", text_html(entry.name), "name")
            + element("span", text_html(entry.word), f"verdict {CLASSES[entry.style]}")
            + (f" {text_html(entry.details)}" if entry.details else "")
        )
        packed = zlib.compress(body.encode("utf-8", "replace"))
        self.shown.add(
            entry.order,
            ShownPartition(entry.order, worst_severity(audit, found), summary, packed),
        )
        if audit.topic is not None and len(self.histories) < _MAX_HISTORIES:
            key = (audit.cluster_id, audit.topic, audit.partition or 0)
            self.histories[key] = list(_epoch_rows(audit))

    def note_unknown(self, text: str, name: str = "") -> None:
        """Something is not known, of one partition or of all."""
        if text not in self.unknown and len(self.unknown) >= _MAX_UNKNOWN:
            self.unknown_left_out += 1
            return
        count, names = self.unknown.setdefault(text, (0, []))
        if name and len(names) < _NAMED:
            names.append(name)
        self.unknown[text] = (count + bool(name), names)


def _not_read(audit: PartitionAudit, found: Sequence[Finding]) -> Iterator[str]:
    """Why copies could not be compared, and what could not be read."""
    if audit.reason and not audit.is_metadata:  # the quorum resolves forks of its own log
        yield f"how the copies compare: {audit.reason}"
    yield from (each.placed_message for each in found if each.code in NOT_READ)


def _bounded(each: Finding) -> Finding:
    """A finding whose texts can be shown; what is left out is said."""
    texts = (each.message, *(value for _, value in each.evidence))
    if max(map(len, texts)) <= MAX_MESSAGE:
        return each
    evidence = tuple((name, shortened(value, MAX_MESSAGE)) for name, value in each.evidence)
    return replace(each, message=shortened(each.message, MAX_MESSAGE), evidence=evidence)


def _epoch_rows(audit: PartitionAudit) -> Iterator[dict[str, Any]]:
    """The leader epochs of the batches, as the table leader_epochs has them."""
    for replica in audit.replicas:
        for interval in replica.history.lineage.intervals:
            yield {
                "source": "batches", "clusterId": audit.cluster_id, "topic": audit.topic,
                "partition": audit.partition, "brokerId": replica.broker_id,
                "leaderEpoch": interval.leader_epoch, "startOffset": interval.first_offset,
                "nextOffset": interval.next_offset,
            }  # fmt: skip


def unknown_items(partitions: Partitions) -> Iterator[str]:
    """What is not known as HTML items: of the most partitions first."""
    by_count: dict[str, list[str]] = defaultdict(list)
    ordered = sorted(partitions.unknown.items(), key=lambda item: -item[1][0])
    for text, (count, names) in ordered:
        if not count:
            by_count[text] = []
            continue
        more = f" and {count - len(names):,} more" if count > len(names) else ""
        by_count[text].append(f"{', '.join(names)}{more}")
    for text, where in by_count.items():
        place = "".join(element("span", text_html(f"{shown(name)}: "), "quiet") for name in where)
        yield f"{place}{text_html(text)}"
