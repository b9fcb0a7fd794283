"""Shows one partition: the verdict first, then the picture, the ranges and the choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import SEVERITY_WORDS
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.io.names import TEXT_FILES, shown
from kafkalog_reader.report.action_text import action_lines
from kafkalog_reader.report.advice_text import advice_lines, not_known_lines
from kafkalog_reader.report.election_text import election_lines, never_in_sync, torn_lines
from kafkalog_reader.report.explain_text import explain_lines
from kafkalog_reader.report.headline_text import (
    details_of,
    follows,
    is_alarming,
    style_of,
    word_of,
)
from kafkalog_reader.report.lanes import lane_lines, lanes_of
from kafkalog_reader.report.membership_text import membership_lines
from kafkalog_reader.report.ranges_text import range_lines
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import Line, Span, Style, wrapped
from kafkalog_reader.report.start_text import start_lines, start_trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_PICTURED: Final = codes_with(Role.PICTURED)
_SHOWN_FINDINGS: Final = 6
OF_QUORUM: Final = (
    "The quorum elects the leader of the metadata log: only its files are checked here. kafkalog "
    "quorum, with the same paths, shows who can be elected."
)


def partition_lines(
    audit: PartitionAudit,
    found: Sequence[Finding],
    *,
    columns: int = 80,
    ascii_only: bool = False,
    verbose: bool = False,
    explain: bool = False,
) -> Iterator[Line]:
    """The screen of one partition."""
    yield from _headline(audit, found, columns)
    is_decided = audit.verdict is not Verdict.UNDECIDABLE
    if is_decided:
        yield ()
        yield from lane_lines(lanes_of(audit), columns=columns, ascii_only=ascii_only)
        yield from membership_lines(audit, columns)
    yield from range_lines(audit, columns)
    yield from trouble_lines(found, columns, verbose=verbose)
    if audit.is_metadata:
        yield ()
        yield from wrapped(OF_QUORUM, columns, indent=2, hanging=0)
    elif is_decided and has_a_choice(audit, found):
        yield from start_lines(audit, columns)
        yield from election_lines(audit, columns)
        yield from not_known_lines(audit, columns)
        yield from advice_lines(audit, columns)
    elif is_decided:
        yield from torn_lines(audit, columns)
    yield from action_lines(audit, found, columns, verbose=verbose)
    if explain:
        yield from explain_lines(audit, columns)
    if verbose and found:
        yield ()
        yield (Span("  All findings:"),)
        for each in found:
            text = f"{each.severity} {each.code} {each.name}: {each.message}"
            yield from wrapped(shown(text), columns, indent=4)


def has_a_choice(audit: PartitionAudit, found: Sequence[Finding]) -> bool:
    """Whether it matters which copy leads: something differs, or is wrong."""
    return bool(
        audit.verdict is not Verdict.CONSISTENT
        or is_alarming(audit, found)
        or start_trouble(audit)
        or never_in_sync(audit)
    )


def name_of(audit: PartitionAudit) -> str:
    """``orders-17``; for a single segment file, its folder."""
    if audit.topic is None:
        return shown(audit.replicas[0].directory.path)
    return shown(f"{audit.topic}-{audit.partition}")


def _headline(audit: PartitionAudit, found: Sequence[Finding], columns: int) -> Iterator[Line]:
    details = shown(details_of(audit, found))
    between = "" if not details or details.startswith(("at ", "on ")) else ":"
    name = Span(f"{name_of(audit)}: ", Style.STRONG)
    yield from wrapped(
        f"{between} {details}" if details else "",
        columns,
        beginning=(name, Span(word_of(audit, found), style_of(audit, found))),
    )


def trouble_lines(found: Sequence[Finding], columns: int, *, verbose: bool) -> Iterator[Line]:
    """Findings that the picture does not show, worst first, each code once, and a command.

    A consequence of another finding is left out, unless it is worse or critical.
    """
    by_code: dict[tuple[str, str], list[Finding]] = {}
    for each in found:
        if each.severity in "CHM" and each.code not in _PICTURED and not follows(each, found):
            by_code.setdefault((each.severity, each.code), []).append(each)
    if not by_code:
        return
    yield ()
    limit = len(by_code) if verbose else _SHOWN_FINDINGS
    for (severity, code), alike in list(by_code.items())[:limit]:
        style = Style.LOST if severity in "CH" else Style.ATTENTION
        beginning = (Span(code, style), Span(f" {SEVERITY_WORDS[severity]} "))
        more = f" ({len(alike) - 1:,} more like it)" if len(alike) > 1 else ""
        text = f"{shown(alike[0].placed_message)}{more}"
        yield from wrapped(text, columns, indent=2, beginning=beginning)
    if len(by_code) > limit:
        count = sum(len(alike) for alike in list(by_code.values())[limit:])
        yield (Span(f"  ... {count:,} more (--verbose)"),)
    for each in (each for alike in by_code.values() for each in alike):
        if each.file is not None and each.position is not None and each.directory is not None:
            name = each.file.rsplit("/", 1)[-1]
            path = shell_word(f"{each.directory.path}/{name}")
            place = "" if name in TEXT_FILES else f" --position {each.position}"
            yield (Span(f"      kafkalog inspect {path}{place}"),)
            return
