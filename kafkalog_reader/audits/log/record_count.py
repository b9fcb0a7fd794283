"""Counts client records in a range of offsets, whose bounds alone do not give the number."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.errors import (
    CorruptLogError,
    LimitReachedError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.scan.scan import HEADERS, Scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion


def records_text(count: int) -> str:
    """``1 record``, ``2,118 records``."""
    return f"{count:,} record{'' if count == 1 else 's'}"


def behind_text(records: int, copies: int = 1) -> str:
    """How far copies are behind another one: ``is 2 records behind``, ``are 2 records behind``."""
    if not records:
        return f"{'lacks' if copies == 1 else 'lack'} only transaction markers"
    return f"{'is' if copies == 1 else 'are'} {records_text(records)} behind"


def start_adds_text(behind: int, lost: int) -> str:
    """Why a copy loses more than the records by which it is behind, if it is elected."""
    return ", with those that its start hides or cuts" if lost > behind else ""


def up_to_text(text: str, damaged: int) -> str:
    """Add the maximum number of records in damaged batches: ``2 records and up to 1 in ...``."""
    return f"{text} and up to {damaged:,} in damaged batches" if damaged else text


def cut_text(records: int, damaged: int, torn: int, size_in_bytes: int, readable: int = 0) -> str:
    """What a start cuts, in the words of every command.

    Args:
        records: in whole batches after the cut.
        damaged: in damaged batches, at most.
        torn: in the unfinished batch at the end, at most.
        size_in_bytes: of all of it.
        readable: whole records in the unfinished batch, which ``kafkalog salvage`` keeps.
    """
    if not records and damaged:
        return f"up to {records_text(damaged)} in damaged batches"
    if records:
        return up_to_text(records_text(records), damaged)
    if readable:
        return (
            f"{size_in_bytes:,} bytes at the tail, an unfinished batch with "
            f"{records_text(readable)} of {torn:,} still whole"
        )
    held = f" (up to {records_text(torn)})" if torn else ""
    return f"{size_in_bytes:,} bytes at the tail that hold no whole record{held}"


def hidden_offsets(stops: Iterable[UnreadableRegion]) -> tuple[tuple[int, int], ...]:
    """The offsets [first, next) that damage hides between sound batches, in order."""
    spans = ((stop.first_offset, stop.next_offset) for stop in stops)
    return tuple(
        sorted(
            (first, following)
            for first, following in spans
            if first is not None and following is not None and first < following
        )
    )


def count_records(
    directory: PartitionDirectory,
    first_offset: int,
    next_offset: int,
    stops: Iterable[UnreadableRegion] = (),
) -> int:
    """Count the client records of [first, next), without markers and cleaned records.

    Args:
        directory: the replica.
        first_offset: the first of the range.
        next_offset: one past its last.
        stops: bytes that hold no readable batch, whatever a header in them says.

    Raises:
        UnreadableFileError: a segment cannot be read.
    """
    total = 0
    unreadable = sorted((stop.file, stop.start, stop.stop) for stop in stops)
    for path, whole in _runs(directory, first_offset):
        run = _readable(whole, [span[1:] for span in unreadable if span[0] == path])
        if not run.count:
            continue
        is_data = run.attributes & CONTROL_BIT == 0
        inside = (run.base_offset >= first_offset) & (run.last_offset < next_offset)
        total += int(run.held_records(slice(None))[is_data & inside].sum())
        reaches_in = (run.base_offset < next_offset) & (run.last_offset >= first_offset)
        for index in np.flatnonzero(is_data & reaches_in & ~inside):
            total += _inside(run, int(index), first_offset, next_offset)
        if int(run.base_offset[-1]) >= next_offset:
            break
    return total


def first_batch_cut(directory: PartitionDirectory, target: int) -> int | None:
    """Base offset of the first batch that reaches ``target``: there a truncation really cuts.

    Brokers search in the order of the file, also where a base offset, which no checksum covers, is
    wrong. If it is that of the batch found, which lies before lower ones, the offset is the one
    after the batch before.

    Raises:
        UnreadableFileError: a segment cannot be read.
    """
    expected = None
    for _, run in _runs(directory, target):
        reached = np.flatnonzero(run.last_offset >= target)
        if len(reached):
            index = int(reached[0])
            base_offset = int(run.base_offset[index])
            if index:
                expected = int(run.last_offset[index - 1]) + 1
            falls = bool((run.base_offset[index:] < base_offset).any())
            return expected if falls and expected is not None else base_offset
        expected = int(run.last_offset[-1]) + 1
    return None


def _readable(run: BatchRun, unreadable: Sequence[tuple[int, int]]) -> BatchRun:
    """The batches of a run that are outside the given byte ranges."""
    is_kept = np.ones(run.count, np.bool_)
    for start, stop in unreadable:
        is_kept &= (run.position < start) | (run.position >= stop)
    return run if is_kept.all() else run.taken(np.flatnonzero(is_kept))


def _runs(directory: PartitionDirectory, first_offset: int) -> Iterator[tuple[str, BatchRun]]:
    """The batches from the segment that holds an offset on, with its path; headers only."""
    found = [segment for segment in readable_segments(directory) if segment.log_size is not None]
    following = (segment.base_offset for segment in found[1:])
    for segment, next_base in zip_longest(found, following):
        if next_base is None or next_base > first_offset:
            path = shown(segment.path("log"))
            for run in Scan(segment, HEADERS, context=directory.context).runs():
                yield path, run


def _inside(run: BatchRun, index: int, first_offset: int, next_offset: int) -> int:
    """Records of one batch inside the range; decoded if compaction left holes."""
    base_offset = int(run.base_offset[index])
    bounds = max(base_offset, first_offset), min(int(run.last_offset[index]) + 1, next_offset)
    if int(run.records_count[index]) == int(run.last_offset_delta[index]) + 1:
        return bounds[1] - bounds[0]
    from kafkalog_reader.format.record_batch import parse_batch_records  # slow to import
    from kafkalog_reader.format.record_batch_header import parse_record_batch_header

    start = int(run.position[index]) - run.window_position
    content = bytes(run.buffer[start : start + int(run.size_in_bytes[index])])
    where = LogPosition("batch", int(run.position[index]), base_offset)
    try:
        header = parse_record_batch_header(content, where)
        records = parse_batch_records(content, header, where)
    except (CorruptLogError, LimitReachedError, UnsupportedFormatError):
        return min(max(0, int(run.records_count[index])), bounds[1] - bounds[0])
    return sum(bounds[0] <= base_offset + record.offset_delta < bounds[1] for record in records)
