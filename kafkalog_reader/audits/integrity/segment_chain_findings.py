"""Findings about the sequence of segments, and about the files beside them."""

from __future__ import annotations

import os
import posixpath
from functools import partial
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import COMPARE_REPLICAS, REBUILD_INDEX
from kafkalog_reader.audits.catalogue.index_rules import (
    INDEX_MISSING,
    ORPHAN_INDEX,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    SEGMENT_GAP,
    SEGMENT_MISSING,
    SEGMENT_NAME_ABOVE_CONTENT,
    SEGMENT_OVERLAP,
    STRAY_LOG,
)
from kafkalog_reader.audits.integrity.file_repair import index_moves
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.swap_findings import deleted_in_gap, swap_findings
from kafkalog_reader.audits.log.release_signs import writes_time_indexes
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    parse_segment_file_name,
    parse_snapshot_file_name,
)
from kafkalog_reader.io.partition_directory import (
    producer_snapshot_offsets,
    readable_segments,
)
from kafkalog_reader.io.stray_log import stray_log

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kafkalog_reader.audits.integrity.batch_findings import BatchCheck
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion


def border_findings(
    replica: Replica,
    before: BatchCheck | None,
    check: BatchCheck,
    stops: Sequence[UnreadableRegion],
) -> Iterator[Finding]:
    """Yield findings about the start of a segment.

    Args:
        replica: the replica of the segments.
        before: the segment before it; None at the start of the log.
        check: the segment.
        stops: damage in it; at its start damage hides the first batch.
    """
    base, first = check.segment.base_offset, check.first_offset
    file = replica.segment_file(check.segment)
    # A follower that began inside a batch names its first segment after the leader's log start
    # (KAFKA-6975): only a later segment proves anything.
    if before is not None and first is not None and first < base:
        yield finding(
            SEGMENT_NAME_ABOVE_CONTENT,
            f"{file}: begins with offset {first:,}, below its name",
            directory=replica.directory,
            file=file,
            position=0,
            offsets=(first, base),
            evidence={"firstOffset": first},
        )
    if before is None or before.last_offset is None:
        return
    end = before.last_offset + 1
    if end > base:
        yield finding(
            SEGMENT_OVERLAP,
            f"{file}: the segment before it reaches offset {before.last_offset:,}",
            directory=replica.directory,
            file=file,
            offsets=(base, end),
            evidence={"previousLastOffset": before.last_offset},
        )
    if end < base:
        yield from _gap(replica, before, check, end)


def _gap(replica: Replica, before: BatchCheck, check: BatchCheck, end: int) -> Iterator[Finding]:
    base = check.segment.base_offset
    if before.shows_cleaning or check.shows_cleaning or base <= (replica.cleaner_offset or 0):
        return
    traces = _traces(replica, end, base)
    file = replica.segment_file(check.segment)
    if traces:
        yield finding(
            SEGMENT_MISSING,
            f"{file}: {offsets_are(end, base)} missing before it; files left of "
            f"a segment there: {', '.join(traces)}",
            directory=replica.directory,
            file=file,
            offsets=(end, base),
            evidence={"traces": " ".join(traces)},
        )
        if deleted := deleted_in_gap(replica, end, base):
            yield deleted
    else:
        yield finding(
            SEGMENT_GAP,
            f"{file}: {offsets_are(end, base)} missing before it",
            directory=replica.directory,
            file=file,
            offsets=(end, base),
        )


def _traces(replica: Replica, end: int, base: int) -> list[str]:
    """Files that a segment between two offsets left."""
    found = []
    with os.scandir(replica.directory.path) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        stem = name.removesuffix(".deleted")
        segment = parse_segment_file_name(stem)
        offset = parse_snapshot_file_name(stem) if segment is None else segment.base_offset
        if offset is not None and end <= offset < base:
            found.append(name)
    return found


def file_findings(replica: Replica, restored: Collection[str] = ()) -> Iterator[Finding]:
    """Yield findings about the names of the segment files: missing, orphaned, half swapped.

    Args:
        replica: the replica.
        restored: paths of files to which findings already give their names back.
    """
    directory = replica.directory
    if directory.only is not None:
        return
    live = readable_segments(directory)
    root = directory.log_directory.path
    kinds = ["index"]
    if writes_time_indexes(root, directory.path, live):
        kinds.append("timeindex")
    last = max((each.base_offset for each in live if each.log_size is not None), default=-1)
    for segment in live:
        if segment.log_size is not None:
            yield from _missing_indexes(replica, segment, kinds)
        else:
            yield from _orphans(replica, segment, last)
    yield from _stray_log(replica)
    yield from swap_findings(replica, restored)


def _stray_log(replica: Replica) -> Iterator[Finding]:
    directory = replica.directory
    found = readable_segments(directory, live_only=False)
    live = [segment for segment in found if segment.suffix is None]
    offsets = partial(producer_snapshot_offsets, directory)
    stray = stray_log(live, offsets, directory.context)
    if stray is not None:
        file = replica.segment_file(stray)
        yield finding(
            STRAY_LOG,
            f"{file}: begins with zeros, is beyond the end of the log, and no index or snapshot "
            f"belongs to it: the start would set the log end to {stray.base_offset:,}",
            directory=directory,
            file=file,
            position=0,
            size_in_bytes=stray.log_size,
            evidence={"size": stray.log_size},
            repairs=index_moves(directory, [posixpath.basename(stray.path("log"))]),
        )


def _missing_indexes(
    replica: Replica, segment: SegmentFiles, kinds: Sequence[str]
) -> Iterator[Finding]:
    sizes = {"index": segment.offset_index_size, "timeindex": segment.time_index_size}
    # A start that finds no offset index recovers the segment and writes all its indexes; one that
    # lacks only the time index creates an empty one (Kafka 4.3, LogLoader and LogSegment).
    is_rebuilt = segment.offset_index_size is None
    effect = "rebuilds it from the log at its start" if is_rebuilt else (
        "creates an empty one at its start, because the .index exists"
    )  # fmt: skip
    for kind in kinds:
        if sizes[kind] is None and replica.directory.topic != METADATA_TOPIC:
            file = replica.segment_file(segment, kind)
            yield finding(
                INDEX_MISSING,
                f"{file}: missing; the broker {effect}",
                directory=replica.directory,
                file=file,
                actions=None if is_rebuilt else (REBUILD_INDEX,),
            )


def _orphans(replica: Replica, segment: SegmentFiles, last: int) -> Iterator[Finding]:
    """Index files without a log; ``last`` is the base offset of the last log.

    Kafka deletes segments from the first on: above the last log, a log was lost.
    """
    is_lost = segment.base_offset > last
    effect = "the broker deletes it at its start"
    if is_lost:
        effect = (
            f"it is the trace of a lost segment, with the records from offset "
            f"{segment.base_offset:,} on. {effect[0].upper()}{effect[1:]}"
        )
    sizes = {
        "index": segment.offset_index_size,
        "timeindex": segment.time_index_size,
        "txnindex": segment.transaction_index_size,
    }
    for kind, size in sizes.items():
        if size is not None:
            file = replica.segment_file(segment, kind)
            yield finding(
                ORPHAN_INDEX,
                f"{file}: its .log is missing; {effect}",
                severity="M" if is_lost else None,
                directory=replica.directory,
                file=file,
                actions=(COMPARE_REPLICAS,) if is_lost else None,
            )
