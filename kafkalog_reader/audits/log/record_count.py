"""Counts client records in a range of offsets, where the bounds alone do not give it."""

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
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.scan.scan import HEADERS, Scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.evidence import PartitionDirectory
    from kafkalog_reader.scan.batch_run import BatchRun


def records_text(count: int) -> str:
    """``1 record``, ``2,118 records``."""
    return f"{count:,} record{'' if count == 1 else 's'}"


def up_to_text(text: str, damaged: int) -> str:
    """Add the maximum number of records in damaged batches: ``2 records and up to 1 in ...``."""
    return f"{text} and up to {damaged:,} in damaged batches" if damaged else text


def count_records(directory: PartitionDirectory, first_offset: int, next_offset: int) -> int:
    """Count the client records of [first, next), without markers and cleaned records.

    Raises:
        UnreadableFileError: a segment cannot be read.
    """
    total = 0
    for run in _runs(directory, first_offset):
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

    Raises:
        UnreadableFileError: a segment cannot be read.
    """
    for run in _runs(directory, target):
        index = int(np.searchsorted(run.last_offset, target))
        if index < run.count:
            return int(run.base_offset[index])
    return None


def _runs(directory: PartitionDirectory, first_offset: int) -> Iterator[BatchRun]:
    """The batches from the segment that holds an offset on; headers only."""
    found = [segment for segment in readable_segments(directory) if segment.log_size is not None]
    following = (segment.base_offset for segment in found[1:])
    for segment, next_base in zip_longest(found, following):
        if next_base is None or next_base > first_offset:
            yield from Scan(segment, HEADERS, context=directory.context).runs()


def _inside(run: BatchRun, index: int, first_offset: int, next_offset: int) -> int:
    """Records of one batch inside the range; decoded where compaction left holes."""
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
