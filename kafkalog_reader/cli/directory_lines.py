"""What ``replica-diff`` shows about log directories: their findings concern every replica."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITIES, SEVERITY_WORDS
from kafkalog_reader.audits.integrity.damage import is_severe
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.action_text import to_do_lines
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.integrity.finding import Finding

_REPAIRED: Final = 3
"""Maximum places for which commands are shown; ``kafkalog verify --verbose`` has all."""


def directory_lines(found: Iterable[Finding], columns: int) -> Iterator[Line]:
    """Yield one entry for each critical or high code, with its first place, and a blank line."""
    by_code: dict[tuple[int, str], list[Finding]] = defaultdict(list)
    for each in found:
        if is_severe(each):
            by_code[SEVERITIES.index(each.severity), each.code].append(each)
    if by_code:
        yield (Span("log directories: ", Style.STRONG), Span("NOT SOUND", Style.LOST))
    for (severity, code), same in sorted(by_code.items()):
        first = same[0]
        place = first.directory
        name = "" if place is None else f"{place.replica_name}: "
        if place is not None and place.topic is not None:
            name = f"{shown(place.topic)}-{place.partition} on {name}"
        more = f" ({len(same):,} places, this is the first)" if len(same) > 1 else ""
        yield from wrapped(
            f"{code} {SEVERITY_WORDS[SEVERITIES[severity]]} {CATALOGUE[code].title}: "
            f"{name}{shown(first.message)}{more}",
            columns,
            indent=2,
            hanging=2,
        )
        repairs = [repair for each in same[:_REPAIRED] for repair in each.repairs]
        yield from to_do_lines(first.actions, repairs, columns, indent=4)
    if by_code:
        yield ()
