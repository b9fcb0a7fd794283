"""Repairs batches if their own CRC, or the batches around them, prove how.

A flipped bit that the CRC locates, and a length or magic with which the CRC is right, are proven.
So is one flipped bit of a base offset with which, put back, the batch joins its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.flipped_bit import flipped_bit
from kafkalog_reader.audits.log.header_repair import repaired_batch
from kafkalog_reader.audits.log.torn_batch import (
    MAX_REPAIRED_SIZE,
    RepairedBatch,
    decodes,
    scanned_batch,
)
from kafkalog_reader.format.batch_fields import LENGTH_AT

if TYPE_CHECKING:
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion


def repaired_flip(run: BatchRun, row: int, segment_slice: SegmentSlice) -> RepairedBatch | None:
    """Repair a batch with one flipped bit, if its records can then be decoded."""
    size = int(run.size_in_bytes[row])
    if size > MAX_REPAIRED_SIZE:
        return None
    magic = int(run.magic[row])
    found = flipped_bit(int(run.crc[row]), int(run.crc_computed[row]), size, magic)
    if found is None:
        return None
    position = int(run.position[row])
    start = position - run.window_position
    content = bytearray(run.buffer[start : start + size])
    content[found.position] ^= 1 << found.bit
    place = "the stored CRC, " if found.in_crc else ""
    how = f"bit {found.bit} of {place}byte {position + found.position} flipped back"
    return _sound(content, position, int(run.base_offset[row]), segment_slice, how, "flippedBit")


def repaired_offset(
    run: BatchRun, row: int, segment_slice: SegmentSlice, base_offset: int
) -> RepairedBatch | None:
    """Give a sound batch the base offset that the batches around it prove."""
    size = int(run.size_in_bytes[row])
    if size > MAX_REPAIRED_SIZE or not run.crc_valid[row]:
        return None
    position = int(run.position[row])
    start = position - run.window_position
    content = bytearray(run.buffer[start : start + size])
    content[:LENGTH_AT] = base_offset.to_bytes(LENGTH_AT, "big")
    how = (
        f"base offset {int(run.base_offset[row])} corrected to {base_offset}: with that one bit "
        "put back, it joins the batches before and after it"
    )
    return _sound(content, position, base_offset, segment_slice, how, "baseOffset")


def repaired_header(region: UnreadableRegion, segment_slice: SegmentSlice) -> RepairedBatch | None:
    """Repair a batch in which only the length or magic is wrong, as its CRC proves."""
    found = repaired_batch(
        segment_slice.path, region.start, region.stop, context=segment_slice.directory.context
    )
    if found is None:
        return None
    field, content = found
    how = f"{field.value} corrected: the CRC is right with no other value"
    lowest = (
        segment_slice.segment.base_offset if region.first_offset is None else region.first_offset
    )
    return _sound(content, region.start, lowest, segment_slice, how, field.value)


def _sound(
    content: bytearray, position: int, lowest: int, segment_slice: SegmentSlice, how: str, kind: str
) -> RepairedBatch | None:
    run = scanned_batch(content, position, lowest)
    if run is None or not decodes(run, segment_slice):
        return None
    return RepairedBatch(run=run, how=how, kind=kind)
