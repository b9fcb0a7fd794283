"""One cause, one headline: which finding stands behind which."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding

_DAMAGE: Final = frozenset(
    {"KL-004", "KL-006", "KL-101", "KL-102", "KL-103", "KL-104", "KL-105", "KL-106",
     "KL-107", "KL-108", "KL-110", "KL-111", "KL-112", "KL-118", "KL-401", "KL-402"}
)  # fmt: skip
_LOGS: Final = (".log", ".log.swap")
_FOLLOWS_IN_SEGMENT: Final = frozenset(
    {"KL-107", "KL-110", "KL-111", "KL-112", "KL-114", "KL-118", "KL-204", "KL-205", "KL-206",
     "KL-211", "KL-212", "KL-214", "KL-215"}
)  # fmt: skip
_FOLLOWS_IN_REPLICA: Final = frozenset(
    {"KL-304", "KL-305", "KL-308", "KL-316", "KL-401", "KL-402", "KL-403", "KL-404", "KL-406",
     "KL-407", "KL-409", "KL-410", "KL-415"}
)  # fmt: skip
_MISLEADS: Final = frozenset({"KL-203", "KL-204", "KL-205", "KL-206"})
"""Of the last offset index: the broker starts there when it looks for the log's end (KL-415)."""
_LEFT_BEHIND: Final = frozenset({"KL-209", "KL-315"})
_LOST_ENDS: Final = ("KL-305", "KL-304")
"""Of records gone from the end of a log nothing but these rows may tell; flushed ones first."""


def with_causes(found: Iterable[Finding], last_segment: str = "") -> list[Finding]:
    """The same findings of one replica, consequences naming the finding behind them.

    Within a segment the first damaged place explains what its batches and indexes say behind it;
    in the replica the first of all explains what checkpoints and borders between segments say. So
    does an end that is lost, and what the last segment's indexes say of it too.

    Args:
        found: of one replica.
        last_segment: a file of it, as findings name it.
    """
    every = list(found)
    roots: dict[str, Finding] = {}
    wrong_times: dict[str, Finding] = {}
    by_segment: dict[str, list[Finding]] = defaultdict(list)
    for each in every:
        if each.file is not None:
            by_segment[_segment(each.file)].append(each)
    for segment, inside in by_segment.items():
        damage = [e for e in inside if e.code in _DAMAGE and (e.file or "").endswith(_LOGS)]
        if damage:
            roots[segment] = min(damage, key=_place)
        times = [e for e in inside if e.code == "KL-113"]
        if times:
            wrong_times[segment] = min(times, key=_place)
    closed = next((each for each in every if _is_closed_folder(each)), None)
    first = closed or min(roots.values(), key=lambda e: (e.file or "", _place(e)), default=None)
    if first is None:
        lost = [e for code in _LOST_ENDS for e in every if e.code == code]
        first = lost[0] if lost else None
        if first is not None and last_segment:
            roots[_segment(last_segment)] = first
    misleading = None
    for each in by_segment[_segment(last_segment)]:
        if each.code in _MISLEADS:
            misleading = each
    roots = wrong_times | roots
    missing = [each for each in every if each.code == "KL-404"]
    swaps = [each for each in every if each.code == "KL-405" and each.severity == "C"]
    if closed is not None:
        every = [_of_closed_folder(each, closed) for each in every]
    return [
        _explained(_of_swap(_of_missing_segment(each, missing), swaps), roots, first, misleading)
        for each in every
    ]


def _is_closed_folder(each: Finding) -> bool:
    """Whether the partition directory itself could not be listed: its log end is not known."""
    return (
        each.code == "KL-004"
        and each.directory is not None
        and each.file == shown(os.path.basename(each.directory.path))  # noqa: PTH119
    )


def _of_closed_folder(each: Finding, closed: Finding) -> Finding:
    """Files that cannot be read in a folder that cannot be listed are no news."""
    if each.code != "KL-004" or each is closed:
        return each
    return replace(each, caused_by=f"{closed.code} {closed.file} {closed.position}")


def _of_swap(each: Finding, swaps: Sequence[Finding]) -> Finding:
    """Damage in a file that will take the place of sound ones: the swap is the headline."""
    swap = next((s for s in swaps if s.file == each.file and s is not each), None)
    if swap is None or each.code not in _DAMAGE:
        return each
    return replace(each, caused_by=f"{swap.code} {swap.file} {swap.position}")


def _of_missing_segment(each: Finding, missing: Sequence[Finding]) -> Finding:
    """What a lost segment left behind is what tells of it."""
    if each.code not in _LEFT_BEHIND or each.file is None:
        return each
    name = each.file.rpartition("/")[2][:20]
    for gap in missing:
        first, following = gap.first_offset or 0, gap.next_offset or 0
        if name.isdigit() and first <= int(name) < following:
            return replace(each, caused_by=f"{gap.code} {gap.file} {gap.position}")
    return each


def _explained(
    each: Finding,
    roots: dict[str, Finding],
    first: Finding | None,
    misleading: Finding | None,
) -> Finding:
    if each.caused_by is not None:
        return each
    cause = None
    if each.code in _FOLLOWS_IN_SEGMENT and each.file is not None:
        cause = roots.get(_segment(each.file))
    elif each.code in _FOLLOWS_IN_REPLICA:
        cause = first or (misleading if each.code == "KL-415" else None)
    if cause is None or cause is each:
        return each
    return replace(each, caused_by=f"{cause.code} {cause.file} {cause.position}")


def _segment(file: str) -> str:
    folder, _, name = file.rpartition("/")
    return f"{folder}/{name.split('.')[0]}"


def _place(each: Finding) -> tuple[int, str]:
    return (-1 if each.position is None else each.position, each.code)
