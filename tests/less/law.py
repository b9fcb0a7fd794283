"""The law: less evidence makes answers weaker, never wrong, and never more reassuring.

What is said of less evidence must not be contradicted by what is said of all of it. Each kind of
statement has its relation here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.less.parts import Part
    from tests.less.said import Said

NOTHING_LOST: Final = re.compile(r"(?<![a-z] )(Nothing|No whole record) is lost|no election loses")
NOTHING_CUT: Final = re.compile(r"removes nothing|no whole record|No start")
OTHERS_LAST: Final = "a broker that was not supplied starts last, once these lead"
NONE_COMMITTED: Final = re.compile(r"none committed(?! unless)")
SEVERE: Final = "CH"
BETWEEN_COPIES: Final = "KL-5"
"""Codes from here on compare copies, or tell what follows from all of them together."""


def broken(full: Said, less: Said, taken: Sequence[Part]) -> Iterator[str]:
    """Yield how statements about less evidence contradict those about all of it.

    Args:
        full: said of all evidence.
        less: said without some parts of it.
        taken: these parts.
    """
    if any(each.kind.is_read_by_starts for each in taken):
        return
    loses_copies = any(each.kind.is_replica for each in taken)
    yield from _of_elections(full, less, loses_copies=loses_copies)
    yield from _of_plan(full, less, loses_copies=loses_copies)
    yield from _of_status(full, less, taken, loses_copies=loses_copies)


def _of_elections(full: Said, less: Said, *, loses_copies: bool) -> Iterator[str]:
    for copy, said in less.elections.items():
        true = full.elections.get(copy)
        if true is None:
            continue
        if said.committed > true.committed:
            yield f"{copy} loses {said.committed} committed records, not {true.committed}"
        if not loses_copies and said.most_committed < true.most_committed:
            most = f"{said.most_committed} committed records at most"
            yield f"{copy} loses {most}, not {true.most_committed}"


def _of_plan(full: Said, less: Said, *, loses_copies: bool) -> Iterator[str]:
    line = headline(less.texts["plan"])
    of_leaders = [full.elections[each] for each in less.leaders if each in full.elections]
    lost = sum(each.records for each in of_leaders)
    if NOTHING_LOST.search(line) and lost and not (loses_copies and OTHERS_LAST in line):
        yield f"plan: {line!r}: {lost} records are"
    cut = sum(full.cut.get(each, 0) for each in less.leaders)
    if NOTHING_CUT.search(line) and cut:
        yield f"plan: {line!r}: {cut} records are"
    committed = sum(each.most_committed for each in of_leaders)
    if NONE_COMMITTED.search(line) and committed:
        yield f"plan: {line!r}: {committed} records may be committed"


def _of_status(
    full: Said, less: Said, taken: Sequence[Part], *, loses_copies: bool
) -> Iterator[str]:
    gone = [str(path) for part in taken for path in part.paths]
    worst = sorted(
        (each.code, each.severity, *each.copy)
        for each in full.found
        if each.severity in SEVERE
        and not any((each.log_directory or "").startswith(path) for path in gone)
        and (each.code < BETWEEN_COPIES or not loses_copies)
    )
    for name, status in less.statuses.items():
        if status == 0 and full.statuses[name] != 0 and (worst or not loses_copies):
            said, before = headline(less.texts[name]), headline(full.texts[name])
            yield f"{name} ends with 0: {said!r}; with all: {before!r}: {worst}"


def headline(text: str) -> str:
    """The first paragraph in one line."""
    return " ".join(text.split("\n\n")[0].split())
