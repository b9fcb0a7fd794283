"""A partition for a tired reader: the verdict first, then the picture, the ranges, the choices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.replica_rules import (
    LAGGING_REPLICA,
    SAME_EPOCH_CONFLICT,
    SUPERSEDED_TAIL,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.action_text import action_lines
from kafkalog_reader.report.advice_text import advice_lines, not_known_lines
from kafkalog_reader.report.election_text import election_lines, every_choice_loses, never_in_sync
from kafkalog_reader.report.explain_text import explain_lines
from kafkalog_reader.report.lanes import lane_lines, lanes_of
from kafkalog_reader.report.ranges_text import range_lines
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import Line, Span, Style, listed, wrapped
from kafkalog_reader.report.start_text import start_lines, start_trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

WORDS: Final = {
    Verdict.CONSISTENT: "identical",
    Verdict.LAGGING: "lagging",
    Verdict.PENDING_TRUNCATION: "PENDING TRUNCATION",
    Verdict.FORKED: "FORKED",
    Verdict.DAMAGED_RECOVERABLE: "DAMAGED",
    Verdict.DAMAGED_UNRECOVERABLE: "DAMAGED, NO INTACT COPY SUPPLIED",
    Verdict.UNDECIDABLE: "UNDECIDABLE",
}
QUICK_WORD: Final = "alike at the end"
"""Of a quick look that found no difference."""
STYLES: Final = {
    Verdict.CONSISTENT: Style.SOUND,
    Verdict.LAGGING: Style.ATTENTION,
    Verdict.PENDING_TRUNCATION: Style.ATTENTION,
    Verdict.FORKED: Style.LOST,
    Verdict.DAMAGED_RECOVERABLE: Style.LOST,
    Verdict.DAMAGED_UNRECOVERABLE: Style.LOST,
    Verdict.UNDECIDABLE: Style.LOST,
}
_DAMAGED: Final = frozenset({Verdict.DAMAGED_RECOVERABLE, Verdict.DAMAGED_UNRECOVERABLE})
_PICTURED: Final = codes_with(Role.PICTURED)
_SHOWN_FINDINGS: Final = 6


def partition_lines(
    audit: PartitionAudit,
    found: Sequence[Finding],
    *,
    columns: int = 80,
    ascii_only: bool = False,
    verbose: bool = False,
    explain: bool = False,
) -> Iterator[Line]:
    """Everything that one screen can say about a partition."""
    yield from _headline(audit, found, columns)
    is_decided = audit.verdict is not Verdict.UNDECIDABLE
    if is_decided and audit.histories:
        yield ()
        yield from lane_lines(lanes_of(audit), columns=columns, ascii_only=ascii_only)
    yield from range_lines(audit, columns)
    yield from _trouble_lines(found, columns, verbose=verbose)
    if audit.is_metadata:
        yield ()
        yield from wrapped(
            "The metadata log follows the controllers' quorum: only its files are judged here.",
            columns,
            indent=2,
            hanging=0,
        )
    elif is_decided and (
        audit.verdict is not Verdict.CONSISTENT or start_trouble(audit) or never_in_sync(audit)
    ):
        yield from start_lines(audit, columns)
        yield from election_lines(audit, columns)
        yield from not_known_lines(audit, columns)
        yield from advice_lines(audit, columns)
    if not audit.is_metadata:
        yield from action_lines(audit, found, columns, verbose=verbose)
    if explain:
        yield from explain_lines(audit, columns)
    if verbose and found:
        yield ()
        yield (Span("  All findings:"),)
        for each in found:
            text = f"{each.severity} {each.code} {each.name}: {each.message}"
            yield from wrapped(shown(text), columns, indent=4)


def name_of(audit: PartitionAudit) -> str:
    """``orders-17``; a lone segment file by its folder."""
    if audit.topic is None:
        return shown(audit.replicas[0].directory.path)
    return shown(f"{audit.topic}-{audit.partition}")


def word_of(audit: PartitionAudit) -> str:
    """The verdict for people; a quick look does not say identical."""
    if audit.verdict is Verdict.CONSISTENT and audit.compared_from is not None:
        return QUICK_WORD
    return WORDS[audit.verdict]


def in_short(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """What one line among many partitions says behind the verdict's word."""
    if audit.verdict is Verdict.FORKED:
        return f"at offset {audit.fork_offset:,}; {_choice(audit)}"
    if audit.verdict in _DAMAGED:
        worst = next((each for each in found if each.severity in "CH"), None)
        return "" if worst is None else shown(worst.message)
    if audit.verdict is Verdict.LAGGING:
        behind = [
            each for each in found if each.code == LAGGING_REPLICA and each.directory is not None
        ]
        return shown(", ".join(map(_behind, behind)))
    return shown(_details(audit, found))


def _behind(lagging: Finding) -> str:
    assert lagging.directory is not None
    records = int(dict(lagging.evidence)["records"])
    return f"{lagging.directory.replica_name} is {records_text(records)} behind"


