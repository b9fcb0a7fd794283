"""KL-405: what the next start does with segments that were being replaced or deleted.

Source: Kafka 4.0, LogLoader#removeTempFilesAndCollectSwapFiles and #load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.catalogue.log_rules import (
    INTERRUPTED_SWAP,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.io.interrupted_swap import read_next_offset
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import Scan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.evidence import SegmentFiles

_LISTED: Final = 10
"""Maximum base offsets listed in a message."""


def swap_findings(replica: Replica) -> Iterator[Finding]:
    """Yield one finding for each kind of leftover file.

    Raises:
        UnreadableFileError: the directory or a file cannot be read.
    """
    found = readable_segments(replica.directory, live_only=False)
    of_kind = {
        suffix: [segment for segment in found if segment.suffix == suffix]
        for suffix in ("swap", "cleaned", "deleted")
    }
    first_cleaned = min((s.base_offset for s in of_kind["cleaned"]), default=None)
    winning: list[SegmentFiles] = []
    losing: list[SegmentFiles] = []
    for swap in of_kind["swap"]:
        is_whole = first_cleaned is None or swap.base_offset < first_cleaned
        (winning if is_whole and swap.log_size is not None else losing).append(swap)
    if winning:
        yield _replacing(replica, winning, [s for s in found if s.suffix is None])
    if losing:
        yield _leftover(
            replica, losing, "M", "is at or above an unfinished cleaning: deleted at the start"
        )
    if of_kind["cleaned"]:
        is_running = not replica.directory.log_directory.clean_shutdown
        yield _leftover(
            replica,
            of_kind["cleaned"],
            "L" if is_running else "M",
            "an unfinished cleaning, deleted at the next start",
        )
    if of_kind["deleted"]:
        yield _leftover(
            replica, of_kind["deleted"], "I",
            "already deleted, the file is removed at the next start at the latest",
        )  # fmt: skip


def _replacing(
    replica: Replica, winning: Sequence[SegmentFiles], live: Sequence[SegmentFiles]
) -> Finding:
    """The finding of complete new segments, which replace the old ones in their range."""
    start = winning[0].base_offset
    end = max(read_next_offset(segment, replica.directory.context) for segment in winning)
    replaced = [s for s in live if start <= s.base_offset < end and s.log_size is not None]
    damaged = [segment for segment in winning if _is_damaged(replica, segment)]
    file = replica.segment_file(winning[0])
    bases = _bases(winning)
    what = f"the next start replaces {offsets_words(start, end)} by the new segments {bases}"
    if replaced:
        what += f"; it deletes the old segments {_bases(replaced)}"
    if damaged:
        what += f"; damaged: {_bases(damaged)}"
    return finding(
        INTERRUPTED_SWAP,
        f"{file}: {what}",
        severity="C" if damaged and replaced else "M",
        confidence="proven" if replica.directory.log_directory.clean_shutdown else "possible",
        directory=replica.directory,
        file=file,
        offsets=(start, max(start, end)),
        evidence={
            "suffix": "swap",
            "outcome": "replaces",
            "segments": len(winning),
            "replaced": _bases(replaced),
            "damaged": _bases(damaged),
        },
    )


def _leftover(
    replica: Replica, found: Sequence[SegmentFiles], severity: str, effect: str
) -> Finding:
    file = replica.segment_file(found[0])
    return finding(
        INTERRUPTED_SWAP,
        f"{file}: {effect}; {len(found)} such file{'' if len(found) == 1 else 's'}",
        severity=severity,
        directory=replica.directory,
        file=file,
        evidence={"suffix": found[0].suffix, "outcome": "deleted", "segments": len(found)},
        actions=(NOTHING_TO_DO,) if severity == "I" else None,
    )


def _is_damaged(replica: Replica, segment: SegmentFiles) -> bool:
    scan = Scan(segment, context=replica.directory.context)
    return any(not isinstance(part, BatchRun) or not part.crc_valid.all() for part in scan)


def _bases(found: Sequence[SegmentFiles]) -> str:
    listed = ", ".join(str(segment.base_offset) for segment in found[:_LISTED])
    return f"{listed}, ..." if len(found) > _LISTED else listed
