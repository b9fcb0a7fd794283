"""KL-405: what the next start does with segments that were being replaced or deleted.

Source: Kafka 4.0, LogLoader#removeTempFilesAndCollectSwapFiles and #load.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COMPARE_REPLICAS,
    DO_NOT_START,
    NOTHING_TO_DO,
    RESTORE_OLD_SEGMENTS,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    INTERRUPTED_SWAP,
)
from kafkalog_reader.audits.integrity.file_repair import Move, index_moves
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.io.interrupted_swap import read_next_offset
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import Scan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles

_LISTED: Final = 10
"""Maximum base offsets listed in a message."""


def swap_findings(replica: Replica, restored: Collection[str] = ()) -> Iterator[Finding]:
    """Yield one finding for each kind of leftover file.

    Args:
        replica: the replica.
        restored: paths of files to which findings already give their names back.

    Raises:
        UnreadableFileError: the directory or a file cannot be read.
    """
    found = readable_segments(replica.directory, live_only=False)
    of_kind = {
        suffix: [segment for segment in found if segment.suffix == suffix]
        for suffix in ("swap", "cleaned", "deleted")
    }
    first_cleaned = min((s.base_offset for s in of_kind["cleaned"]), default=None)
    live = [s for s in found if s.suffix is None and s.log_size is not None]
    winning: list[SegmentFiles] = []
    losing: list[SegmentFiles] = []
    for swap in of_kind["swap"]:
        is_whole = first_cleaned is None or swap.base_offset < first_cleaned
        (winning if is_whole and swap.log_size is not None else losing).append(swap)
    restored = set(restored)
    if winning:
        replacing = _replacing(replica, winning, live, of_kind["deleted"])
        restored |= {each.path for each in replacing.repairs if isinstance(each, Move)}
        yield replacing
    if losing:
        yield _leftover(
            replica, losing, "M", "is at or above an unfinished cleaning: deleted at the start",
            is_needed=not _is_covered(replica, losing, live),
        )  # fmt: skip
    if of_kind["cleaned"]:
        is_running = not replica.directory.log_directory.clean_shutdown
        yield _leftover(
            replica,
            of_kind["cleaned"],
            "L" if is_running else "M",
            "an unfinished cleaning, deleted at the next start",
            is_needed=not _is_covered(replica, of_kind["cleaned"], [*live, *winning]),
        )
    gone = [segment for segment in of_kind["deleted"] if segment.path("log") not in restored]
    if gone:
        yield _leftover(
            replica, gone, "I",
            "already deleted, the file is removed at the next start at the latest",
        )  # fmt: skip


def deleted_in_gap(replica: Replica, first: int, following: int) -> Finding | None:
    """The finding of segments marked .deleted that hold a gap between live ones; None without.

    They must be sound and complete, and no sign of the log cleaner, which marks the segments that
    it replaced: then the live segment has the name of one of them.

    Raises:
        UnreadableFileError: the directory or a file cannot be read.
    """
    found = readable_segments(replica.directory, live_only=False)
    live = {each.base_offset for each in found if each.suffix is None and each.log_size is not None}
    deleted = [each for each in found if each.suffix == "deleted" and each.log_size is not None]
    held: list[SegmentFiles] = []
    end = first
    for segment in deleted:
        if segment.base_offset == end < following and not _is_damaged(replica, segment):
            held.append(segment)
            end = read_next_offset(segment, replica.directory.context)
    if not held or end != following or any(each.base_offset in live for each in deleted):
        return None
    file = replica.segment_file(held[0])
    return finding(
        INTERRUPTED_SWAP,
        f"{file}: sound, and the only segment here with {offsets_words(first, following)}, which "
        "are missing in the log; the next start deletes it",
        severity="H",
        directory=replica.directory,
        file=file,
        offsets=(first, following),
        evidence={"suffix": "deleted", "outcome": "deleted", "segments": len(held)},
        actions=(RESTORE_OLD_SEGMENTS,),
        repairs=_names_back(held),
    )


def _names_back(deleted: Sequence[SegmentFiles]) -> tuple[Move, ...]:
    return tuple(
        Move(path=path, target=path.removesuffix(".deleted"))
        for segment in deleted
        for path in _paths(segment)
    )


def _replacing(
    replica: Replica,
    winning: Sequence[SegmentFiles],
    live: Sequence[SegmentFiles],
    deleted: Sequence[SegmentFiles],
) -> Finding:
    """The finding of complete new segments, which replace the old ones in their range."""
    start = winning[0].base_offset
    end = max(read_next_offset(segment, replica.directory.context) for segment in winning)
    replaced = [s for s in live if start <= s.base_offset < max(end, start + 1)]  # by its name
    damaged = [segment for segment in winning if _is_damaged(replica, segment)]
    file = replica.segment_file(winning[0])
    bases = _bases(winning)
    what = f"the next start replaces {offsets_words(start, end)} by the new segments {bases}"
    if end <= start:  # the cleaner removed every record
        what = f"the next start puts the new segments {bases} in place, which have no records"
    if replaced:
        what += f"; it deletes the old segments {_bases(replaced)}"
    if damaged:
        what += f"; damaged: {_bases(damaged)}"
    moves = _moves(replica, winning, live, deleted) if damaged else ()
    actions: tuple[str, ...] = (NOTHING_TO_DO,)
    if moves:
        what += "; the old segments are sound"
        actions = (RESTORE_OLD_SEGMENTS, CHECK_HARDWARE)
    elif damaged:
        actions = (DO_NOT_START, COMPARE_REPLICAS)
    return finding(
        INTERRUPTED_SWAP,
        f"{file}: {what}",
        severity="C" if damaged and replaced else "M",
        confidence="proven" if replica.directory.log_directory.clean_shutdown else "possible",
        directory=replica.directory,
        file=file,
        offsets=(start, end) if start < end else None,
        evidence={
            "suffix": "swap",
            "outcome": "replaces",
            "segments": len(winning),
            "replaced": _bases(replaced),
            "damaged": _bases(damaged),
        },
        actions=actions,
        repairs=moves,
    )


def _moves(
    replica: Replica,
    winning: Sequence[SegmentFiles],
    live: Sequence[SegmentFiles],
    deleted: Sequence[SegmentFiles],
) -> tuple[Move, ...]:
    """How to keep the old segments; empty if they are not all there, or not all sound."""
    context = replica.directory.context
    start = winning[0].base_offset
    end = max(read_next_offset(segment, context) for segment in winning)
    bases = {segment.base_offset for segment in live}
    renamed = [
        segment
        for segment in deleted
        if start <= segment.base_offset < end
        and segment.base_offset not in bases
        and segment.log_size is not None
    ]
    old = [*(s for s in live if start <= s.base_offset < end), *renamed]
    old.sort(key=lambda segment: segment.base_offset)
    if not old or old[0].base_offset != start or any(_is_damaged(replica, each) for each in old):
        return ()
    ends = [read_next_offset(segment, context) for segment in old]
    if ends[-1] < end or any(
        stop > following.base_offset for stop, following in zip(ends, old[1:], strict=False)
    ):
        return ()
    aside = [posixpath.basename(path) for segment in winning for path in _paths(segment)]
    return (*index_moves(replica.directory, aside), *_names_back(renamed))


def _paths(segment: SegmentFiles) -> list[str]:
    """The files that there are of a segment."""
    sizes = {
        "log": segment.log_size,
        "index": segment.offset_index_size,
        "timeindex": segment.time_index_size,
        "txnindex": segment.transaction_index_size,
    }
    return [segment.path(kind) for kind, size in sizes.items() if size is not None]


def _is_covered(
    replica: Replica, found: Sequence[SegmentFiles], live: Sequence[SegmentFiles]
) -> bool:
    """Whether segments that the start keeps have the offsets of those that it deletes."""
    context = replica.directory.context
    held = [(each.base_offset, read_next_offset(each, context)) for each in live]
    return all(
        any(first <= each.base_offset < max(end, first + 1) for first, end in held)
        for each in found
    )


def _leftover(
    replica: Replica,
    found: Sequence[SegmentFiles],
    severity: str,
    effect: str,
    *,
    is_needed: bool = False,
) -> Finding:
    """The finding of files that the start deletes; ``is_needed`` if nothing else has their part."""
    file = replica.segment_file(found[0])
    return finding(
        INTERRUPTED_SWAP,
        f"{file}: {effect}; {len(found)} such file{'' if len(found) == 1 else 's'}",
        severity=severity,
        directory=replica.directory,
        file=file,
        evidence={"suffix": found[0].suffix, "outcome": "deleted", "segments": len(found)},
        actions=(DO_NOT_START, COMPARE_REPLICAS) if is_needed else (NOTHING_TO_DO,),
    )


def _is_damaged(replica: Replica, segment: SegmentFiles) -> bool:
    scan = Scan(segment, context=replica.directory.context)
    return any(not isinstance(part, BatchRun) or not part.crc_valid.all() for part in scan)


def _bases(found: Sequence[SegmentFiles]) -> str:
    listed = ", ".join(str(segment.base_offset) for segment in found[:_LISTED])
    return f"{listed}, ..." if len(found) > _LISTED else listed
