"""Where the log of a replica ends, found from its last segment."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.small_file import small_log
from kafkalog_reader.io.window import Windows
from kafkalog_reader.kernel import record_batches
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import TOLERANT, Scan, ScanPolicy
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.scan.unreadable_region import UnreadableRegion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_TAIL: Final = ScanPolicy(tolerant=False, window_size=256 << 10)
_ONE_BATCH: Final = ScanPolicy(tolerant=False, window_size=32 << 10)
_INDEX_ENTRIES_TRIED: Final = 4
_BATCHES_AT_ONCE: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTail:
    """Where the log of one replica ends, by its batches.

    Attributes:
        next_offset: the log end offset, up to the first batch whose CRC or length is wrong.
        last_leader_epoch: of the last batch; None without batches.
        end: why the log ends there.
        end_position: in the last segment, the first byte that belongs to no sound batch.
        last_position: of the last sound batch in the last segment; None when that has none.
    """

    next_offset: int
    last_leader_epoch: int | None
    end: ScanEnd
    end_position: int
    last_position: int | None


def scan_tail(directory: PartitionDirectory) -> LogTail:
    """Find the end of a replica's log from its last segment, without reading what lies before.

    The offset index only says where to begin: an entry counts if a batch with a correct CRC lies
    there; otherwise the segment is scanned from its start.

    Raises:
        UnreadableFileError: a file cannot be opened or read.
    """
    found = [segment for segment in segments(directory) if segment.log_size is not None]
    if not found:
        return LogTail(
            next_offset=0,
            last_leader_epoch=None,
            end=ScanEnd.COMPLETE,
            end_position=0,
            last_position=None,
        )
    tail = _segment_tail(found[-1], context=directory.context)
    if tail.last_leader_epoch is not None:
        return tail
    leader_epoch = None
    for segment in reversed(found[:-1]):  # a segment just rolled is empty
        if leader_epoch is not None:
            break
        before = _segment_tail(segment, context=directory.context)
        leader_epoch = before.last_leader_epoch
    return replace(tail, last_leader_epoch=leader_epoch)


def end_after_damage(directory: PartitionDirectory, tail: LogTail) -> LogTail:
    """The end of the log after damage: the last batch that is still on disk, as audits count it.

    A batch with a wrong CRC counts if its length leads to the next one. Only a damaged last segment
    is read, from the damage on.

    Args:
        directory: the replica.
        tail: its log end before any damage, where readers stop.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    if tail.end in (ScanEnd.COMPLETE, ScanEnd.ZEROS):
        return tail
    last = [segment for segment in segments(directory) if segment.log_size is not None][-1]
    for run in Scan(last, TOLERANT, tail.end_position, context=directory.context).runs():
        tail = replace(
            tail,
            next_offset=max(tail.next_offset, int(run.last_offset[-1]) + 1),
            end_position=int(run.position[-1]) + int(run.size_in_bytes[-1]),
            last_position=int(run.position[-1]),
            last_leader_epoch=int(run.leader_epoch[-1]),
        )
    return tail


