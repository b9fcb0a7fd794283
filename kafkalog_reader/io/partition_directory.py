"""Lists the files of one partition directory, segments and producer snapshots.

Files are not opened, with one exception: if a broker stopped while it swapped segments, the new
ones are read.
"""

from __future__ import annotations

import contextlib
import logging
import stat
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.file_listing import listed_files, regular_file
from kafkalog_reader.io.interrupted_swap import read_next_offset, settle_swaps
from kafkalog_reader.io.names import (
    REMOTE,
    SegmentFileName,
    parse_metadata_snapshot_name,
    parse_segment_file_name,
    parse_snapshot_file_name,
    shown,
)
from kafkalog_reader.io.remote_log import remote_log
from kafkalog_reader.io.segment_files import SegmentFiles
from kafkalog_reader.io.stray_log import stray_log

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.file_listing import FileStatus
    from kafkalog_reader.io.read_context import ReadContext

logger = logging.getLogger(__name__)

_FOREIGN_ENDINGS: Final = (".log", ".index", ".timeindex", ".txnindex")


def segments(directory: PartitionDirectory, *, live_only: bool = True) -> tuple[SegmentFiles, ...]:
    """The segments of a partition directory by base offset, those of its remote part first.

    Args:
        directory: the directory; if only single files of it were given, only these segments.
        live_only: only what a broker would have after its start: no ``.deleted``, no ``.cleaned``,
            one side of an interrupted swap; and no zeros beyond the log end (``stray_log``). Files
            that were given by name count as live, whatever their suffix.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    if directory.state == REMOTE:
        return remote_log(directory)
    local = _local_segments(directory, live_only=live_only)
    return remote_log(directory, local) if directory.remote else local


def _local_segments(directory: PartitionDirectory, *, live_only: bool) -> tuple[SegmentFiles, ...]:
    if directory.only is None:
        if not live_only:
            return _all_segments(directory)
        return directory.context.once(
            ("live segments", directory.path), lambda: _live_segments(directory)
        )
    wanted = {
        (name.base_offset, name.suffix)
        for name in map(parse_segment_file_name, directory.only)
        if name is not None
    }
    return tuple(s for s in _all_segments(directory) if (s.base_offset, s.suffix) in wanted)


def _live_segments(directory: PartitionDirectory) -> tuple[SegmentFiles, ...]:
    next_offset = partial(read_next_offset, context=directory.context)
    found = settle_swaps(_all_segments(directory), next_offset)
    stray = stray_log(found, partial(producer_snapshot_offsets, directory), directory.context)
    if stray is None:
        return found
    logger.warning("%s: zeros beyond the end of the log, not read", shown(stray.path("log")))
    return found[:-1]


def readable_segments(
    directory: PartitionDirectory, *, live_only: bool = True
) -> tuple[SegmentFiles, ...]:
    """Like ``segments``; empty if the directory cannot be listed, which others report."""
    try:
        return segments(directory, live_only=live_only)
    except UnreadableFileError:
        return ()


def producer_snapshot_offsets(directory: PartitionDirectory) -> tuple[int, ...]:
    """The offsets in the names of the producer snapshots, rising.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    offsets = (parse_snapshot_file_name(entry.name) for entry in listed_files(directory))
    return tuple(sorted(offset for offset in offsets if offset is not None))


