"""Rebuilds the indexes of a segment as recovery does, and finds what makes that fail.

Source: Kafka 4.3, LogSegment#recover, OffsetIndex#append, TimeIndex#maybeAppend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.recovery.index import HeldEntries
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY, TIME_INDEX_ENTRY
from kafkalog_reader.tables.running_maximum import running_maximum

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.batches import BatchWalk
    from kafkalog_reader.audits.recovery.rule import LogConfig

ENTRY_SIZES: Final = {"index": OFFSET_INDEX_ENTRY.size, "timeindex": TIME_INDEX_ENTRY.size}


@dataclass(frozen=True, slots=True)
class RebuiltIndex:
    """The state of both indexes after the last batch, or before the first that they refuse.

    Attributes:
        entries: of the offset index.
        refused_at: position of the batch whose entry would not rise, or the end if the last entry
            of the time index would not, which is made there; None if every entry rises.
        is_full: whether there is no room for an entry.
    """

    entries: HeldEntries
    refused_at: int | None = None
    is_full: bool = False


def may_be_full(size_in_bytes: int, config: LogConfig) -> bool:
    """Whether a log of this size could need more entries than an index holds."""
    return size_in_bytes > min(_room(config).values()) * (config.index_interval + 1)


def _room(config: LogConfig) -> dict[str, int]:
    """Maximum entries of each index: the last one of a time index is for its end.

    Source: Kafka 4.3, TimeIndex#isFull.
    """
    room = {kind: config.max_index_size // size for kind, size in ENTRY_SIZES.items()}
    return room | {"timeindex": max(room["timeindex"] - 1, 0)}


def rebuild_index(
    walk: BatchWalk, base_offset: int, config: LogConfig, *, ends: bool = True
) -> RebuiltIndex:
    """Index the batches of a segment.

    Base offsets are outside the CRC and may fall. Most batches get no entry, so most falls pass.

    Args:
        walk: the batches, from the start of the segment on.
        base_offset: of the segment.
        config: of the topic.
        ends: whether the indexes end behind these batches, with a last entry of the time index.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    room = _room(config)
    time_count = 0
    start = last_indexed = walk.end_position
    entries: list[tuple[int, int]] = []

    def rebuilt(refused_at: int | None = None, *, is_full: bool = False) -> RebuiltIndex:
        return RebuiltIndex(HeldEntries(tuple(entries)), refused_at, is_full)

    last_time_entry: tuple[int, int] | None = None
    greatest = (-1, base_offset)
    for batches in walk:
        newest = running_maximum(np.append(greatest[0], batches.max_timestamp))
        rises = np.flatnonzero(newest[1:] > newest[:-1])
        while True:
            # The next batch that starts more than an interval after the last indexed one.
            after = last_indexed + config.index_interval
            batch = int(batches.position.searchsorted(after, side="right"))
            newest_before = rises[rises <= min(batch, len(batches) - 1)]
            if len(newest_before):
                greatest = (
                    int(batches.max_timestamp[newest_before[-1]]),
                    int(batches.last_offset[newest_before[-1]]),
                )
            if batch >= len(batches):
                break
            offset, position = int(batches.last_offset[batch]), int(batches.position[batch])
            if len(entries) >= room["index"]:
                return rebuilt(is_full=True)
            if entries and offset <= base_offset + entries[-1][0]:
                return rebuilt(position)
            entries.append((offset - base_offset, position - start))
            last_indexed = position
            if time_count >= room["timeindex"]:
                return rebuilt(is_full=True)
            if last_time_entry is not None and greatest[1] < last_time_entry[1]:
                return rebuilt(position)
            if greatest[0] > (-1 if last_time_entry is None else last_time_entry[0]):
                last_time_entry = greatest
                time_count += 1
    if not ends:
        return rebuilt()
    if last_time_entry is not None and greatest[1] < last_time_entry[1]:
        return rebuilt(walk.end_position)
    is_added = greatest[0] > (-1 if last_time_entry is None else last_time_entry[0])
    return rebuilt(is_full=is_added and config.max_index_size < TIME_INDEX_ENTRY.size)
