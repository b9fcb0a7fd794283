"""What ``kafkalog verify`` shows: the verdict, then what is wrong, worst first."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITIES
from kafkalog_reader.cli.printable import grouped, plural, size
from kafkalog_reader.cli.screen import screen, write_lines
from kafkalog_reader.report.spans import Line, Span, Style, offsets_text, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.tables.verification import Verification

SEVERITY_WORDS: Final = {
    "C": "CRITICAL", "H": "HIGH", "M": "MEDIUM", "L": "LOW", "I": "INFORMATION",
}  # fmt: skip
_STYLES: Final = {"C": Style.LOST, "H": Style.LOST, "M": Style.ATTENTION}
ACTIONS: Final = {
    "A1": "nothing to do",
    "A2": "take a second copy, or copy from a stopped broker, and run again",
    "A3": "remove the index file while the broker is stopped: it is rebuilt from the log",
    "A4": "do not start this broker yet: starting may cut the log",
    "A5": "elect another replica and let this one copy: see replica-diff",
    "A6": "move the partition directory aside (never delete it) and let the broker copy it again",
    "A7": "export the records from another replica before any start or election",
    "A8": "restore leader-epoch-checkpoint from the batches while the broker is stopped",
    "A9": "check disk, controller and memory of this host",
    "A15": "report a software defect with this evidence",
    "A16": "forbid unclean election for this topic until the choice is made",
    "A17": "supply the missing replica, metadata log or configuration",
    "A18": "raise the named limit and run again",
    "A19": "adjust the topic's retention or timestamp settings",
}
EVERY_CRC: Final = "every CRC checked"
_SHOWN: Final = 20
_LONG: Final = 5
"""Seconds that are worth telling."""


class Report:
    """Gathers findings; the same file's damage, seen from many partitions, counts once.

    Args:
        started: by the monotonic clock.
        verbose: show everything, consequences and information too.
        looked_at: what was done to the logs, for the first line.

    Attributes:
        done: partitions and log directories looked at.
    """

    def __init__(self, *, started: float, verbose: bool, looked_at: str = EVERY_CRC) -> None:
        self.done = self.partitions = 0
        self.severities: set[str] = set()
        self.codes: set[str] = set()
        self._replicas = self._batches = self._bytes = 0
        self._found: list[tuple[Finding, dict[str, Any]]] = []
        self._places: set[tuple[object, ...]] = set()
        self._started = started
        self._verbose = verbose
        self._looked_at = looked_at

    @property
    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of all findings: worst first, then by topic, partition, broker and place."""
        return (row for _, row in sorted(self._found, key=_order))

    def add(self, verification: Verification) -> None:
        """Take one unit."""
        self.done += 1
        self.partitions += verification.replicas > 0
        self._replicas += verification.replicas
        self._batches += verification.batches
        self._bytes += verification.size_in_bytes
        for each, row in verification.findings:
            place = (each.code, row["logDirectory"], each.file, each.position, each.message)
            if place not in self._places:
                self._places.add(place)
                self.severities.add(each.severity)
                self.codes.add(each.code)
                self._found.append((each, row))

    def write(self) -> None:
        """Write the screen."""
        write_lines(self._lines(screen().columns))

    def _lines(self, columns: int) -> Iterator[Line]:
        headlines = [(e, row) for e, row in self._found if e.caused_by is None]
        yield from wrapped(self._verdict([each for each, _ in headlines]), columns)
        chosen = self._found if self._verbose else [
            (each, row) for each, row in headlines if each.severity != "I"
        ]  # fmt: skip
        ordered = sorted(chosen, key=_order)
        shown = ordered if self._verbose else ordered[:_SHOWN]
        for each, row in shown:
            yield ()
            yield from self._finding_lines(each, row, columns)
        if len(ordered) > len(shown):
            yield ()
            yield (
                Span(f"... {len(ordered) - len(shown):,} more (--verbose); all of them by code:"),
            )
            yield from _by_code(each for each, _ in ordered)

    def _verdict(self, headlines: list[Finding]) -> str:
        counts = Counter(each.severity for each in headlines if each.severity != "I")
        words = [f"{counts[s]:,} {SEVERITY_WORDS[s].lower()}" for s in "CHML" if counts[s]]
        verdict = "damaged" if counts["C"] or counts["H"] else "sound"
        found = ", ".join(words) or "nothing wrong"
        seconds = time.monotonic() - self._started
        took = f", {seconds:,.0f} s" if seconds >= _LONG else ""
        copies = plural(self._replicas, "copy").replace("copys", "copies")
        return (
            f"{verdict}: {found} in {plural(self.partitions, 'partition')} "
            f"({copies}, {size(self._bytes)}, {grouped(self._batches)} "
            f"batch{'' if self._batches == 1 else 'es'}, {self._looked_at}{took})"
        )

    def _finding_lines(self, each: Finding, row: dict[str, Any], columns: int) -> Iterator[Line]:
        word = SEVERITY_WORDS[each.severity]
        place = row["topic"] if row["partition"] is None else f"{row['topic']}-{row['partition']}"
        if each.directory is not None:
            place = f"{place} on {each.directory.replica_name}" if place else (
                each.directory.replica_name
            )  # fmt: skip
        parts = [str(place), each.file or ""]
        if each.position is not None:
            parts.append(f"position {each.position:,}")
        if each.first_offset is not None and each.next_offset is not None:
            parts.append(offsets_text(each.first_offset, each.next_offset))
        head = (
            Span(f"{each.code}  "),
            Span(word, _STYLES.get(each.severity, Style.PLAIN)),
        )
        yield from wrapped(
            "  " + "  ".join(filter(None, parts)), columns, hanging=8, beginning=head
        )
        sure = "" if each.confidence == "proven" else f" ({each.confidence})"
        yield from wrapped(f"{each.message}{sure}", columns, indent=8, hanging=0)
        if each.caused_by is not None:
            yield from wrapped(f"caused by {each.caused_by}", columns, indent=8, hanging=0)
        for follower in self._consequences(each):
            yield from wrapped(follower, columns, indent=8, hanging=2)
        for action in each.actions[:2]:
            yield from wrapped(f"→ {ACTIONS[action]}", columns, indent=8, hanging=2)

    def _consequences(self, cause: Finding) -> Iterator[str]:
        if self._verbose:
            return
        key = f"{cause.code} {cause.file} {cause.position}"
        for each, _ in self._found:
            if each.caused_by == key and each.directory == cause.directory:
                yield f"{each.code}: {each.message}"


def _by_code(found: Iterable[Finding]) -> Iterator[Line]:
    """One line a code: how many, in how many partitions."""
    counts: Counter[tuple[int, str]] = Counter()
    partitions = defaultdict(set)
    for each in found:
        key = (SEVERITIES.index(each.severity), each.code)
        counts[key] += 1
        if each.directory is not None:
            partitions[key].add(each.directory.identity)
    for key in sorted(counts):
        severity, code = key
        word = SEVERITY_WORDS[SEVERITIES[severity]]
        where = f" in {plural(len(partitions[key]), 'partition')}" if partitions[key] else ""
        yield (
            Span(f"  {code}  "),
            Span(f"{word:<11}", _STYLES.get(SEVERITIES[severity], Style.PLAIN)),
            Span(f"  {counts[key]:>9,}{where}  {CATALOGUE[code].name}"),
        )


def _order(found: tuple[Finding, dict[str, Any]]) -> tuple[Any, ...]:
    each, row = found
    severity, *rest = each.order
    partition = -1 if row["partition"] is None else row["partition"]
    return (severity, row["topic"] or "", partition, *rest)
