"""Finds which finding causes which others, so that one cause has one headline."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import REBUILD_INDEX
from kafkalog_reader.audits.catalogue.batch_rules import (
    TIMESTAMP_IMPLAUSIBLE,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    RECOVERY_POINT_BEYOND_END,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    UNREADABLE_FILE,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    END_WILL_BE_MISREAD,
    INTERRUPTED_SWAP,
    SEGMENT_MISSING,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.refused_file import NOT_DAMAGED
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding

_DAMAGE: Final = codes_with(Role.DAMAGE)
_LOGS: Final = (".log", ".log.swap")
_FOLLOWS_IN_SEGMENT: Final = codes_with(Role.FOLLOWS_IN_SEGMENT)
_FOLLOWS_IN_REPLICA: Final = codes_with(Role.FOLLOWS_IN_REPLICA)
_MISLEADS: Final = codes_with(Role.MISLEADS_LOG_END)
_LEFT_BEHIND: Final = codes_with(Role.LEFT_BEHIND)
_LOST_ENDS: Final = codes_with(Role.LOST_END)


def with_causes(found: Iterable[Finding], last_segment: str = "") -> list[Finding]:
    """The findings of one replica, each consequence with the finding that causes it.

    Within a segment, the first damaged place explains later findings of its batches and indexes; in
    the replica, the first damage explains findings of checkpoints and of the borders between
    segments. A lost log end explains these too, and findings of the last segment's indexes.

    An index is not to be moved aside where its log is damaged: the start reads that segment again,
    even with a clean-shutdown marker, and cuts it at the first damaged batch, or aborts at one with
    too high a base offset. Source: Kafka 3.9, LogLoader#loadSegmentFiles, LogSegment#recover.

    Args:
        found: the findings of one replica.
        last_segment: the name of its last segment, as findings have it.
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
        times = [e for e in inside if e.code == TIMESTAMP_IMPLAUSIBLE]
        if times:
            wrong_times[segment] = min(times, key=_place)
    closed = next((each for each in every if _is_closed_folder(each)), None)
    first = closed or min(roots.values(), key=lambda e: (e.file or "", _place(e)), default=None)
    if first is None:
        lost = [each for each in every if each.code in _LOST_ENDS]
        # Flushed records first: a high watermark may name some that never reached the disk.
        first = min(lost, key=lambda e: e.code != RECOVERY_POINT_BEYOND_END, default=None)
        if first is not None and last_segment:
            roots[_segment(last_segment)] = first
    misleading = None
    for each in by_segment[_segment(last_segment)]:
        if each.code in _MISLEADS:
            misleading = each
    roots = wrong_times | roots
    missing = [each for each in every if each.code == SEGMENT_MISSING]
    swaps = [each for each in every if each.code == INTERRUPTED_SWAP and each.severity == "C"]
    if closed is not None:
        every = [_of_closed_folder(each, closed) for each in every]
    hidden = closed or next((each for each in every if _hides_the_end(each, last_segment)), None)
    if hidden is not None:  # of a log whose end is unknown nothing is above the end
        every = [each for each in every if each is hidden or each.code not in _FOLLOWS_IN_REPLICA]
    return [
        _explained(_of_swap(_of_missing_segment(each, missing), swaps), roots, first, misleading)
        for each in every
    ]


def _is_closed_folder(each: Finding) -> bool:
    """Whether the partition directory itself cannot be listed, which hides the log end."""
    return (
        each.code == UNREADABLE_FILE
        and each.directory is not None
        and each.file == shown(os.path.basename(each.directory.path))  # noqa: PTH119
    )


def _hides_the_end(each: Finding, last_segment: str) -> bool:
    """Whether the last segment may be sound, and only this user or this copy lacks it."""
    is_last = each.code == UNREADABLE_FILE and each.file == last_segment
    return is_last and each.actions in NOT_DAMAGED


def _of_closed_folder(each: Finding, closed: Finding) -> Finding:
    """Attribute unreadable files to their folder, if that cannot be listed."""
    if each.code != UNREADABLE_FILE or each is closed:
        return each
    return replace(each, caused_by=f"{closed.code} {closed.file} {closed.position}")


def _of_swap(each: Finding, swaps: Sequence[Finding]) -> Finding:
    """Attribute damage in a file that will replace sound ones to the swap."""
    swap = next((s for s in swaps if s.file == each.file and s is not each), None)
    if swap is None or each.code not in _DAMAGE:
        return each
    return replace(each, caused_by=f"{swap.code} {swap.file} {swap.position}")


def _of_missing_segment(each: Finding, missing: Sequence[Finding]) -> Finding:
    """Attribute files that a lost segment left to the missing segment."""
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
        cause = first or (misleading if each.code == END_WILL_BE_MISREAD else None)
    if cause is None or cause is each:
        return each
    if cause.code in _DAMAGE and each.actions[0] == REBUILD_INDEX and each.file != cause.file:
        each = replace(each, actions=cause.actions, repairs=())
    return replace(each, caused_by=f"{cause.code} {cause.file} {cause.position}")


def _segment(file: str) -> str:
    folder, _, name = file.rpartition("/")
    return f"{folder}/{name.split('.')[0]}"


def _place(each: Finding) -> tuple[int, str]:
    return (-1 if each.position is None else each.position, each.code)
