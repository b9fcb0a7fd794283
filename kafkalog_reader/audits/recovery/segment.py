"""Simulates one segment while a broker starts: what recovery keeps, where the broker sees its end.

Source: Kafka 4.3, storage.internals.log.LogSegment (recover, readNextOffset) and AbstractIndex.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.recovery.batches import CURRENT_READING, BatchWalk, Reading, WalkEnd
from kafkalog_reader.audits.recovery.index import last_entry_lookup
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.rebuilt_index import RebuiltIndex, may_be_full, rebuild_index
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.io.interrupted_swap import settle_swaps
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.running_maximum import running_maximum

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.batches import StoredBatches
    from kafkalog_reader.audits.recovery.rule import LogConfig
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_MAX_OFFSETS: Final = 2**31 - 1


@dataclass(slots=True, kw_only=True)
class LoadingSegment:
    """A segment in the state that a starting broker gives it; the file itself is not changed.

    Attributes:
        start, stop: positions of the part of the file that belongs to it: recovery cuts, a split
            divides.
        recovered: the result of recovery; None while its index is the one on disk.
        reading: how the broker's release reads log files.
    """

    files: SegmentFiles
    base_offset: int
    start: int
    stop: int
    context: ReadContext
    recovered: Recovered | None = None
    reading: Reading = CURRENT_READING

    @classmethod
    def of(
        cls,
        files: SegmentFiles,
        directory: PartitionDirectory,
        reading: Reading = CURRENT_READING,
    ) -> LoadingSegment:
        """A segment of a replica, as it is on disk; empty if it has no log file."""
        return cls(
            files=files,
            base_offset=files.base_offset,
            start=0,
            stop=files.log_size or 0,
            context=directory.context,
            reading=reading,
        )

    @property
    def path(self) -> str:
        return self.files.path("log")

    @property
    def size_in_bytes(self) -> int:
        return self.stop - self.start

    def walk(self, position: int, *, check_crc: bool, progress: Progress) -> BatchWalk:
        """Walk its batches from a position on."""
        return BatchWalk(
            self.path,
            self.start + position,
            self.stop,
            check_crc=check_crc,
            progress=progress,
            context=self.context,
            reading=self.reading,
        )

    def where(self, position: int, offset: int | None = None) -> LogPosition:
        """A place in it, for messages."""
        return LogPosition(shown(self.path), position, offset)


def loading_segments(
    directory: PartitionDirectory, reading: Reading = CURRENT_READING
) -> list[LoadingSegment]:
    """The segments of a replica after the start has completed or discarded interrupted swaps.

    Raises:
        StartFailure: a ``.swap`` makes the broker fail.
        UnreadableFileError: a ``.swap`` cannot be read.
    """

    def loading(files: SegmentFiles) -> LoadingSegment:
        return LoadingSegment.of(files, directory, reading)

    found = readable_segments(directory, live_only=False)
    if directory.only is not None or not any(files.suffix == "swap" for files in found):
        found = readable_segments(directory)
    else:  # LogLoader#load uses the index of the .swap, whatever its content
        found = settle_swaps(found, lambda files: read_next_offset(loading(files), no_progress))
    return [loading(files) for files in found if files.log_size is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The result of recovering a segment.

    Attributes:
        stop: the first position that is cut.
        next_offset: one past the last offset kept; the segment's base if nothing is kept.
        greatest_offset: the greatest offset kept, which is not the last one if offsets fall.
        greatest_timestamp: -1 without batches.
        cache: with the leader epochs that were found.
        problem: why it is cut; empty if it is not.
        overflows: an offset does not fit into an index entry, at which recovery fails.
        falls: offsets fall where the index needs them to rise, which empties the segment.
        is_full: an index needs more entries than it can hold, which ends the broker.
    """

    stop: int
    next_offset: int
    greatest_offset: int
    greatest_timestamp: int
    cache: LeaderEpochCache
    problem: str = ""
    overflows: bool = False
    falls: bool = False
    is_full: bool = False


