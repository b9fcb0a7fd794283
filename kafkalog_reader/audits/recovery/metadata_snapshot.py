"""What a start reads of the newest snapshot of the metadata log: all, less without a word, or none.

A node loads the snapshot with the highest end offset, and none other in its place. It checks each
batch's CRC, but not that the footer is there: a file that ends inside a batch, or between two, ends
the snapshot like the footer does. Only the first batch, the header, must be whole. Source: Kafka
4.4, RecordsIterator, ByteBufferLogInputStream, RecordsSnapshotReader and
KRaftControlRecordStateMachine, which reads it before every other part of a node since 3.8.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import metadata_snapshots
from kafkalog_reader.io.window import Windows
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.scan import Scan, ScanPolicy
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory

_SOUND: Final = ScanPolicy(tolerant=False)
_REQUEST: Final = ReadRequest(columns=("controlType",), include_control_records=True)
_SCHEMA: Final = RecordsTable().projected(_REQUEST)
_LOG_OVERHEAD: Final = 12
"""Bytes of base offset and length, before what the length counts."""
_SIZE_UP_TO_MAGIC: Final = 17
_MIN_LENGTH: Final = 14
_LAST_MAGIC: Final = 2


class SnapshotEnd(Enum):
    """How the reading of a snapshot ends."""

    WHOLE = "whole"
    """With its footer."""
    SHORT = "short"
    """Before its footer, without an error: the node goes on with what was read until there."""
    REFUSED = "refused"
    """With an exception, and nothing of the snapshot is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRead:
    """The newest snapshot as a start reads it.

    Attributes:
        end_offset: the metadata below is in it.
        loaded: its bytes that are loaded.
        end: how the reading ends.
        problem: what is wrong; empty if nothing is.
        position: of the problem.
        stops_brokers: since 3.8 it also ends brokers that are no controllers. They read a file
            without a whole batch as one without records, and only the loader fails, which a broker
            survives with the log above the snapshot.
    """

    end_offset: int
    loaded: SegmentSlice
    end: SnapshotEnd
    problem: str = ""
    position: int | None = None
    stops_brokers: bool = False

    @property
    def where(self) -> LogPosition:
        """The place of the problem."""
        return LogPosition(shown(self.loaded.path), self.position)


class _Stop(NamedTuple):
    position: int
    end: SnapshotEnd
    problem: str
    stops_brokers: bool = True


def newest_snapshot(directory: PartitionDirectory) -> SnapshotRead | None:
    """Read the headers, checksums and control records of the newest snapshot; None without one.

    Raises:
        LocatedError: its batches are sound, and their content is not readable here.
        UnreadableFileError: the directory or the file cannot be read.
    """
    return directory.context.once(("newest snapshot", directory.path), lambda: _read(directory))


def _read(directory: PartitionDirectory) -> SnapshotRead | None:
    found = [
        (end, each) for end, each in metadata_snapshots(directory) if each.log_size is not None
    ]
    if not found:
        return None
    end_offset, segment = found[-1]
    whole = SegmentSlice.whole(directory, segment, is_log_end=True)
    stop = _stop(whole)
    loaded = whole if stop is None else replace(whole, stop=stop.position)
    types = _control_types(loaded)
    if stop is None or stop.end is SnapshotEnd.SHORT:
        if types and types[0] != ControlType.SNAPSHOT_HEADER.name:
            stop = _Stop(0, SnapshotEnd.REFUSED, "its first record is not a snapshot header")
        elif stop is None and types[-1:] != [ControlType.SNAPSHOT_FOOTER.name]:
            stop = _Stop(loaded.stop, SnapshotEnd.SHORT, "it ends before its footer")
    if stop is None:
        return SnapshotRead(end_offset=end_offset, loaded=whole, end=SnapshotEnd.WHOLE)
    if stop.end is SnapshotEnd.REFUSED:
        loaded = replace(whole, stop=0)
    return SnapshotRead(
        end_offset=end_offset, loaded=loaded, end=stop.end, problem=stop.problem,
        position=stop.position, stops_brokers=stop.stops_brokers,
    )  # fmt: skip


def _stop(whole: SegmentSlice) -> _Stop | None:
    """Where reading ends before the end of the file; None if every byte is of a sound batch."""
    if whole.stop == 0:
        return _Stop(0, SnapshotEnd.REFUSED, "it is empty", stops_brokers=False)
    for run in Scan(whole.segment, _SOUND, context=whole.directory.context):
        if isinstance(run, UnreadableRegion):
            return _broken(whole, run.start, run.problem)
        assert isinstance(run, BatchRun)
        sound = int(np.argmin(np.append(run.crc_valid, False)))
        if sound < run.count:
            return _Stop(int(run.position[sound]), SnapshotEnd.REFUSED, "wrong CRC")
    return None


def _broken(whole: SegmentSlice, position: int, problem: str) -> _Stop:
    """What Kafka makes of bytes that are no whole batch.

    Where the file ends before what a header announces, it sees the end of the records.
    """
    with Windows(whole.path, context=whole.directory.context) as window:
        header = bytes(window.read(position, at_most=_SIZE_UP_TO_MAGIC))[:_SIZE_UP_TO_MAGIC]
    ends_silently = len(header) < _LOG_OVERHEAD
    if not ends_silently:
        (length,) = struct.unpack_from(">i", header, 8)
        is_possible = length >= _MIN_LENGTH and (
            len(header) < _SIZE_UP_TO_MAGIC or 0 <= header[-1] <= _LAST_MAGIC
        )
        ends_silently = is_possible and position + _LOG_OVERHEAD + length > whole.stop
    if ends_silently and position:
        return _Stop(position, SnapshotEnd.SHORT, "it ends inside a batch")
    if ends_silently:
        problem = "it ends inside its first batch, the header"
        is_short = len(header) < _SIZE_UP_TO_MAGIC  # NullPointerException
        return _Stop(0, SnapshotEnd.REFUSED, problem, stops_brokers=is_short)
    return _Stop(position, SnapshotEnd.REFUSED, problem)


def _control_types(loaded: SegmentSlice) -> list[str | None]:
    """The control types of the first and the last record."""
    found: list[str | None] = []
    if loaded.stop == 0:
        return found
    for rows in read_slice(loaded, _SCHEMA, _REQUEST, Damage(Mode.FAILFAST)):
        if rows.num_rows:
            ends = rows["controlType"][0].as_py(), rows["controlType"][-1].as_py()
            found = [*(found[:1] or ends[:1]), ends[1]]
    return found
