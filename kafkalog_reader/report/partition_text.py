"""A partition for a tired reader: the verdict first, then the picture, the ranges, the choices."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.candidates import ElectionKind
from kafkalog_reader.audits.partition_audit import joined_names
from kafkalog_reader.audits.replica_findings import records_text, side_of
from kafkalog_reader.audits.verdict import Verdict
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.lanes import lane_lines, lanes_of
from kafkalog_reader.report.spans import Line, Span, Style, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.branch import Branch
    from kafkalog_reader.audits.candidates import Election
    from kafkalog_reader.audits.committed import CommitCount
    from kafkalog_reader.audits.finding import Finding
    from kafkalog_reader.audits.partition_audit import PartitionAudit

WORDS: Final = {
    Verdict.CONSISTENT: "identical",
    Verdict.LAGGING: "lagging",
    Verdict.PENDING_TRUNCATION: "PENDING TRUNCATION",
    Verdict.FORKED: "FORKED",
    Verdict.DAMAGED_RECOVERABLE: "DAMAGED",
    Verdict.DAMAGED_UNRECOVERABLE: "DAMAGED, UNRECOVERABLE",
    Verdict.UNDECIDABLE: "UNDECIDABLE",
}
_STYLES: Final = {
    Verdict.CONSISTENT: Style.SOUND,
    Verdict.LAGGING: Style.ATTENTION,
    Verdict.PENDING_TRUNCATION: Style.ATTENTION,
}
_KINDS: Final = {
    ElectionKind.CLEAN: Span("clean", Style.SOUND),
    ElectionKind.UNDETERMINED: Span("undetermined", Style.ATTENTION),
    ElectionKind.UNCLEAN: Span("UNCLEAN: do not", Style.LOST),
}
_SHOWN_FINDINGS: Final = 8


def partition_lines(
    audit: PartitionAudit,
    found: Sequence[Finding],
    *,
    columns: int = 80,
    ascii_only: bool = False,
    verbose: bool = False,
) -> Iterator[Line]:
    """Everything that one screen can say about a partition."""
    yield from _headline(audit, found, columns)
    if audit.verdict is not Verdict.UNDECIDABLE and audit.histories:
        yield ()
        yield from lane_lines(lanes_of(audit), columns=columns, ascii_only=ascii_only)
    yield from _ranges(audit, columns)
    yield from _damage_lines(found, verbose=verbose)
    if audit.verdict not in (Verdict.CONSISTENT, Verdict.UNDECIDABLE):
        yield from _election_lines(audit, columns)
        yield from _advice(audit)
    if verbose:
        yield ()
        for each in found:
            text = f"{each.severity} {each.code} {each.name}: {each.message}"
            yield from _wrapped(text, columns, 2)


def name_of(audit: PartitionAudit) -> str:
    """``orders-17``; a lone segment file by its folder."""
    if audit.topic is None:
        return shown(audit.replicas[0].directory.path)
    return shown(f"{audit.topic}-{audit.partition}")


def headline_details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """What follows the verdict's word."""
    if audit.verdict is Verdict.UNDECIDABLE:
        return audit.reason
    if audit.verdict is Verdict.FORKED:
        offset = audit.fork_offset
        conflict = next((each for each in found if each.code == "KL-505"), None)
        if conflict is not None:
            return f"at offset {offset:,} · {conflict.message}"
        epochs = sorted(
            {
                epoch
                for history in audit.histories
                if (epoch := history.lineage.epoch_at(offset or 0)) is not None
            }
        )
        listed = " and ".join(map(str, epochs))
        return (
            f"at offset {offset:,} · {len(audit.replicas)} replicas, leader epochs {listed} "
            "write different records there"
        )
    if audit.verdict in (Verdict.DAMAGED_RECOVERABLE, Verdict.DAMAGED_UNRECOVERABLE):
        worst = next((each for each in found if each.severity in "CH"), None)
        return "" if worst is None else worst.message
    if audit.verdict is Verdict.PENDING_TRUNCATION:
        return "; ".join(each.message for each in found if each.code == "KL-504")
    if audit.verdict is Verdict.LAGGING:
        return "; ".join(each.message for each in found if each.code == "KL-502")
    return f"{len(audit.replicas)} replicas" if len(audit.replicas) > 1 else "one copy supplied"


