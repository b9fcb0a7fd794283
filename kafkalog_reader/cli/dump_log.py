"""Prints segments batch by batch as ``kafka-dump-log`` 4.3 does.

Source: Kafka 4.3, tools.DumpLogSegments, whose wording and order are used.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.options import read_context
from kafkalog_reader.errors import (
    CorruptRecordError,
    LogLayoutError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    TRANSACTIONAL_BIT,
)
from kafkalog_reader.format.compression import Codec, unknown_codec_text
from kafkalog_reader.format.record_batch_header import TIMESTAMP_TYPE_NAMES, increment_sequence
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import CHAIN, Scan
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.cli.dump_records import RecordLines
    from kafkalog_reader.io.progress import Progress

CODECS: Final = tuple(codec.text for codec in Codec)
KRAFT_SNAPSHOT: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint", re.ASCII)
_FIRST_WITH_BATCHES: Final = 2
BATCH_COLUMNS: Final = (
    "base_offset", "last_offset", "records_count", "base_sequence", "last_offset_delta",
    "producer_id", "producer_epoch", "leader_epoch", "attributes", "base_timestamp", "position",
    "max_timestamp", "size_in_bytes", "magic", "crc", "crc_computed", "timestamp_type",
)  # fmt: skip


def segment_lines(
    path: str,
    records: RecordLines | None = None,
    progress: Progress = no_progress,
    max_bytes: int | None = None,
) -> Iterator[str]:
    """The lines about a ``.log``, and with ``records`` about its records.

    Args:
        path: the file.
        records: prints records.
        progress: receives the number of bytes read.
        max_bytes: print only whole batches in this many bytes from the start; None for all.

    Raises:
        CorruptRecordError: an impossible batch length, or records that contradict their batch.
        UnsupportedFormatError: an unknown magic or codec.
    """
    yield f"Log starting offset: {base_offset_of(path)}"
    yield from _batch_lines(path, records, progress, max_bytes)


def snapshot_lines(
    path: str,
    records: RecordLines | None = None,
    progress: Progress = no_progress,
    max_bytes: int | None = None,
) -> Iterator[str]:
    """The lines about a snapshot of the metadata log, ``OFFSET-EPOCH.checkpoint``."""
    name = Path(path).name
    end = KRAFT_SNAPSHOT.fullmatch(name)
    if name == "bootstrap.checkpoint":
        yield "KRaft bootstrap snapshot"
    elif end is not None:
        yield f"Snapshot end offset: {int(end[1])}, epoch: {int(end[2])}"
    else:
        raise LogLayoutError(f"{shown(path)}: a snapshot is named OFFSET-EPOCH.checkpoint")
    yield from _batch_lines(path, records, progress, max_bytes)


def base_offset_of(path: str) -> int:
    """The base offset in a segment file's name.

    Raises:
        LogLayoutError: the name does not begin with one.
    """
    digits = Path(path).name.split(".", 1)[0]
    if not digits.isascii() or not digits.isdigit():
        raise LogLayoutError(f"{shown(path)}: the name of a segment file begins with its offset")
    return int(digits)


def optional_long(number: int) -> str:
    """A number, or −1 for none, as Java prints it."""
    return "OptionalLong.empty" if number < 0 else f"OptionalLong[{number}]"


def sequence_after(base_sequence: int, offset_delta: int) -> int:
    """The sequence of a record; −1 if the producer did not set one."""
    return -1 if base_sequence < 0 else increment_sequence(base_sequence, offset_delta)


def _batch_lines(
    path: str, records: RecordLines | None, progress: Progress, max_bytes: int | None
) -> Iterator[str]:
    if records is not None:
        records.begin(path)
    scan = Scan(path, CHAIN, progress=progress, context=read_context(follow_links=True))
    for run in scan:
        if isinstance(run, UnreadableRegion):
            _check_end(run)
            continue
        assert isinstance(run, BatchRun)
        columns = zip(*(getattr(run, name).tolist() for name in BATCH_COLUMNS), strict=True)
        ends = (run.position + run.size_in_bytes).tolist()
        for number, batch in enumerate(columns):
            if max_bytes is not None and ends[number] > max_bytes:
                return
            yield _batch_line(path, *batch)
            if records is not None:
                yield from records.of_batch(path, run, number)
    trailing = Path(path).stat().st_size - scan.end_position
    if trailing > 0 and max_bytes is None:
        yield f"Found {trailing} invalid bytes at the end of {shown(Path(path).name)}"


def _batch_line(
    path: str, base_offset: int, last_offset: int, records_count: int, base_sequence: int,
    last_offset_delta: int, producer_id: int, producer_epoch: int, leader_epoch: int,
    attributes: int, base_timestamp: int, position: int, max_timestamp: int, size_in_bytes: int,
    magic: int, crc: int, crc_computed: int, timestamp_type: int,
) -> str:  # fmt: skip
    codec = attributes & CODEC_MASK
    if codec >= len(CODECS):
        where = LogPosition(shown(path), position, base_offset)
        raise UnsupportedFormatError(unknown_codec_text(codec, magic), where)
    common = (
        f"position: {position} {TIMESTAMP_TYPE_NAMES[timestamp_type]}: {max_timestamp} "
        f"size: {size_in_bytes} magic: {magic} compresscodec: {CODECS[codec]} crc: {crc} "
        f"isvalid: {_word(crc == crc_computed)}"
    )
    if magic < _FIRST_WITH_BATCHES:
        return f"offset: {last_offset} {common}"
    horizon = base_timestamp if attributes & DELETE_HORIZON_BIT else -1
    return (
        f"baseOffset: {base_offset} lastOffset: {last_offset} count: {records_count} "
        f"baseSequence: {base_sequence} "
        f"lastSequence: {sequence_after(base_sequence, last_offset_delta)} "
        f"producerId: {producer_id} producerEpoch: {producer_epoch} "
        f"partitionLeaderEpoch: {leader_epoch} "
        f"isTransactional: {_word(attributes & TRANSACTIONAL_BIT)} "
        f"isControl: {_word(attributes & CONTROL_BIT)} deleteHorizonMs: {optional_long(horizon)} "
        f"{common}"
    )


def _word(yes: int) -> str:
    return "true" if yes else "false"


def _check_end(region: UnreadableRegion) -> None:
    """Raise the error at which Kafka's tool stops; it just counts bytes after the last batch."""
    if region.is_unfinished:
        return
    if region.end is ScanEnd.IMPOSSIBLE_LENGTH:
        raise CorruptRecordError(region.problem, region.where)
    raise UnsupportedFormatError(region.problem, region.where)
