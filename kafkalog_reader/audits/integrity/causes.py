"""One cause, one headline: which finding stands behind which."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.batch_rules import (
    BATCH_CRC_MISMATCH,
    BATCH_LENGTH_IMPOSSIBLE,
    HEADER_CONTRADICTION,
    LEADER_EPOCH_REGRESSION,
    MAGIC_IMPOSSIBLE,
    OFFSET_GAP,
    OFFSET_REGRESSION,
    RECORD_UNDECODABLE,
    REPEATED_PHYSICAL_BATCH,
    SEGMENT_OFFSET_OVERFLOW,
    TIMESTAMP_IMPLAUSIBLE,
    TORN_TAIL,
    UNREADABLE_REGION,
    ZERO_TAIL,
)
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    CLEAN_MARKER_CONTRADICTED,
    CLEANER_OFFSET_BEYOND_END,
    HIGH_WATERMARK_BEYOND_END,
    RECOVERY_POINT_BEYOND_END,
    STRAY_PRODUCER_SNAPSHOT,
)
from kafkalog_reader.audits.catalogue.index_rules import (
    INDEX_NOT_ON_A_BATCH,
    INDEX_NOT_RISING,
    INDEX_POINTS_PAST_LOG,
    INDEX_SKIPS_RECORDS,
    ORPHAN_INDEX,
    TIME_INDEX_LAST_ENTRY_HIGH,
    TIME_INDEX_LAST_ENTRY_LOW,
    TIME_INDEX_OFFSET_UNKNOWN,
    TIME_INDEX_SKIPS_RECORDS,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    UNKNOWN_VERSION,
    UNREADABLE_FILE,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    END_WILL_BE_MISREAD,
    EPOCH_ENTRIES_BEYOND_END,
    EPOCH_ENTRY_CONTRADICTED,
    EPOCH_ENTRY_MISSING,
    INTERRUPTED_SWAP,
    SEGMENT_GAP,
    SEGMENT_MISSING,
    SEGMENT_NAME_ABOVE_CONTENT,
    SEGMENT_OVERLAP,
    SNAPSHOT_DISAGREES_WITH_LOG,
)
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding

_DAMAGE: Final = frozenset(
    {
        UNREADABLE_FILE,
        UNKNOWN_VERSION,
        BATCH_CRC_MISMATCH,
        BATCH_LENGTH_IMPOSSIBLE,
        TORN_TAIL,
        ZERO_TAIL,
        UNREADABLE_REGION,
        MAGIC_IMPOSSIBLE,
        HEADER_CONTRADICTION,
        RECORD_UNDECODABLE,
        OFFSET_REGRESSION,
        OFFSET_GAP,
        LEADER_EPOCH_REGRESSION,
        REPEATED_PHYSICAL_BATCH,
        SEGMENT_NAME_ABOVE_CONTENT,
        SEGMENT_OVERLAP,
    }
)
_LOGS: Final = (".log", ".log.swap")
_FOLLOWS_IN_SEGMENT: Final = frozenset(
    {
        HEADER_CONTRADICTION,
        OFFSET_REGRESSION,
        OFFSET_GAP,
        LEADER_EPOCH_REGRESSION,
        SEGMENT_OFFSET_OVERFLOW,
        REPEATED_PHYSICAL_BATCH,
        INDEX_POINTS_PAST_LOG,
        INDEX_NOT_ON_A_BATCH,
        INDEX_SKIPS_RECORDS,
        TIME_INDEX_SKIPS_RECORDS,
        TIME_INDEX_OFFSET_UNKNOWN,
        TIME_INDEX_LAST_ENTRY_LOW,
        TIME_INDEX_LAST_ENTRY_HIGH,
    }
)
_FOLLOWS_IN_REPLICA: Final = frozenset(
    {
        HIGH_WATERMARK_BEYOND_END,
        RECOVERY_POINT_BEYOND_END,
        CLEANER_OFFSET_BEYOND_END,
        CLEAN_MARKER_CONTRADICTED,
        SEGMENT_NAME_ABOVE_CONTENT,
        SEGMENT_OVERLAP,
        SEGMENT_GAP,
        SEGMENT_MISSING,
        EPOCH_ENTRY_MISSING,
        EPOCH_ENTRY_CONTRADICTED,
        EPOCH_ENTRIES_BEYOND_END,
        SNAPSHOT_DISAGREES_WITH_LOG,
        END_WILL_BE_MISREAD,
    }
)
_MISLEADS: Final = frozenset(
    {INDEX_NOT_RISING, INDEX_POINTS_PAST_LOG, INDEX_NOT_ON_A_BATCH, INDEX_SKIPS_RECORDS}
)
"""Of the last offset index: the broker starts there when it looks for the log's end (KL-415)."""
_LEFT_BEHIND: Final = frozenset({ORPHAN_INDEX, STRAY_PRODUCER_SNAPSHOT})
_LOST_ENDS: Final = (RECOVERY_POINT_BEYOND_END, HIGH_WATERMARK_BEYOND_END)
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
        times = [e for e in inside if e.code == TIMESTAMP_IMPLAUSIBLE]
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
    missing = [each for each in every if each.code == SEGMENT_MISSING]
    swaps = [each for each in every if each.code == INTERRUPTED_SWAP and each.severity == "C"]
    if closed is not None:
        every = [_of_closed_folder(each, closed) for each in every]
    return [
        _explained(_of_swap(_of_missing_segment(each, missing), swaps), roots, first, misleading)
        for each in every
    ]


def _is_closed_folder(each: Finding) -> bool:
    """Whether the partition directory itself could not be listed: its log end is not known."""
    return (
        each.code == UNREADABLE_FILE
        and each.directory is not None
        and each.file == shown(os.path.basename(each.directory.path))  # noqa: PTH119
    )


def _of_closed_folder(each: Finding, closed: Finding) -> Finding:
    """Files that cannot be read in a folder that cannot be listed are no news."""
    if each.code != UNREADABLE_FILE or each is closed:
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
        cause = first or (misleading if each.code == END_WILL_BE_MISREAD else None)
    if cause is None or cause is each:
        return each
    return replace(each, caused_by=f"{cause.code} {cause.file} {cause.position}")


def _segment(file: str) -> str:
    folder, _, name = file.rpartition("/")
    return f"{folder}/{name.split('.')[0]}"


def _place(each: Finding) -> tuple[int, str]:
    return (-1 if each.position is None else each.position, each.code)