def _choice(audit: PartitionAudit) -> str:
    if every_choice_loses(audit):
        return "every candidate loses committed records"
    best = audit.elections[0]
    name = audit.replicas[best.candidate].name
    lost = f"{records_text(best.lost.total)} lost" if best.lost.total else "nothing lost"
    possibly = f", {best.lost.possible:,} possibly committed" if best.lost.possible else ""
    return shown(f"elect {name}: {best.kind.value}, {lost}{possibly}")


def _headline(audit: PartitionAudit, found: Sequence[Finding], columns: int) -> Iterator[Line]:
    word = word_of(audit)
    if audit.verdict is Verdict.CONSISTENT and len(audit.replicas) == 1:
        word = "sound"
    details = shown(_details(audit, found))
    between = "" if not details or details.startswith(("at ", "on ")) else ":"
    name = Span(f"{name_of(audit)}: ", Style.STRONG)
    yield from wrapped(
        f"{between} {details}" if details else "",
        columns,
        beginning=(name, Span(word, STYLES[audit.verdict])),
    )


def _details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """What follows the verdict's word above the picture."""
    if audit.set_aside:
        return _set_aside_details(audit, found)
    match audit.verdict:
        case Verdict.UNDECIDABLE:
            return audit.reason
        case Verdict.FORKED:
            return _fork_details(audit, found)
        case Verdict.DAMAGED_RECOVERABLE:
            return f"{_damaged_on(audit, found)}every damaged or missing record is on another copy"
        case Verdict.DAMAGED_UNRECOVERABLE:
            if len(audit.replicas) == 1:
                return f"{_damaged_on(audit, found)}whether another replica is intact is not known"
            return f"{_damaged_on(audit, found)}no copy supplied has all of it intact"
        case Verdict.PENDING_TRUNCATION:
            return _messages(found, SUPERSEDED_TAIL)
        case Verdict.LAGGING:
            return _messages(found, LAGGING_REPLICA)
        case Verdict.CONSISTENT:
            count = len(audit.replicas)
            if trouble := start_trouble(audit):
                return "; ".join([f"{count} replicas", *(what for what, _ in trouble)])
            if audit.compared_from is not None and count > 1:
                return f"{count} replicas, below offset {audit.compared_from:,} not compared"
            return f"{count} replicas" if count > 1 else "one copy supplied, nothing to compare"


def _set_aside_details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """Who is left out, and how the others stand to each other."""
    assert audit.compared_verdict is not None
    out = audit.names(range(len(audit.replicas), len(audit.everyone)))
    others = replace(audit, verdict=audit.compared_verdict, set_aside=())
    details = _details(others, found)
    return (
        f"{out} cannot be compared, {audit.names(range(len(audit.replicas)))}: "
        f"{word_of(others)}{f', {details}' if details else ''}"
    )


def _messages(found: Sequence[Finding], code: str) -> str:
    return "; ".join(each.message for each in found if each.code == code)


def _fork_details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    offset = audit.fork_offset
    assert offset is not None
    if any(each.code == SAME_EPOCH_CONFLICT for each in found):
        return f"at offset {offset:,} · the copies differ there under one leader epoch"
    known = {history.lineage.epoch_at(offset) for history in audit.histories}
    epochs = [str(epoch) for epoch in sorted(e for e in known if e is not None)]
    if len(epochs) <= 1:  # one name for both sides tells nothing
        return f"at offset {offset:,} · the copies hold different records there"
    return f"at offset {offset:,} · leader epochs {listed(epochs)} write different records there"


def _damaged_on(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    directories = {
        each.directory for each in found if each.directory is not None and each.severity in "CH"
    }
    members = [i for i, r in enumerate(audit.everyone) if r.directory in directories]
    return f"on {audit.names(members)} · " if members else ""


def _trouble_lines(found: Sequence[Finding], columns: int, *, verbose: bool) -> Iterator[Line]:
    """What the picture does not show, worst first, and the command that shows the first of it."""
    trouble = [
        each
        for each in found
        if (each.severity in "CHM" and each.code not in _PICTURED) or each.position is not None
    ]
    if not trouble:
        return
    yield ()
    limit = len(trouble) if verbose else _SHOWN_FINDINGS
    for each in trouble[:limit]:
        style = Style.LOST if each.severity in "CH" else Style.ATTENTION
        beginning = (Span(each.code, style),)
        yield from wrapped(f" {shown(each.message)}", columns, indent=2, beginning=beginning)
    if len(trouble) > limit:
        yield (Span(f"  ... {len(trouble) - limit:,} more (--verbose)"),)
    for each in trouble:
        if each.file is not None and each.position is not None and each.directory is not None:
            name = each.file.rsplit("/", 1)[-1]
            path = shell_word(f"{each.directory.path}/{name}")
            yield (Span(f"      kafkalog inspect {path} --position {each.position}"),)
            return
