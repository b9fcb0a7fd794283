"""Shows many partitions on one screen: sound ones counted, worst first, a single one in full."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import SEVERITIES
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.integrity.damage import is_severe
from kafkalog_reader.audits.plan.decisions import Decisions
from kafkalog_reader.audits.plan.next_start import is_safe_in_any_order
from kafkalog_reader.audits.recovery.disks import METADATA_LOG
from kafkalog_reader.cli.printable import plural
from kafkalog_reader.cli.screen import screen, write_lines
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.advised_actions import first_acts
from kafkalog_reader.report.headline_text import (
    SOUND_WORD,
    in_short,
    is_alarming,
    style_of,
    word_of,
    worst_severity,
)
from kafkalog_reader.report.partition_text import name_of, partition_lines
from kafkalog_reader.report.plan_text import plan_summary_lines
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit

_SEVERAL: Final = 2
"""Number of partitions that need one procedure for all."""
_SHOWN: Final = 8
_SHOWN_LAGGING: Final = 1
_ALIKE_SHOWN: Final = 3
"""Maximum partitions that are named beside a worse one with the same problems."""
_REPLICA_NOT_READ: Final = codes_with(Role.REPLICA_NOT_READ)
_MIN: Final = (len(SEVERITIES), 0, 0, 0, "", 0)
"""Sorts after every partition."""


class Entry(NamedTuple):
    """A partition that is not sound; sorts worst first.

    ``codes`` are those of its critical and high findings.
    """

    order: tuple[int, int, int, int, str, int]
    name: str
    word: str
    style: Style
    is_alarming: bool
    is_lagging: bool
    details: str
    topic: str | None
    partition: int | None
    codes: tuple[str, ...] = ()

    @property
    def kind(self) -> tuple[str, tuple[str, ...]]:
        """What partitions that are shown together have in common."""
        return self.word, self.codes


class Fleet:
    """Collects what the screen will show: a line for each partition, the only bad one in full.

    Args:
        command: the command that was called, without selected partitions, to be printed.
        verbose: write every partition that is not sound in full, immediately.
        explain: show every round of every election.
        clusters: number of clusters supplied; if several, each partition is shown with its cluster.
        options: options of the audit, to be printed after the command.
        is_selected: whether other partitions were not requested.
        no_plan: why no partition can have a plan; empty if they can.
        quorums: reads the quorums of controllers, once a copy of their log was audited.
    """

    def __init__(
        self,
        *,
        command: Sequence[str],
        verbose: bool,
        options: Sequence[str] = (),
        explain: bool = False,
        clusters: int = 1,
        is_selected: bool = False,
        no_plan: str = "",
        quorums: Callable[[], Sequence[QuorumAudit]] = tuple,
    ) -> None:
        self.partitions = 0
        self.planned: int | None = None
        """Number of partitions; after Ctrl-C, fewer were compared."""
        self._command = command
        self._options = options
        self._is_selected = is_selected
        self._verbose = verbose
        self._explain = explain
        self._clusters = clusters
        self._brokers: set[tuple[str | None, int | str]] = set()
        self._words: Counter[tuple[int, str]] = Counter()
        self._single = 0
        self._metadata = 0
        self._has_metadata = False
        self._unread: Counter[str] = Counter()
        self._first_unread = ""
        self._entries: list[Entry] = []
        self._decisions = Decisions(no_plan=no_plan)
        self._read_quorums = quorums
        self._is_partial = False
        self._worst: tuple[Entry, PartitionAudit, Sequence[Finding]] | None = None

    def add(
        self, audit: PartitionAudit, found: Sequence[Finding], unit: PartitionUnit | None = None
    ) -> None:
        """Add one partition; in verbose mode it is written immediately."""
        self.partitions += 1
        if not audit.is_metadata:  # its replicas are also on controllers, which are not brokers
            self._brokers.update(
                (audit.cluster_id, replica.name if replica.broker_id is None else replica.broker_id)
                for replica in audit.everyone
            )
        self._has_metadata |= audit.is_metadata
        acts = () if audit.is_metadata else first_acts(audit, found)
        self._decisions.add(audit, found, unit, acts=acts)
        is_sound_metadata = audit.is_metadata and not any(map(is_severe, found))
        entry = entry_of(audit, found)
        if self._clusters > 1:
            entry = entry._replace(name=f"{entry.name} ({_cluster(audit)})")
        if is_sound_metadata:  # whatever its verdict: the quorum repairs it
            entry = entry._replace(order=_MIN)
        unread = {
            each.code for each in found if each.code in _REPLICA_NOT_READ and each.severity in "CHM"
        }
        self._unread.update(unread)
        self._first_unread = self._first_unread or (entry.name if unread else "")
        if self._worst is None or entry.order < self._worst[0].order:
            self._worst = (entry, audit, found)
        if is_sound_metadata:
            self._metadata += 1
            return
        is_single = entry.word == SOUND_WORD
        self._single += is_single
        if not audit.is_metadata:
            self._is_partial |= audit.compared_from is not None
        self._words[audit.verdict.badness, entry.word] += not is_single
        is_shown = entry.is_alarming or audit.verdict is not Verdict.CONSISTENT
        if self._verbose and self.planned != 1 and (is_shown or unread):
            self._write_full(audit, found)
            write_lines([()])
        if is_shown:
            self._entries.append(entry)

    def add_directory(self, found: Iterable[Finding]) -> None:
        """Take the findings of one log directory, on which the plan depends, too."""
        self._decisions.add_directory(found)

    @cached_property
    def _quorums(self) -> Sequence[QuorumAudit]:
        return self._read_quorums() if self._has_metadata else ()

    @cached_property
    def plan(self) -> Plan | None:
        """The plan of all partitions, once they were added; None if not all were read whole."""
        is_partial = self._is_partial or self.partitions < (self.planned or 0)
        if self._clusters > 1 or is_partial or not len(self._decisions):
            return None
        _, *paths = self._command
        return self._decisions.plan(
            paths=paths,
            options=self._options,
            is_selected=self._is_selected,
            quorums=self._quorums,
        )

    @property
    def is_start_safe(self) -> bool:
        """Whether the brokers may be started in any order, as far as that was asked."""
        return self.plan is None or is_safe_in_any_order(self.plan)

    def write(self) -> None:
        """Write the screen: the only partition in trouble in full, or one line for each."""
        if self._worst is None:
            return
        entry, audit, found = self._worst
        if self.planned == 1:
            self._write_full(audit, found)
            is_needed = bool(audit.elections) and entry.is_alarming
            write_lines(self.plan_lines(screen().columns, is_needed=is_needed))
            return
        write_lines(self.summary_lines(screen().columns))
        if self._verbose:
            return
        worse = [each for each in self._entries if not each.is_lagging]
        lagging = [each for each in self._entries if each.is_lagging]
        columns, _ = screen()
        if worse != [entry] and self._entries != [entry]:
            write_lines(_entry_lines(worse, _SHOWN, "in trouble", columns))
            write_lines(_entry_lines(lagging, _SHOWN_LAGGING, "lagging", columns))
            if worse:
                write_lines(self._next_command(entry))
            write_lines(self.plan_lines(columns, is_needed=bool(worse)))
            return
        if lagging != [entry]:
            write_lines(_entry_lines(lagging, _SHOWN_LAGGING, "lagging", columns))
        write_lines([()])
        self._write_full(audit, found)
        write_lines(self.plan_lines(columns, is_needed=bool(audit.elections) and entry.is_alarming))

    def plan_lines(self, columns: int, *, is_needed: bool) -> Iterator[Line]:
        """The first lines of the plan, and its command: brokers start with all their partitions.

        Args:
            columns: of the screen.
            is_needed: whether the worst partition is in trouble and some copy can lead it.
        """
        yield from (summary := list(self._plan_summary(columns, is_needed=is_needed)))
        if summary or is_needed:
            command = ["kafkalog", "plan", *self._command[1:], *self._options]
            if not summary:
                yield ()
            yield (Span("  In which order to start the brokers, and what each step loses:"),)
            yield (Span(f"      {' '.join(map(shell_word, command))}"),)

    def _plan_summary(self, columns: int, *, is_needed: bool) -> Iterator[Line]:
        """The first lines of the plan; none for one broker, or with no work.

        None either if not every partition was read whole, because the plan reads them. The order
        matters for copies that merely lag, too; a partition in trouble shows its own elections.
        """
        plan = self.plan
        if plan is None or len(self._decisions) < (_SEVERAL if is_needed else 1):
            return
        if plan.is_one_broker or not plan.has_work:
            return
        yield ()
        together = "The plan for all partitions together:"
        head = (
            together
            if is_needed
            else "If these brokers are stopped, the order of their starts matters:"
        )
        yield (Span(f"  {head}", Style.STRONG),)
        for line in plan_summary_lines(plan, columns - 4):
            yield (Span("    "), *line)

    def summary_lines(self, columns: int) -> Iterator[Line]:
        """How many partitions have which verdict, and replicas that were not read."""
        together: Counter[str] = Counter()
        worst_first = sorted(self._words.items(), key=lambda item: (-item[0][0], item[0][1]))
        for (_, word), count in worst_first:  # verdicts that share a word, once
            together[word.lower()] += count
        counts = [f"{count:,} {word}" for word, count in together.items() if count]
        if self._single:
            counts.append(f"{self._single:,} sound with one copy supplied")
        if any(each.is_unsafe for each in self._quorums):
            counts.append("cluster metadata at risk (kafkalog quorum)")
        elif any(each.is_short_of_voters for each in self._quorums):
            counts.append("too few controllers to elect a leader (kafkalog quorum)")
        elif self._metadata:
            counts.append(f"{self._metadata:,} sound ({METADATA_LOG})")
        if not any(each.is_alarming for each in self._entries) and not self.is_start_safe:
            counts.append("not safe to start in any order")
        done = plural(self.partitions, "partition")
        if self.planned is not None and self.partitions < self.planned:
            done = f"{self.partitions:,} of {plural(self.planned, 'partition')}"
        brokers = f", {plural(len(self._brokers), 'broker')}" if self._brokers else ""
        yield from wrapped(f"{done}{brokers}: {', '.join(counts)}", columns)
        if self._unread:
            where = ", ".join(
                f"{code} in {plural(self._unread[code], 'partition')}"
                for code in sorted(self._unread)
            )
            yield from wrapped(
                f"some replicas were expected but not read: {where}, "
                f"first {self._first_unread} (--verbose)",
                columns,
            )

    def command_text(self, *more: str) -> str:
        """The command with its options, and more words."""
        return " ".join(map(shell_word, [*self._command, *self._options, *more]))

    def _next_command(self, worst: Entry) -> Iterator[Line]:
        if worst.topic is None:
            return
        choice = ["--topic", worst.topic, "--partition", str(worst.partition)]
        yield ()
        yield (Span("  The worst of them in full:"),)
        yield (Span(f"      {self.command_text(*choice)}"),)

    def _write_full(self, audit: PartitionAudit, found: Sequence[Finding]) -> None:
        columns, ascii_only = screen()
        if self._clusters > 1:
            write_lines([(Span(_cluster(audit)),)])
        write_lines(
            partition_lines(
                audit,
                found,
                columns=columns,
                ascii_only=ascii_only,
                verbose=self._verbose,
                explain=self._explain,
            )
        )


def _cluster(audit: PartitionAudit) -> str:
    return f"cluster {shown(audit.cluster_id or 'not named')}"


def entry_of(audit: PartitionAudit, found: Sequence[Finding]) -> Entry:
    """The line of a partition; the worst comes first."""
    known = total = 0
    if audit.elections:
        lost = audit.elections[0].lost
        known, total = lost.known, lost.total
    name = name_of(audit)
    return Entry(
        order=(
            SEVERITIES.index(worst_severity(audit, found)),
            -audit.verdict.badness,
            -known,
            -total,
            audit.topic or name,
            audit.partition or 0,
        ),
        name=name,
        word=word_of(audit, found),
        style=style_of(audit, found),
        is_alarming=is_alarming(audit, found),
        is_lagging=audit.verdict is Verdict.LAGGING and not is_alarming(audit, found),
        details=in_short(audit, found),
        topic=audit.topic,
        partition=audit.partition,
        codes=tuple(sorted({each.code for each in found if is_severe(each)})),
    )


def _entry_lines(entries: Sequence[Entry], limit: int, noun: str, columns: int) -> Iterator[Line]:
    """Each partition; of too many the worst of each kind, and those like it by name."""
    alike: dict[object, list[Entry]] = {}
    for number, entry in enumerate(sorted(entries)):
        alike.setdefault(number if len(entries) <= limit else entry.kind, []).append(entry)
    kinds = [*alike.values()]
    listed = [of_kind[0] for of_kind in kinds[:limit]]
    width = max((len(entry.name) for entry in listed), default=0)
    words = max((len(entry.word) for entry in listed), default=0)
    for entry, *others in kinds[:limit]:
        yield from wrapped(
            f"{' ' * (words - len(entry.word))}  {entry.details}",
            columns,
            indent=2,
            beginning=(Span(f"{entry.name.ljust(width)}  "), Span(entry.word, entry.style)),
        )
        if others:
            yield from wrapped(_alike_text(others), columns, indent=4)
    if left := sum(map(len, kinds[limit:])):
        yield (Span(f"  ... {left:,} more {noun} (--verbose)"),)


def _alike_text(others: Sequence[Entry]) -> str:
    names = ", ".join(each.name for each in others[:_ALIKE_SHOWN])
    more = ", ... (--verbose)" if len(others) > _ALIKE_SHOWN else ""
    return f"and {len(others):,} more like it: {names}{more}"