def last_timestamp(directory: PartitionDirectory, tail: LogTail) -> int | None:
    """The timestamp of the last batch in milliseconds; None if the last segment has none.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    if tail.last_position is None:
        return None
    last = [segment for segment in segments(directory) if segment.log_size is not None][-1]
    run = next(Scan(last, _ONE_BATCH, tail.last_position, context=directory.context).runs(), None)
    return None if run is None or not run.count else int(run.max_timestamp[0])


def _segment_tail(segment: SegmentFiles, *, context: ReadContext) -> LogTail:
    content = small_log(segment, context=context)
    if content is not None:  # as it is in most copies of a partition: one of them is looked at
        tail = context.once(("sound tail", content), lambda: _sound_tail(content, 0))
        if tail is not None:
            return tail
    start = _last_confirmed_position(segment, context=context)
    return _short_tail(segment, start, context=context) or _scanned_tail(
        segment, start, context=context
    )


def _short_tail(segment: SegmentFiles, start: int, *, context: ReadContext) -> LogTail | None:
    """The end of a log of which little is left, all of it sound; else None."""
    with Windows(segment.path("log"), start, size=_TAIL.window_size, context=context) as windows:
        if not 0 < windows.stop - windows.start <= _TAIL.window_size:
            return None
        return _sound_tail(windows.read(windows.start), start)


def _sound_tail(window: memoryview | bytes, start: int) -> LogTail | None:
    """The end of a log by its last bytes; None if they are not all of sound batches.

    A fleet has a hundred thousand of them: the columns are used again.
    """
    with _columns() as columns:
        count, valid, stop, _ = record_batches.scan_batches(
            window, 0, len(window), start, True, columns, columns.count
        )
        if count == 0 or valid < count or stop < len(window):
            return None
        return LogTail(
            next_offset=int(columns.last_offset[count - 1]) + 1,
            last_leader_epoch=int(columns.leader_epoch[count - 1]),
            end=ScanEnd.COMPLETE,
            end_position=start + stop,
            last_position=int(columns.position[count - 1]),
        )


_idle: Final[list[BatchRun]] = []
"""Columns that nobody fills, one a thread at most.

Not in a ``threading.local``: DuckDB calls from threads whose Python state ends with each call, and
CPython 3.11 crashes when that frees Arrow's memory.
"""


@contextmanager
def _columns() -> Iterator[BatchRun]:
    try:
        columns = _idle.pop()
    except IndexError:
        columns = BatchRun.with_room(memoryview(b""), 0, _BATCHES_AT_ONCE)
    yield columns
    _idle.append(columns)


def _scanned_tail(segment: SegmentFiles, start: int, *, context: ReadContext) -> LogTail:
    scan = Scan(segment, _TAIL, start, context=context)
    next_offset, leader_epoch, last_position = segment.base_offset, None, None
    end = ScanEnd.COMPLETE
    for run in scan:
        if isinstance(run, UnreadableRegion):
            end = run.end
            continue
        assert isinstance(run, BatchRun)
        sound = int(np.argmin(np.append(run.crc_valid, False)))
        if sound:
            next_offset = int(run.last_offset[sound - 1]) + 1
            leader_epoch = int(run.leader_epoch[sound - 1])
            last_position = int(run.position[sound - 1])
        if sound < run.count:
            end, end_position = ScanEnd.WRONG_CRC, int(run.position[sound])
            break
    else:
        end_position = scan.end_position
    return LogTail(
        next_offset=next_offset,
        last_leader_epoch=leader_epoch,
        end=end,
        end_position=end_position,
        last_position=last_position,
    )


def _last_confirmed_position(segment: SegmentFiles, *, context: ReadContext) -> int:
    if not segment.offset_index_size:
        return 0
    with SparseIndex(segment, context=context) as index:
        for number in range(len(index) - 1, max(-1, len(index) - 1 - _INDEX_ENTRIES_TRIED), -1):
            position = index[number][1]
            if batch_starts_at(segment, position, context=context):
                return position
    return 0


def batch_starts_at(
    segment: SegmentFiles,
    position: int,
    *,
    context: ReadContext,
    up_to_offset: int | None = None,
    from_offset: int | None = None,
) -> bool:
    """Whether a batch of this segment with a sound CRC lies at ``position``.

    To look for an offset, pass it as ``up_to_offset``: a batch that starts after it would hide
    it. Indexes of a replica that was truncated keep entries of what was cut (their bytes stay when
    Kafka's AbstractIndex#truncateToEntries moves its end), and later batches may start there. To
    leave out what follows an offset, pass it as ``from_offset``.
    """
    if segment.log_size is None or not 0 <= position < segment.log_size:
        return False
    run = next(Scan(segment, _ONE_BATCH, position, context=context).runs(), None)
    return (
        run is not None
        and bool(run.crc_valid[0])
        and int(run.base_offset[0]) >= segment.base_offset
        and (up_to_offset is None or int(run.base_offset[0]) <= up_to_offset)
        and (from_offset is None or int(run.base_offset[0]) >= from_offset)
    )