def recover(
    segment: LoadingSegment,
    cache: LeaderEpochCache,
    config: LogConfig,
    progress: Progress,
    known: ReadSegment | None = None,
) -> Recovered:
    """Walk the batches until one is bad.

    Args:
        segment: the segment; all bytes of its file if ``known`` is given.
        cache: the leader epochs before the segment.
        config: the topic's, for the indexes that are rebuilt.
        progress: receives the number of bytes read.
        known: the result of an earlier reading, whose sound bytes are not read again.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    state = _Recovery(segment, cache)
    if known is not None:
        state.take_known(known)
    if state.stop < segment.stop:
        walk = segment.walk(state.stop - segment.start, check_crc=True, progress=progress)
        for batches in walk:
            if state.add(batches):
                break
        else:
            if walk.problem:
                state.stop, state.problem = walk.end_position, walk.problem
    if state.problem:
        state.problem = f"{segment.where(state.stop, state.next_offset)}: {state.problem}"
    next_offset, index = state.next_offset, RebuiltIndex()
    if not state.rises or may_be_full(state.stop - segment.start, config):
        kept = replace(segment, stop=state.stop)
        walk = kept.walk(0, check_crc=False, progress=no_progress)
        index = rebuild_index(walk, segment.base_offset, config)
        if not (state.rises or index.refuses or index.is_full):
            target = (segment.base_offset, 0) if index.last_entry is None else index.last_entry
            next_offset = _next_offset_from(kept, *target, progress)
    return Recovered(
        stop=state.stop,
        next_offset=next_offset,
        greatest_offset=state.greatest_offset,
        greatest_timestamp=state.greatest_timestamp,
        cache=state.cache,
        problem=state.problem,
        overflows=state.overflows,
        falls=index.refuses,
        is_full=index.is_full,
    )


class _Recovery:
    """The progress of a recovery."""

    def __init__(self, segment: LoadingSegment, cache: LeaderEpochCache) -> None:
        self.cache = cache
        self.stop = segment.start
        self.next_offset = segment.base_offset
        self.greatest_timestamp = -1
        self.problem = ""
        self.overflows = False
        self.rises = True
        self._base_offset = segment.base_offset
        self._last_offset = self.greatest_offset = segment.base_offset - 1

    def take_known(self, known: ReadSegment) -> None:
        """Begin after the bytes that were found sound."""
        self.cache = known.recovered_cache(self.cache)
        self.stop += known.sound_bytes
        self.next_offset = known.next_offset
        self.greatest_timestamp = known.greatest_timestamp
        self._last_offset = self.greatest_offset = known.next_offset - 1

    def add(self, batches: StoredBatches) -> bool:
        """Add batches up to the first bad one; return whether there was one."""
        relative_offset = batches.last_offset - self._base_offset
        fits = (relative_offset >= 0) & (relative_offset <= _MAX_OFFSETS)
        good = int(np.argmin(np.append(batches.is_sound & fits, False)))
        if good < len(batches):
            self.overflows = bool(batches.is_sound[good])
            self.problem = (
                f"offset {batches.last_offset[good]} is not within 2^31 of the segment's base"
                if self.overflows
                else "the CRC is wrong"
            )
        self._take(batches.first(good))
        return good < len(batches)

    def _take(self, batches: StoredBatches) -> None:
        if not len(batches):
            return
        before = np.append(self._last_offset, batches.last_offset[:-1])
        self.rises &= bool((batches.last_offset > before).all())
        self._last_offset = int(batches.last_offset[-1])
        self.greatest_offset = max(self.greatest_offset, int(batches.last_offset.max()))
        self.next_offset = self._last_offset + 1
        self.stop = int(batches.position[-1] + batches.size_in_bytes[-1])
        self.greatest_timestamp = max(self.greatest_timestamp, int(batches.max_timestamp.max()))
        latest = self.cache.latest
        newest_before = -1 if latest is None else latest.leader_epoch
        epochs = np.append(newest_before, batches.leader_epoch)
        begins = np.flatnonzero(epochs[1:] > running_maximum(epochs)[:-1])
        begun = batches.leader_epoch[begins].tolist(), batches.base_offset[begins].tolist()
        self.cache = self.cache.assign_all(zip(*begun, strict=True))


def read_next_offset(segment: LoadingSegment, progress: Progress) -> int:
    """The end of a segment as the broker sees it, which reads from the last index entry on.

    Raises:
        StartFailure: what the broker reads there ends it.
        UnreadableFileError: a file cannot be opened or read.
    """
    if segment.recovered is not None:
        return segment.recovered.next_offset
    if segment.files.offset_index_size is None:  # of a .swap: created again, and empty
        return _next_offset_from(segment, segment.base_offset, 0, progress)
    target, position = last_entry_lookup(segment.files, context=segment.context)
    # LogSegment#translateOffset treats a negative entry as the start
    return _next_offset_from(segment, target, max(position, 0), progress)


def _next_offset_from(
    segment: LoadingSegment, target: int, position: int, progress: Progress
) -> int:
    """One past the last batch if a search from a position finds the offset; else the base."""
    if position >= segment.size_in_bytes:
        return segment.base_offset
    found, next_offset = False, segment.base_offset
    walk = segment.walk(position, check_crc=False, progress=progress)
    for batches in walk:
        if not found:
            if segment.reading.decompresses:
                _check_messages(segment, batches)
            is_last = segment.reading.finds_by_last_offset
            reached = batches.last_offset if is_last else batches.base_offset
            found = bool((reached >= target).any())
        next_offset = int(batches.last_offset[-1]) + 1
    if walk.end is WalkEnd.TOO_SMALL:
        raise StartFailure(f"{segment.where(walk.end_position, next_offset)}: {walk.problem}")
    found = found or next_offset > target
    return next_offset if found else segment.base_offset


def _check_messages(segment: LoadingSegment, batches: StoredBatches) -> None:
    """Decompress old wrappers, as a search does to find their base offsets."""
    for batch in np.flatnonzero(~batches.is_sound).tolist():
        where = segment.where(int(batches.position[batch]), int(batches.base_offset[batch]))
        raise StartFailure(f"{where}: read as an old wrapper message, which it is not")