def _headline(audit: PartitionAudit, found: Sequence[Finding], columns: int) -> Iterator[Line]:
    word = WORDS[audit.verdict]
    if audit.verdict is Verdict.CONSISTENT and len(audit.replicas) == 1:
        word = "sound"
    details = headline_details(audit, found)
    style = _STYLES.get(audit.verdict, Style.LOST)
    between = "" if not details else " " if audit.verdict is Verdict.FORKED else ": "
    name = f"{name_of(audit)}: "
    # wrapped as one text; the name and the word never break, they only colour its beginning
    text = f"{name}{word}{between}{details}"
    first, *rest = textwrap.wrap(
        text, columns, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    ) or [text]
    if first.startswith(name + word):
        yield (
            Span(name, Style.STRONG),
            Span(word, style),
            Span(first[len(name) + len(word) :]),
        )
    else:
        yield (Span(first),)
    for line in rest:
        yield (Span(line),)


def _wrapped(text: str, columns: int, indent: int) -> Iterator[Line]:
    """Lines of words; a path longer than a line stays whole, to be copied."""
    blank = " " * indent
    for line in textwrap.wrap(
        text,
        columns,
        initial_indent=blank,
        subsequent_indent=blank + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield (Span(line),)


def _ranges(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """The sides of a fork, or the records that only the longer logs have."""
    if audit.comparison is None or not audit.elections:
        return
    everyone = tuple(range(len(audit.replicas)))
    sides = [child for fork in audit.comparison.forks for child in fork.children]
    if not sides:
        sides = [
            branch
            for branch in audit.comparison.branches()
            if branch.members != everyone and branch.batches
        ]
    rows = [_range_cells(audit, side) for side in sides]
    if rows:
        yield ()
    widths = [max(len(row[column]) for row in rows) for column in range(4)] if rows else []
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        yield (Span(f"  {'   '.join(cells)}"),)
        yield from _wrapped(row[4], columns, 6)


def _range_cells(audit: PartitionAudit, side: Branch) -> tuple[str, str, str, str, str]:
    records, end, count = side_of(audit, side)
    epochs = sorted({piece.leader_epoch for part in side.walk() for piece in part.pieces})
    return (
        f"only on {audit.names(side.members)}",
        f"offsets {side.first_offset:,}–{end - 1:,}",
        f"{records_text(records)}",
        f"epoch {', '.join(map(str, epochs))}",
        _committed_words(count),
    )


def _committed_words(count: CommitCount) -> str:
    if count.known and count.known == count.total:
        return "committed: consumers may have read them"
    parts = []
    if count.known:
        parts.append(f"{count.known:,} committed")
    if count.possible:
        parts.append(f"{count.possible:,} possibly committed")
    if count.only_if_unclean:
        parts.append(f"{count.only_if_unclean:,} committed only if an election was unclean")
    if not count.known:
        parts.insert(0, "none known committed (an acks=1 writer may still have been told stored)")
    return "; ".join(parts)


def _damage_lines(found: Sequence[Finding], *, verbose: bool) -> Iterator[Line]:
    damage = [each for each in found if each.position is not None]
    if not damage:
        return
    yield ()
    limit = len(damage) if verbose else _SHOWN_FINDINGS
    for each in damage[:limit]:
        style = Style.LOST if each.severity in "CH" else Style.ATTENTION
        yield (Span(f"  {each.code} ", style), Span(each.message))
    if len(damage) > limit:
        yield (Span(f"  ... {len(damage) - limit:,} more (--verbose)"),)


def _election_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    if len(audit.elections) < 2:
        return
    rows = [("rank", "elect", "then these are cut", "lost for ever", "election")]
    rows += [_election_cells(audit, election) for election in audit.elections]
    cuts = [row[2] for row in rows]
    kinds = ["", *(_KINDS[election.kind].text for election in audit.elections)]
    widest = sum(max(len(row[column]) for row in rows) + 2 for column in range(4))
    is_wide = 2 + widest + max(map(len, kinds)) > columns
    if is_wide:  # many followers: what they cut gets lines of its own
        rows = [(row[0], row[1], "", row[3], row[4]) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    yield ()
    for number, row in enumerate(rows):
        cells = [row[0].rjust(widths[0])]
        cells += [row[n].ljust(widths[n]) for n in (1, 2, 3) if widths[n]]
        last = Span(row[4]) if number == 0 else _KINDS[audit.elections[number - 1].kind]
        yield (Span(f"  {'  '.join(cells)}  "), last)
        if is_wide and number:
            yield from _wrapped(f"cut: {cuts[number]}", columns, 10)
    for election in audit.elections:
        yield from _silent_lines(audit, election, columns)


def _election_cells(audit: PartitionAudit, election: Election) -> tuple[str, str, str, str, str]:
    cut = [
        f"{_short(audit.replicas[outcome.follower].name)}: "
        f"{outcome.log_end_offset:,} → {outcome.truncation_offset:,}"
        for outcome in election.followers
        if outcome.is_cut
    ]
    lost = election.lost
    words = "nothing"
    if lost.total:
        noun = f"{records_text(lost.total)}"
        possibly = f", {lost.possible:,} possibly" if lost.possible else ""
        words = f"{noun} ({lost.known:,} committed{possibly})"
    name = audit.replicas[election.candidate].name
    return (str(election.rank), name, ", ".join(cut) or "none", words, election.kind.value)


def _short(name: str) -> str:
    return name.removeprefix("broker ")


def _silent_lines(audit: PartitionAudit, election: Election, columns: int) -> Iterator[Line]:
    for outcome in election.followers:
        if outcome.silent_divergence is not None:
            leader = audit.replicas[election.candidate].name
            follower = audit.replicas[outcome.follower].name
            text = (
                f"with {leader} leading, {follower} keeps other content from offset "
                f"{outcome.silent_divergence:,} on, and no broker will notice"
            )
            for line in _wrapped(text, columns, 2):
                yield (Span(plain(line), Style.LOST),)


def _advice(audit: PartitionAudit) -> Iterator[Line]:
    if not audit.elections:
        return
    best = audit.elections[0]
    longest = max(
        range(len(audit.histories)), key=lambda index: audit.histories[index].log_end_offset
    )
    worst = audit.elections[-1]
    ends = [history.log_end_offset for history in audit.histories]
    is_longest = ends.count(max(ends)) == 1 and worst.candidate == longest
    if is_longest and worst.lost.known and not best.lost.known:
        text = (
            f"  {audit.replicas[longest].name.capitalize()} has the longest log and is the worst "
            "choice: the others hold"
        )
        yield ()
        yield (Span(text),)
        yield (Span("  committed records that it never saw."),)
    losers = sorted({member for lost in best.lost_ranges for member in lost.members})
    if losers:
        yield ()
        first = min(lost.first_offset for lost in best.lost_ranges)
        names = joined_names([audit.replicas[index].name for index in losers])
        start = (
            "is started again, save what only it has"
            if len(losers) == 1
            else ("are started again, save what only they have")
        )
        yield (Span(f"  Before {names} {start}:"),)
        for index in losers:
            yield (Span(f"      {export_command(audit, index, first)}"),)


def export_command(audit: PartitionAudit, index: int, first_offset: int) -> str:
    """The command that saves the records of one replica from an offset on."""
    directory = audit.replicas[index].directory
    root = shlex.quote(shown(directory.log_directory.path))
    label = directory.log_directory.broker_id
    file = f"{audit.topic}-{audit.partition}-{'copy' if label is None else f'broker-{label}'}"
    return (
        f"kafkalog table records {root} --topic {shlex.quote(shown(audit.topic or ''))} "
        f"--partition {audit.partition} --from-offset {first_offset} --format parquet "
        f"--output {shlex.quote(shown(file))}.parquet"
    )
