"""Says what consumer groups read again or skip under each candidate leader."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.partition.group_outcomes import (
    GroupEnding,
    GroupOutcome,
    groups_affected,
)
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.partition.group_outcomes import Continuation
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_NAMED: Final = 3
"""Groups named in a line."""
_SHOWN: Final = 4
"""Lines of one partition."""


def group_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """The groups that lose their place under a leader, the most records first."""
    lines: dict[str, list[Candidate]] = defaultdict(list)
    left_out = 0
    for election in audit.elections:
        alike: dict[tuple[object, ...], list[GroupOutcome]] = defaultdict(list)
        for each in groups_affected(audit, election):
            alike[each.ending, each.earliest, each.latest].append(each)
        for outcomes in sorted(alike.values(), key=_weight):
            lines[_text(outcomes)].append(election.candidate)
    for number, (text, leaders) in enumerate(lines.items()):
        if number == _SHOWN:
            left_out = len(lines) - _SHOWN
            break
        beginning = (Span("GROUPS:", Style.ATTENTION),)
        said = f" if {joined_names(leaders)} {_lead(leaders)}, {text}"
        yield from wrapped(said, columns, indent=2, beginning=beginning)
    if left_out:
        yield (Span(f"  ... {left_out:,} more: see the table group_elections"),)


def _weight(outcomes: Sequence[GroupOutcome]) -> tuple[int, ...]:
    one = outcomes[0]
    records = [
        count
        for each in (one.latest, one.earliest)
        for count in (each.records_skipped, each.records_reread)
    ]
    return -max(records), -len(outcomes)


def _lead(leaders: Sequence[Candidate]) -> str:
    return "leads" if len(leaders) == 1 else "lead"


def _text(outcomes: Sequence[GroupOutcome]) -> str:
    """What one group does, or several that do the same."""
    one = outcomes[0]
    offsets = sorted({each.commit.offset for each in outcomes})
    place = f"at {offsets[0]:,}" if len(offsets) == 1 else f"at {offsets[0]:,} to {offsets[-1]:,}"
    names = [shown(each.commit.group) or '""' for each in outcomes]
    if len(names) == 1:
        who, verb = f"group {names[0]} ({place})", ("is", "goes", "notices")
    else:
        named = ", ".join(names[:_NAMED])
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        who, verb = f"groups {named}{more} ({place})", ("are", "go", "notice")
    counts = _counts(one.latest, len(names))
    if one.ending is GroupEnding.RESET:
        said = (
            f"{who} {verb[0]} reset: {counts} (auto.offset.reset=latest, the default) or "
            f"{_counts(one.earliest, len(names))} (earliest)"
        )
    elif one.ending is GroupEnding.UNNOTICED:
        said = f"{who} {verb[2]} nothing: {counts}"
    else:
        said = f"{who} {verb[1]} on at {one.latest.next_offset:,} by the leader epoch: {counts}"
    is_sound = one.latest == one.earliest and one.latest.next_offset == one.safe_offset
    return said if is_sound else f"{said}; offset {one.safe_offset:,} avoids that"


def _counts(continuation: Continuation, groups: int) -> str:
    """``skips 3 records``; every group does the same."""
    skip, reread = ("skips", "re-reads") if groups == 1 else ("skip", "re-read")
    said = [
        f"{verb} {records_text(count)}"
        for verb, count in (
            (reread, continuation.records_reread),
            (skip, continuation.records_skipped),
        )
        if count
    ]
    return " and ".join(said) or f"{skip} nothing"
