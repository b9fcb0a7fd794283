"""The log of a partition whose older segments are in remote storage (KIP-405).

Local segments are read where there are some, as a broker serves them. Below them, remote segments
may overlap after a change of leader, or after an upload that was repeated. As in Kafka, a remote
segment counts for the offsets at which its leader epochs are those of the partition's lineage.
Source: Kafka 4.3, RemoteLogManager, RemoteLogLeaderEpochState.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.names import REMOTE
from kafkalog_reader.io.remote_segments import remote_segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.format.checkpoint import LeaderEpochEntry
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.remote_segments import Epochs, RemoteSegment
    from kafkalog_reader.io.segment_files import SegmentFiles

logger = logging.getLogger(__name__)

_NO_END: Final = MAX_OFFSET + 1


def remote_log(
    directory: PartitionDirectory, local: Sequence[SegmentFiles] = ()
) -> tuple[SegmentFiles, ...]:
    """Remote segments up to the first local one, then the local ones; each offset once.

    Args:
        directory: a remote part, or a replica that has one.
        local: the segments of the replica.

    Raises:
        UnreadableFileError: a folder cannot be listed.
    """
    parts = [directory] if directory.state == REMOTE else []
    found = [each for part in (*parts, *directory.remote) for each in remote_segments(part)]
    local_start = min((each.base_offset for each in local), default=_NO_END)
    lineage = () if directory.state == REMOTE else _local_lineage(directory)
    return (*log_of(found, lineage or _newest_lineage(found), local_start), *local)


def log_of(
    found: Sequence[RemoteSegment], lineage: Epochs, end: int = _NO_END
) -> list[SegmentFiles]:
    """Remote segments in order, each with the offsets that are read from it.

    Of those that have an offset, the one that begins last is read, as in Kafka; one whose end is
    unknown only where no other has it.

    Args:
        found: all of them by base offset.
        lineage: leader epochs of the partition and their first offsets; nothing is known about
            offsets below the first. Empty, every segment counts.
        end: what is from here on is local.
    """
    ranges = sorted(
        (first, min(stop, end), each.next_offset is None, number)
        for number, each in enumerate(found)
        for first, stop in _valid_ranges(each, _stop_of(found, number), lineage)
        if first < end
    )
    chosen: list[tuple[int, int, int]] = []  # number of the segment, first and next offset
    covering: list[tuple[bool, int, int, int]] = []  # at the position: unreadable, -first, -stop
    position = place = 0
    while place < len(ranges) or covering:
        if not covering:
            position = max(position, ranges[place][0])
        while place < len(ranges) and ranges[place][0] <= position:
            first, stop, is_unknown, number = ranges[place]
            heappush(covering, (is_unknown, -first, -stop, number))
            place += 1
        while covering and -covering[0][2] <= position:
            heappop(covering)
        if not covering:
            continue
        *_, stop, number = covering[0]
        following = ranges[place][0] if place < len(ranges) else _NO_END
        next_position = min(-stop, following)
        if chosen and chosen[-1][0] == number and chosen[-1][2] == position:
            chosen[-1] = number, chosen[-1][1], next_position
        else:
            chosen.append((number, position, next_position))
        position = next_position
    return [_piece(found[number], first, stop) for number, first, stop in chosen]


def _piece(segment: RemoteSegment, first: int, stop: int) -> SegmentFiles:
    return replace(
        segment.files,
        from_offset=0 if first <= segment.files.base_offset else first,
        to_offset=None if stop in (segment.next_offset, _NO_END) else stop,
    )


def _stop_of(found: Sequence[RemoteSegment], number: int) -> int:
    """Where a segment ends; one that cannot be read, where the next one begins."""
    segment = found[number]
    if segment.next_offset is not None:
        return segment.next_offset
    base = segment.files.base_offset
    later = (found[place].files.base_offset for place in range(number + 1, len(found)))
    return next((each for each in later if each > base), _NO_END)


def _valid_ranges(segment: RemoteSegment, stop: int, lineage: Epochs) -> Iterator[tuple[int, int]]:
    """Half-open ranges of a segment that the lineage has in the same leader epochs."""
    base = segment.files.base_offset
    if base >= stop:
        return
    if not segment.epochs or not lineage:
        yield base, stop
        return
    starts = {each.leader_epoch: number for number, each in enumerate(lineage)}
    valid: tuple[int, int] | None = None
    for first, end, epoch in _by_epoch(segment.epochs, base, stop):
        number = starts.get(epoch)
        known_from = lineage[0].start_offset
        if number is None:
            range_ = (first, min(end, known_from))
        else:
            lowest = 0 if number == 0 else lineage[number].start_offset
            highest = lineage[number + 1].start_offset if number + 1 < len(lineage) else _NO_END
            range_ = (max(first, lowest), min(end, highest))
        if range_[0] >= range_[1]:
            continue
        if valid is not None and valid[1] == range_[0]:
            valid = valid[0], range_[1]
            continue
        if valid is not None:
            yield valid
        valid = range_
    if valid is not None:
        yield valid


def _by_epoch(epochs: Epochs, base: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """(first offset, next offset, leader epoch) in a segment; before the first entry as there."""
    for number, entry in enumerate(epochs):
        first = base if number == 0 else max(base, entry.start_offset)
        end = epochs[number + 1].start_offset if number + 1 < len(epochs) else stop
        if first < min(end, stop):
            yield first, min(end, stop), entry.leader_epoch


def _newest_lineage(found: Sequence[RemoteSegment]) -> Epochs:
    """The leader epochs of the segment that was written last, by epoch, then by offset."""

    def rank(segment: RemoteSegment) -> tuple[int, int]:
        own = [e for e in segment.epochs if e.start_offset < (segment.next_offset or _NO_END)]
        return own[-1].leader_epoch if own else -1, segment.next_offset or 0

    newest = max(found, key=rank, default=None)
    return () if newest is None else newest.epochs


def _local_lineage(directory: PartitionDirectory) -> tuple[LeaderEpochEntry, ...]:
    try:
        return read_leader_epochs(directory.path, context=directory.context) or ()
    except KafkaLogError as error:
        logger.warning("%s: the lineage is taken from the remote segments", error)
        return ()
