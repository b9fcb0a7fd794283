"""Whether two folders hold the same partition, by their first batches: a few small reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS, RECOVERY_POINTS
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan import Scan, ScanPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles

_BEGINNING: Final = ScanPolicy(tolerant=False, check_crc=False, window_size=32 << 10)
_Batch = tuple[int, int, int]
"""Last offset, stored checksum, size."""


def is_same_content(one: PartitionDirectory, other: PartitionDirectory) -> bool | None:
    """Whether two folders begin with the same batch, where both logs have offsets.

    Compared is the first batch after the later of the two log starts. What follows may differ: a
    fork is within one partition. Where the first ones differ, those of the last segments decide,
    which compaction has not changed. A checksum covers the records, their producer and their
    timestamps, so that two partitions hardly ever have the same.

    Returns:
        None if the logs have no batches to compare, or one of them cannot be read.
    """
    logs = [[s for s in readable_segments(each) if s.log_size] for each in (one, other)]
    if not all(logs):
        return None
    at_start = _are_same(logs, (one, other), max(log[0].base_offset for log in logs))
    if at_start is not False or all(len(log) == 1 for log in logs):
        return at_start
    at_end = _are_same(logs, (one, other), max(log[-1].base_offset for log in logs))
    return at_start if at_end is None else at_end


def is_content_of(folder: PartitionDirectory, copies: Iterable[PartitionDirectory]) -> bool | None:
    """Whether a folder holds what these copies of one partition hold.

    Returns:
        None if that is unknown, or if the copies themselves differ about it.
    """
    found = {is_same_content(folder, copy) for copy in copies} - {None}
    return found.pop() if len(found) == 1 else None


def fits_rows(folder: PartitionDirectory, topic: str, partition: int) -> bool | None:
    """Whether the log ends where the checkpoints of its log directory say of a partition.

    No row may be above the log end. After a clean shutdown the recovery point is the log end.

    Returns:
        None if the checkpoints have no rows of the partition, or cannot be read.
    """
    root = folder.log_directory
    try:
        rows = [
            checkpointed_offsets(root, name).get((topic, partition))
            for name in (RECOVERY_POINTS, HIGH_WATERMARKS)
        ]
        if rows == [None, None]:
            return None
        end = scan_tail(folder).next_offset
    except LocatedError:  # has its own finding
        return None
    if root.clean_shutdown and rows[0] is not None and rows[0] != end:
        return False
    return all(row is None or row <= end for row in rows)


def _are_same(
    logs: Sequence[Sequence[SegmentFiles]],
    folders: Sequence[PartitionDirectory],
    start: int,
) -> bool | None:
    found = [_batches(log, folder, start) for log, folder in zip(logs, folders, strict=True)]
    if not all(found):
        return None
    stop = min(map(max, found))
    low = max(start, *map(min, found))
    compared = [
        {base: batch for base, batch in each.items() if low <= base <= stop} for each in found
    ]
    if not any(compared):
        return None
    one, other = (min(each.items(), default=None) for each in compared)
    return one == other


def _batches(
    log: Sequence[SegmentFiles], folder: PartitionDirectory, start: int
) -> Mapping[int, _Batch]:
    """The first batches from an offset on by base offset; empty if they cannot be read."""
    segment = next((s for s in reversed(log) if s.base_offset <= start), log[0])
    try:
        run = next(Scan(segment, _BEGINNING, context=folder.context).runs(), None)
    except LocatedError:  # has its own finding
        return {}
    if run is None:
        return {}
    columns = (run.base_offset, run.last_offset, run.crc, run.size_in_bytes)
    rows = zip(*(column[: run.count].tolist() for column in columns), strict=True)
    return {base: (last, crc, size) for base, last, crc, size in rows if base >= start}
