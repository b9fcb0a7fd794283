"""Whole records of a torn batch, which no CRC proves, and what a repaired batch is.

A torn batch has no proof but its structure: what is kept of it is marked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.decode.record_decoder import RecordDecoder
from kafkalog_reader.errors import LocatedError, UnreadableFileError
from kafkalog_reader.format.batch_fields import (
    ATTRIBUTES_AT,
    BASE_TIMESTAMP_AT,
    CODEC_MASK,
    CONTROL_BIT,
    CRC_AT,
    CRC_COVERS_FROM,
    HEADER_SIZE,
    LAST_OFFSET_DELTA_AT,
    LENGTH_AT,
    LENGTH_END,
    LOG_APPEND_TIME_BIT,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    PRODUCER_ID_AT,
    RECORDS_COUNT_AT,
)
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.io.window import Windows
from kafkalog_reader.kernel import record_batches
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.scan import Scan
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.unreadable_region import UnreadableRegion

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles

MAX_REPAIRED_SIZE: Final = 64 << 20
"""Bytes of a batch. The longer it is, the more often chance looks like a flipped bit."""
_LENGTH: Final = slice(LENGTH_AT, LENGTH_END)
_CRC: Final = slice(CRC_AT, CRC_COVERS_FROM)
_ATTRIBUTES: Final = slice(ATTRIBUTES_AT, LAST_OFFSET_DELTA_AT)
_LAST_OFFSET_DELTA: Final = slice(LAST_OFFSET_DELTA_AT, BASE_TIMESTAMP_AT)
_MAX_TIMESTAMP: Final = slice(MAX_TIMESTAMP_AT, PRODUCER_ID_AT)
_RECORDS_COUNT: Final = slice(RECORDS_COUNT_AT, HEADER_SIZE)
_MAX_VARINT: Final = 5
_ROOM: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairedBatch:
    """One batch that is sound now.

    Attributes:
        run: of this batch alone; its position is where it lies in the segment file.
        how: the repair, in words.
        kind: ``flippedBit``, ``baseOffset``, ``batchLength``, ``magic`` or ``tornBatch``.
    """

    run: BatchRun
    how: str
    kind: str


def readable_in_torn_batch(
    directory: PartitionDirectory, files: SegmentFiles, start: int, first_offset: int
) -> tuple[int, int]:
    """The offsets [first, next) of whole records in the torn batch that ends a segment.

    They are those that ``kafkalog salvage`` keeps; (0, 0) if there are none.

    Args:
        directory: the replica.
        files: of its last segment.
        start: the position of that batch, or of a batch before it.
        first_offset: the one expected there.

    Raises:
        UnreadableFileError: the segment cannot be read.
    """
    torn = None
    for found in Scan(files, start=start, context=directory.context):
        if isinstance(found, UnreadableRegion):
            torn = (
                found
                if found.first_offset is not None
                else replace(found, first_offset=first_offset)
            )
        elif isinstance(found, BatchRun):
            torn = None
    kept = None if torn is None else whole_records(torn, SegmentSlice.whole(directory, files))
    if kept is None:
        return 0, 0
    return int(kept.run.base_offset[0]), int(kept.run.last_offset[0]) + 1


def whole_records(region: UnreadableRegion, segment_slice: SegmentSlice) -> RepairedBatch | None:
    """Make a batch of the complete records in a torn, uncompressed batch of magic 2."""
    content = _torn_content(region, segment_slice)
    if content is None:
        return None
    ends = _record_ends(content)
    claimed = int.from_bytes(content[_RECORDS_COUNT], "big", signed=True)
    count = min(len(ends), max(claimed, 0))
    while count > 0:
        made, sound = _first_records(content, ends, count, region.start, segment_slice)
        if made is not None:
            kept = f"{count:,} whole record{'' if count == 1 else 's'}"
            how = f"{kept} of {claimed:,} in a torn batch, which no CRC proves"
            return RepairedBatch(run=made, how=how, kind="tornBatch")
        count = min(sound, count - 1)
    return None


def decodes(run: BatchRun, segment_slice: SegmentSlice) -> bool:
    """Whether all records of a batch can be decoded."""
    return _decoded(run, segment_slice) is not None


class _Noted(Damage):
    def __init__(self) -> None:
        super().__init__(Mode.DROPMALFORMED)
        self.is_damaged = False

    def left_out(
        self, error: LocatedError, *, batches: int = 1, next_offset: int | None = None
    ) -> None:
        del error, batches, next_offset
        self.is_damaged = True


def _decoded(run: BatchRun, segment_slice: SegmentSlice) -> tuple[int, int] | None:
    """How many records can be decoded, and their greatest timestamp in milliseconds."""
    noted = _Noted()
    decoder = RecordDecoder(frozenset({"offset", "timestamp"}), segment_slice, noted)
    count, newest = 0, -1
    try:
        for decoded in (*decoder.add(run), *decoder.flush()):
            count += decoded.columns.rows
            if decoded.columns.rows:
                newest = max(newest, int(decoded.columns.timestamp.max()) // 1000)
    except LocatedError:
        return None
    return None if noted.is_damaged else (count, newest)


def scanned_batch(content: bytearray, position: int, lowest: int) -> BatchRun | None:
    """The one sound batch that fills ``content``."""
    window = memoryview(content)
    room = BatchRun.with_room(window, position, _ROOM)
    count, valid, end, _ = record_batches.scan_batches(
        window, 0, len(window), position, True, room, _ROOM, max(lowest, 0)
    )
    if (count, valid, end) != (1, 1, len(window)):
        return None
    return room.first(1, 1)[0]


def _torn_content(region: UnreadableRegion, segment_slice: SegmentSlice) -> bytearray | None:
    size = region.size_in_bytes
    if not HEADER_SIZE < size <= MAX_REPAIRED_SIZE or not region.begins_batch:
        return None
    try:
        with Windows(
            segment_slice.path, region.start, region.stop, size=size,
            context=segment_slice.directory.context,
        ) as windows:  # fmt: skip
            content = bytearray(windows.read(region.start))
    except UnreadableFileError:  # the scan reports it
        return None
    attributes = int.from_bytes(content[_ATTRIBUTES], "big")
    length = int.from_bytes(content[_LENGTH], "big", signed=True)
    is_torn = content[MAGIC_AT] == 2 and length + LENGTH_END > len(content) == size
    base_offset = int.from_bytes(content[:8], "big", signed=True)
    due = segment_slice.segment.base_offset if region.first_offset is None else region.first_offset
    is_plain = not attributes & (CODEC_MASK | CONTROL_BIT)
    return content if is_torn and is_plain and base_offset == due else None


def _record_ends(content: bytearray) -> list[int]:
    """Where each record ends that is complete by its length."""
    ends, at, stop = [], HEADER_SIZE, len(content)
    while at < stop:
        value = shift = 0
        for byte in content[at : at + _MAX_VARINT]:
            value |= (byte & 0x7F) << shift
            shift += 7
            at += 1
            if byte < 0x80:
                break
        else:
            break
        size = (value >> 1) ^ -(value & 1)
        if size <= 0 or size > stop - at:
            break
        at += size
        ends.append(at)
    return ends


def _first_records(
    content: bytearray, ends: list[int], count: int, position: int, segment_slice: SegmentSlice
) -> tuple[BatchRun | None, int]:
    """A batch of the first records; if they cannot be decoded, half as many may be."""
    made = bytearray(content[: ends[count - 1]])
    made[_LENGTH] = (len(made) - LENGTH_END).to_bytes(4, "big")
    made[_LAST_OFFSET_DELTA] = (count - 1).to_bytes(4, "big")  # offsets of producers are gapless
    made[_RECORDS_COUNT] = count.to_bytes(4, "big")
    for is_final in (False, True):
        made[_CRC] = compute_crc32c(bytes(made[CRC_COVERS_FROM:])).to_bytes(4, "big")
        run = scanned_batch(made, position, int.from_bytes(made[:8], "big"))
        decoded = None if run is None else _decoded(run, segment_slice)
        if run is None or decoded is None or decoded[0] != count:
            return None, count // 2
        is_set_by_broker = int.from_bytes(made[_ATTRIBUTES], "big") & LOG_APPEND_TIME_BIT
        if is_final or is_set_by_broker:
            return run, count
        made = bytearray(made)
        made[_MAX_TIMESTAMP] = int(np.int64(decoded[1])).to_bytes(8, "big", signed=True)
    raise AssertionError("the second round returns")
