"""Many partitions on one screen: sound ones counted, worst first, one in full where it is alone."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from kafkalog_reader.audits.verdict import Verdict
from kafkalog_reader.cli.printable import for_stdout, plural, stdout_is_unicode
from kafkalog_reader.report.partition_text import (
    WORDS,
    headline_details,
    name_of,
    partition_lines,
)
from kafkalog_reader.report.spans import Line, Span, Style, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.finding import Finding
    from kafkalog_reader.audits.partition_audit import PartitionAudit

_METADATA: Final = "__cluster_metadata"
_SHOWN: Final = 10
_SHOWN_LAGGING: Final = 1
_NARROWEST: Final = 60
_WIDEST: Final = 120


class _Entry(NamedTuple):
    badness: int
    name: str
    verdict: Verdict
    details: str
    topic: str | None
    partition: int | None


class Fleet:
    """Gathers what the screen will show: a line a partition, and one audit in full."""

    def __init__(self, *, paths: Sequence[str], verbose: bool) -> None:
        self.partitions = 0
        self._paths = paths
        self._verbose = verbose
        self._brokers: set[tuple[str | None, str]] = set()
        self._verdicts: Counter[Verdict] = Counter()
        self._single = 0
        self._entries: list[_Entry] = []
        self._full: tuple[PartitionAudit, Sequence[Finding]] | None = None

    def add(self, audit: PartitionAudit, found: Sequence[Finding]) -> None:
        """Take one partition; in verbose mode it is written at once."""
        self.partitions += 1
        if audit.topic != _METADATA:  # its replicas are also on controllers, which are no brokers
            self._brokers.update((audit.cluster_id, replica.name) for replica in audit.replicas)
        is_single = len(audit.replicas) == 1 and audit.verdict is Verdict.CONSISTENT
        self._single += is_single
        self._verdicts[audit.verdict] += not is_single
        if self._full is None or audit.verdict.badness > self._full[0].verdict.badness:
            self._full = (audit, found)
        if audit.verdict is Verdict.CONSISTENT:
            return
        if self._verbose:
            self._write_full(audit, found)
            self._write([()])
        self._entries.append(
            _Entry(
                audit.verdict.badness,
                name_of(audit),
                audit.verdict,
                headline_details(audit, found),
                audit.topic,
                audit.partition,
            )
        )

    def write(self) -> None:
        """Write the screen: the picture of the only partition in trouble, or one line each."""
        if self._full is None:
            return
        in_trouble = [entry for entry in self._entries if entry.verdict is not Verdict.LAGGING]
        if self.partitions > 1:
            self._write([self._summary()])
        if self._verbose and self._entries:
            return
        if self.partitions == 1 or len(in_trouble) == 1:
            if self.partitions > 1:
                self._write([()])
            audit, found = self._full
            self._write_full(audit, found)
            if self.partitions > 1:
                self._write(self._lines([e for e in self._entries if e not in in_trouble]))
        else:
            self._write(self._lines(self._entries))
            if in_trouble:
                self._write(self._next_command(max(in_trouble)))

    def _summary(self) -> Line:
        counts = [
            f"{count:,} {WORDS[verdict].lower()}"
            for verdict in Verdict
            if (count := self._verdicts[verdict])
        ]
        if self._single:
            counts.append(f"{self._single:,} with one copy supplied, sound")
        brokers = f", {plural(len(self._brokers), 'broker')}" if self._brokers else ""
        return (Span(f"{plural(self.partitions, 'partition')}{brokers}: {', '.join(counts)}"),)

    def _lines(self, entries: Sequence[_Entry]) -> Iterator[Line]:
        ordered = sorted(entries, key=lambda entry: (-entry.badness, entry.name))
        worse = [entry for entry in ordered if entry.verdict is not Verdict.LAGGING]
        lagging = [entry for entry in ordered if entry.verdict is Verdict.LAGGING]
        width = max((len(entry.name) for entry in ordered), default=0)
        for shown, group, noun in ((_SHOWN, worse, "in trouble"),
                                   (_SHOWN_LAGGING, lagging, "lagging")):  # fmt: skip
            for entry in group[:shown]:
                style = Style.ATTENTION if entry in lagging else Style.LOST
                yield (
                    Span(f"  {entry.name.ljust(width)}  "),
                    Span(WORDS[entry.verdict], style),
                    Span(f"  {entry.details}"),
                )
            if len(group) > shown:
                yield (Span(f"  ... {len(group) - shown:,} more {noun} (--verbose)"),)

    def _next_command(self, worst: _Entry) -> Iterator[Line]:
        if worst.topic is None:
            return
        paths = " ".join(map(shlex.quote, self._paths))
        yield ()
        yield (Span("  The worst of them in full:"),)
        yield (
            Span(
                f"      replica-diff {paths} --topic {shlex.quote(worst.topic)} "
                f"--partition {worst.partition}"
            ),
        )

    def _write_full(self, audit: PartitionAudit, found: Sequence[Finding]) -> None:
        columns, ascii_only = _screen()
        self._write(
            partition_lines(
                audit, found, columns=columns, ascii_only=ascii_only, verbose=self._verbose
            )
        )

    def _write(self, lines: Sequence[Line] | Iterator[Line]) -> None:
        in_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        for line in lines:
            click.echo(_coloured(line) if in_colour else for_stdout(plain(line)), color=in_colour)


def _coloured(line: Line) -> str:
    """The line with the terminal's own colours."""
    colours = {
        Style.STRONG: {"bold": True},
        Style.LOST: {"fg": "red"},
        Style.ATTENTION: {"fg": "yellow"},
        Style.SOUND: {"fg": "green"},
        Style.EPOCH: {"fg": "blue"},
        Style.OTHER_EPOCH: {"fg": "bright_blue"},
    }
    return "".join(
        click.style(for_stdout(span.text), **colours.get(span.style, {}))  # type: ignore[arg-type]
        for span in line
    )


class _Screen(NamedTuple):
    columns: int
    ascii_only: bool


def _screen() -> _Screen:
    columns = 80
    if sys.stdout.isatty():
        columns = max(_NARROWEST, min(_WIDEST, os.get_terminal_size(sys.stdout.fileno()).columns))
    return _Screen(columns=columns, ascii_only=not stdout_is_unicode())
