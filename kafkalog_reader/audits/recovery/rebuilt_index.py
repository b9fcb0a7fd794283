"""Rebuilds the indexes of a segment as recovery does, and finds what makes that fail.

Source: Kafka 4.3, LogSegment#recover, OffsetIndex#append, TimeIndex#maybeAppend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY, TIME_INDEX_ENTRY
from kafkalog_reader.tables.running_maximum import running_maximum

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.batches import BatchWalk
    from kafkalog_reader.audits.recovery.rule import LogConfig

ENTRY_SIZES: Final = {"index": OFFSET_INDEX_ENTRY.size, "timeindex": TIME_INDEX_ENTRY.size}


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltIndex:
    """The state of both indexes after the last batch, or after the first that they refuse.

    Attributes:
        last_entry: offset and position of the offset index's last entry; None without entries.
        refuses: whether an entry would not rise.
        is_full: whether there is no room for an entry.
    """

    last_entry: tuple[int, int] | None = None
    refuses: bool = False
    is_full: bool = False


def may_be_full(size_in_bytes: int, config: LogConfig) -> bool:
    """Whether a log of this size could need more entries than an index holds."""
    entries = config.max_index_size // max(ENTRY_SIZES.values())
    return size_in_bytes > entries * (config.index_interval + 1)


def rebuild_index(walk: BatchWalk, base_offset: int, config: LogConfig) -> RebuiltIndex:
    """Index the batches of a segment.

    Base offsets are outside the CRC and may fall. Most batches get no entry, so most falls pass.

    Args:
        walk: the batches, from the start of the segment on.
        base_offset: of the segment.
        config: of the topic.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    room = {kind: config.max_index_size // size for kind, size in ENTRY_SIZES.items()}
    count = time_count = 0
    start = last_indexed = walk.end_position
    last_entry: tuple[int, int] | None = None
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
            if count >= room["index"]:
                return RebuiltIndex(last_entry=last_entry, is_full=True)
            if last_entry is not None and offset <= last_entry[0]:
                return RebuiltIndex(last_entry=last_entry, refuses=True)
            count += 1
            last_entry, last_indexed = (offset, position - start), position
            if time_count >= room["timeindex"]:
                return RebuiltIndex(last_entry=last_entry, is_full=True)
            if last_time_entry is not None and greatest[1] < last_time_entry[1]:
                return RebuiltIndex(last_entry=last_entry, refuses=True)
            if greatest[0] > (-1 if last_time_entry is None else last_time_entry[0]):
                last_time_entry = greatest
                time_count += 1
    refuses = last_time_entry is not None and greatest[1] < last_time_entry[1]
    return RebuiltIndex(last_entry=last_entry, refuses=refuses)