def snapshots_at_ends(directory: PartitionDirectory) -> Mapping[int, tuple[int, bool]]:
    """Where the closed local segments end, and whether a producer snapshot is there.

    A broker writes one whenever it begins a segment, and keeps it as long as the segment since 2.8.
    Source: Kafka 3.9, UnifiedLog.roll, ProducerStateManager.removeStraySnapshots.

    Returns:
        By base offset: the base offset of the next segment, and whether it has a snapshot. The last
        segment is not closed. Empty if only single files of the directory were given.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    if directory.only is not None or directory.state == REMOTE:
        return {}
    taken = frozenset(producer_snapshot_offsets(directory))
    live = _local_segments(directory, live_only=True)
    bases = [each.base_offset for each in live if each.log_size is not None]
    return {base: (following, following in taken) for base, following in pairwise(bases)}


def size_of_files(directory: PartitionDirectory) -> int:
    """Total bytes of all regular files, also those that Kafka does not write, without links.

    If only single files were given, it is the total of these segments. The size is the file length:
    an index that a running broker preallocates counts as 10 MiB, including holes.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    if directory.only is not None:
        return sum(sum(_sizes(segment)) for segment in segments(directory))
    total = 0
    for entry in listed_files(directory):
        with contextlib.suppress(OSError):  # deleted since it was listed
            status = entry.stat(follow_symlinks=directory.follow_links)
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return total


def _sizes(segment: SegmentFiles) -> Iterator[int]:
    for size in (
        segment.log_size,
        segment.offset_index_size,
        segment.time_index_size,
        segment.transaction_index_size,
    ):
        yield size or 0


def metadata_snapshots(directory: PartitionDirectory) -> tuple[tuple[int, SegmentFiles], ...]:
    """The KRaft snapshots of a copy of the metadata log by end offset, rising.

    A snapshot has the format of a segment whose offsets begin at 0, and is shown as one.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    return tuple((end_offset, segment) for end_offset, _, segment in _snapshots(directory))


def metadata_snapshot_ids(directory: PartitionDirectory) -> tuple[tuple[int, int], ...]:
    """(end offset, leader epoch of the last record) of each KRaft snapshot, rising.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    return tuple(
        (end_offset, leader_epoch) for end_offset, leader_epoch, _ in _snapshots(directory)
    )


def _snapshots(directory: PartitionDirectory) -> list[tuple[int, int, SegmentFiles]]:
    found = []
    for entry in listed_files(directory):
        name = parse_metadata_snapshot_name(entry.name)
        status = name and regular_file(entry, directory.context)
        if name and status:
            end_offset, leader_epoch = name
            files = {"log": (status[0], status[1] or entry.path)}
            found.append((end_offset, leader_epoch, _segment(directory.path, 0, None, files)))
    return sorted(found, key=itemgetter(0, 1))


def _all_segments(directory: PartitionDirectory) -> tuple[SegmentFiles, ...]:
    return directory.context.once(("segments", directory.path), lambda: _listed_segments(directory))


def _listed_segments(directory: PartitionDirectory) -> tuple[SegmentFiles, ...]:
    files: dict[tuple[int, str], dict[str, FileStatus]] = {}
    for entry in listed_files(directory):
        name = _segment_file_name(entry, directory.context)
        if name is None:
            continue
        status = regular_file(entry, directory.context)
        if status is not None:
            files.setdefault((name.base_offset, name.suffix or ""), {})[name.kind] = status
    return tuple(
        _segment(directory.path, base_offset, suffix or None, files[base_offset, suffix])
        for base_offset, suffix in sorted(files)
    )


def _segment(
    directory: str, base_offset: int, suffix: str | None, files: Mapping[str, FileStatus]
) -> SegmentFiles:
    sizes = {kind: status.st_size for kind, (status, _) in files.items()}
    return SegmentFiles(
        base_offset=base_offset,
        suffix=suffix,
        directory=directory,
        log_size=sizes.get("log"),
        offset_index_size=sizes.get("index"),
        time_index_size=sizes.get("timeindex"),
        transaction_index_size=sizes.get("txnindex"),
        modified_at=max([status.st_mtime for status, _ in files.values()]),
        targets=tuple([(kind, target) for kind, (_, target) in files.items() if target]),
    )


def _segment_file_name(entry: os.DirEntry[str], context: ReadContext) -> SegmentFileName | None:
    name = parse_segment_file_name(entry.name)
    if name is None and entry.name.endswith(_FOREIGN_ENDINGS):
        context.warn(logger, entry.path, "not a name that Kafka gives a segment, skipped")
    return name
