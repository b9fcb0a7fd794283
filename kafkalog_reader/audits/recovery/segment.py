"""Simulates one segment while a broker starts: what recovery keeps, where the broker sees its end.

Source: Kafka 4.3, storage.internals.log.LogSegment (recover, readNextOffset) and AbstractIndex.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.recovery.batches import (
    CURRENT_READING,
    BatchWalk,
    Reading,
    WalkEnd,
    following,
)
from kafkalog_reader.audits.recovery.index import (
    HeldEntries,
    index_lookup,
    last_entry_lookup,
)
from kafkalog_reader.audits.recovery.index_interval import possible_intervals
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.rebuilt_index import may_be_full, rebuild_index
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
        recovered: the result of recovery, or of a split; None if there was none.
        index: the offset index that the start wrote; None while it is the one on disk, and where
            offsets rise, because a search from the start of the segment then finds the same.
        reading: how the broker's release reads log files.
        overlaps: whether a search met a batch that begins below the end of the one before it, so
            that releases may find different ones.
    """

    files: SegmentFiles
    base_offset: int
    start: int
    stop: int
    context: ReadContext
    recovered: Recovered | None = None
    index: HeldEntries | None = None
    reading: Reading = CURRENT_READING
    overlaps: bool = False

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

    @property
    def has_own_index(self) -> bool:
        """Whether its index is the one on disk."""
        return self.recovered is None and self.index is None

    def walk(
        self, position: int, *, check_crc: bool, progress: Progress, check_markers: bool = False
    ) -> BatchWalk:
        """Walk its batches from a position on."""
        return BatchWalk(
            self.path,
            self.start + position,
            self.stop,
            check_crc=check_crc,
            progress=progress,
            context=self.context,
            reading=self.reading,
            check_markers=check_markers,
        )

    def cut(self, stop: int) -> LoadingSegment:
        """The part before a position, without an index."""
        return replace(self, stop=stop, recovered=None, index=HeldEntries())

    def lookup(self, offset: int) -> int:
        """The position from which a search for an offset begins.

        Raises:
            UnreadableFileError: the index cannot be opened or read.
        """
        if self.index is not None:
            found = self.index.lookup(offset - self.base_offset)
        elif self.recovered is not None or self.files.offset_index_size is None:
            found = 0
        else:
            found = index_lookup(self.files, offset, context=self.context)
        return max(found, 0)  # LogSegment#translateOffset treats a negative entry as the start

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
        snapshot_offset: where a producer snapshot is taken, one past the last batch of magic 2;
            None without such a batch.
        index: the offset index; None if offsets rise and recovery ends without an error.
        problem: why it is cut; empty if it is not.
        overflows: an offset does not fit into an index entry, at which recovery fails.
        falls: offsets fall where an index needs them to rise, at which recovery fails.
        is_full: an index needs more entries than it can hold, which ends the broker.
        may_fail_otherwise, may_end_otherwise: whether ``falls`` and ``next_offset`` depend on
            ``index.interval.bytes``, which is not known.
    """

    stop: int
    next_offset: int
    greatest_offset: int
    greatest_timestamp: int
    cache: LeaderEpochCache
    snapshot_offset: int | None = None
    index: HeldEntries | None = None
    problem: str = ""
    overflows: bool = False
    falls: bool = False
    is_full: bool = False
    may_fail_otherwise: bool = False
    may_end_otherwise: bool = False


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
        StartFailure: what the broker reads ends it.
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
    intervals: tuple[int, ...] = (config.index_interval,)
    if not (state.rises or config.is_interval_known):  # else its entries do not matter
        walk = segment.cut(state.stop).walk(0, check_crc=False, progress=no_progress)
        intervals = possible_intervals(
            walk, segment.files, config.index_interval, context=segment.context
        )
    first, *others = (
        _indexed(segment, cache, state, replace(config, index_interval=each), progress)
        for each in intervals
    )
    return replace(
        first,
        may_fail_otherwise=any(each.falls != first.falls for each in others),
        may_end_otherwise=any(each.next_offset != first.next_offset for each in others),
    )


def _indexed(
    segment: LoadingSegment,
    cache: LeaderEpochCache,
    state: _Recovery,
    config: LogConfig,
    progress: Progress,
) -> Recovered:
    """The result of a recovery with the indexes that it makes of the batches."""
    found = state.recovered()
    is_indexed = not state.rises or state.overflows
    if not (is_indexed or may_be_full(state.stop - segment.start, config)):
        return found
    kept = segment.cut(state.stop)
    index = rebuild_index(
        kept.walk(0, check_crc=False, progress=no_progress),
        segment.base_offset,
        config,
        ends=not state.overflows,
    )
    if index.is_full:
        return replace(found, is_full=True)
    if index.refused_at is not None:  # before the batch at which the log is cut or overflows
        state = _Recovery(segment, cache)
        for batches in segment.cut(index.refused_at).walk(0, check_crc=False, progress=progress):
            if state.add(batches):
                break
        return replace(state.recovered(), falls=True, index=index.entries)
    if not is_indexed:
        return found
    kept.index = index.entries
    next_offset = found.next_offset if state.overflows else read_next_offset(kept, progress)
    segment.overlaps |= kept.overlaps
    return replace(found, next_offset=next_offset, index=index.entries)


def emptied(segment: LoadingSegment, found: Recovered, progress: Progress) -> Recovered:
    """Cut a segment whose indexes refused an entry where a search for its base offset ends.

    That is its start, unless damage changed the first base offsets; then batches stay, or all of
    them. The indexes are empty afterwards. Source: Kafka 4.3, LogLoader#recoverLog,
    LogSegment#truncateTo.

    Raises:
        StartFailure: what the broker reads ends it.
        UnreadableFileError: the file cannot be opened or read.
    """
    segment.index, segment.recovered = found.index, None
    position = search(segment, segment.base_offset, progress)
    stop = segment.stop if position is None else segment.start + position
    kept = segment.cut(stop)
    state = _Recovery(kept, found.cache)
    for batches in kept.walk(0, check_crc=False, progress=progress):
        if state.add(batches):
            break
    return replace(
        state.recovered(),
        stop=stop,
        overflows=False,
        cache=found.cache,
        next_offset=read_next_offset(kept, progress),
        index=HeldEntries(),
        snapshot_offset=None,
        problem="",
    )


class _Recovery:
    """The progress of a recovery."""

    def __init__(self, segment: LoadingSegment, cache: LeaderEpochCache) -> None:
        self.cache = cache
        self.snapshot_offset: int | None = None
        self.stop = segment.start
        self.next_offset = segment.base_offset
        self.greatest_timestamp = -1
        self.problem = ""
        self.overflows = False
        self.rises = True
        self._path = shown(segment.path)
        self._base_offset = segment.base_offset
        self._last_offset = self.greatest_offset = segment.base_offset - 1

    def take_known(self, known: ReadSegment) -> None:
        """Begin after the bytes that were found sound."""
        self.cache = known.recovered_cache(self.cache)
        self.stop += known.sound_bytes
        self.next_offset = known.next_offset
        self.greatest_timestamp = known.greatest_timestamp
        self.snapshot_offset = known.next_offset if known.sound_bytes else None
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

    def recovered(self) -> Recovered:
        """The result, with indexes that take every entry."""
        return Recovered(
            stop=self.stop,
            next_offset=self.next_offset,
            greatest_offset=self.greatest_offset,
            greatest_timestamp=self.greatest_timestamp,
            cache=self.cache,
            snapshot_offset=self.snapshot_offset,
            problem=self.problem,
            overflows=self.overflows,
        )

    def _take(self, batches: StoredBatches) -> None:
        if not len(batches):
            return
        before = np.append(self._last_offset, batches.last_offset[:-1])
        self.rises &= bool((batches.last_offset > before).all())
        self._last_offset = int(batches.last_offset[-1])
        self.greatest_offset = max(self.greatest_offset, int(batches.last_offset.max()))
        self.next_offset = following(self._last_offset)
        self.stop = int(batches.position[-1] + batches.size_in_bytes[-1])
        self.greatest_timestamp = max(self.greatest_timestamp, int(batches.max_timestamp.max()))
        latest = self.cache.latest
        newest_before = -1 if latest is None else latest.leader_epoch
        epochs = np.append(newest_before, batches.leader_epoch)
        begins = np.flatnonzero(epochs[1:] > running_maximum(epochs)[:-1])
        current = np.flatnonzero(~batches.is_old)
        if len(current):
            self.snapshot_offset = following(int(batches.last_offset[current[-1]]))
        if len(begins) and batches.base_offset[begins].min() < 0:
            raise StartFailure(f"{self._path}: a leader epoch begins at a negative offset")
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
    if segment.index is not None:
        target, position = segment.index.last_lookup(segment.base_offset)
    elif segment.files.offset_index_size is None:  # of a .swap: created again, and empty
        target, position = segment.base_offset, 0
    else:
        target, position = last_entry_lookup(segment.files, context=segment.context)
    return _next_offset_from(segment, target, max(position, 0), progress)


def _next_offset_from(
    segment: LoadingSegment, target: int, position: int, progress: Progress
) -> int:
    """One past the last batch if a search from a position finds the offset; else the base."""
    if position >= segment.size_in_bytes:
        return segment.base_offset
    found, last_offset = False, segment.base_offset - 1
    walk = segment.walk(position, check_crc=False, progress=progress)
    for batches in walk:
        segment.overlaps |= _overlap(batches)
        if not found:
            if segment.reading.decompresses:
                _check_messages(segment, batches)
            is_last = segment.reading.finds_by_last_offset
            reached = batches.last_offset if is_last else batches.base_offset
            found = bool((reached >= target).any())
        last_offset = int(batches.last_offset[-1])
    next_offset = following(last_offset)
    if walk.end is WalkEnd.TOO_SMALL:
        raise StartFailure(f"{segment.where(walk.end_position, next_offset)}: {walk.problem}")
    found = found or last_offset >= target
    return next_offset if found else segment.base_offset


def search(
    segment: LoadingSegment, offset: int, progress: Progress, purpose: str = ""
) -> int | None:
    """The position of the batch that a search for an offset finds; None if it finds none.

    Args:
        segment: the segment.
        offset: the offset.
        progress: receives the number of bytes read.
        purpose: of the search, for the message of a failure.

    Raises:
        StartFailure: what the broker reads there ends it.
        UnreadableFileError: a file cannot be opened or read.

    Source: Kafka 4.1, FileRecords#searchForOffsetFromPosition; before, #searchForOffsetWithSize.
    """
    position = segment.lookup(offset)
    if position >= segment.size_in_bytes:
        return None
    before: tuple[int, int] | None = None
    walk = segment.walk(position, check_crc=False, progress=progress)
    for batches in walk:
        segment.overlaps |= _overlap(batches)
        is_last = segment.reading.finds_by_last_offset
        offsets = batches.last_offset if is_last else batches.base_offset
        reached = np.flatnonzero(offsets >= offset)
        first = int(reached[0]) if len(reached) else len(batches)
        if segment.reading.decompresses:
            _check_messages(segment, batches.first(min(first + 1, len(batches))))
        positions, last_offsets = batches.position, batches.last_offset
        if first > 0:
            before = int(positions[first - 1]), int(last_offsets[first - 1])
        if first == len(batches):
            continue
        if not is_last and batches.base_offset[first] > offset and before and before[1] >= offset:
            return before[0] - segment.start
        return int(positions[first]) - segment.start
    if walk.end is WalkEnd.TOO_SMALL:
        next_offset = segment.base_offset if before is None else before[1] + 1
        where = segment.where(walk.end_position, next_offset)
        raise StartFailure(", ".join(filter(None, (f"{where}: {walk.problem}", purpose))))
    if before is not None and before[1] >= offset:  # by base offsets
        return before[0] - segment.start
    return None


def _overlap(batches: StoredBatches) -> bool:
    """Whether a batch begins below the end of the one before it."""
    return bool((batches.base_offset[1:] <= batches.last_offset[:-1]).any())


def _check_messages(segment: LoadingSegment, batches: StoredBatches) -> None:
    """Decompress old wrappers, as a search does to find their base offsets."""
    for batch in np.flatnonzero(~batches.is_sound).tolist():
        where = segment.where(int(batches.position[batch]), int(batches.base_offset[batch]))
        raise StartFailure(f"{where}: read as an old wrapper message, which it is not")
