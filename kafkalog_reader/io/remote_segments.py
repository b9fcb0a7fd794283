"""Lists the segments in a folder of tiered storage, in the layouts of Apache and Aiven.

What reading decides needs little of each: its offsets, and which leader epochs wrote them. With
Aiven's plugin the manifest says both; otherwise the last batches and the epoch file do.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError, LogPosition
from kafkalog_reader.format.batch_fields import MAGIC, UP_TO_LAST_OFFSET_DELTA, UP_TO_MAGIC
from kafkalog_reader.format.checkpoint import LeaderEpochEntry, parse_leader_epoch_checkpoint
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.chunked_log import MANIFEST_LIMIT, manifest_beside, manifest_of
from kafkalog_reader.io.file_listing import listed_files, regular_file
from kafkalog_reader.io.interrupted_swap import read_next_offset
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.offset_index_layout import offset_index_entry
from kafkalog_reader.io.remote_names import EPOCHS_KIND, INDEXES_KIND, parse_remote_file_name
from kafkalog_reader.io.segment_files import SegmentFiles
from kafkalog_reader.io.small_file import CHECKPOINT_LIMIT, read_if_present
from kafkalog_reader.io.window import Windows, read_small_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.file_listing import FileStatus
    from kafkalog_reader.io.read_context import ReadContext

logger = logging.getLogger(__name__)

Epochs = tuple[LeaderEpochEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSegment:
    """One remote segment.

    Attributes:
        files: as those of a local segment, with the paths that they have.
        next_offset: one past its last offset; None if that is unknown, because it cannot be read.
        epochs: leader epochs and their first offsets, up to its end; empty if they are unknown.
    """

    files: SegmentFiles
    next_offset: int | None
    epochs: Epochs


def remote_segments(directory: PartitionDirectory) -> tuple[RemoteSegment, ...]:
    """The segments in a folder by base offset; several may have the same.

    A segment without a log is left out, with a warning.

    Raises:
        UnreadableFileError: the folder cannot be listed.
    """
    return directory.context.once(
        ("remote segments", directory.path, directory.only), lambda: _listed(directory)
    )


def _listed(directory: PartitionDirectory) -> tuple[RemoteSegment, ...]:
    files: dict[tuple[int, str], dict[str, FileStatus]] = {}
    paths: dict[tuple[int, str], dict[str, str]] = {}
    for entry in listed_files(directory):
        name = parse_remote_file_name(entry.name)
        if name is None:
            continue
        status = regular_file(entry, directory.context)
        if status is not None:
            key = name.base_offset, name.segment_id
            files.setdefault(key, {})[name.kind] = status
            paths.setdefault(key, {})[name.kind] = status[1] or entry.path
    found = []
    for key in sorted(files):
        if "log" not in files[key]:
            logger.warning(
                "%s: no log beside it: this remote segment is left out",
                shown(min(paths[key].values())),
            )
        elif directory.only is None or os.path.basename(paths[key]["log"]) in directory.only:
            found.append(_segment(directory, key[0], files[key], paths[key]))
    return tuple(found)


def _segment(
    directory: PartitionDirectory,
    base_offset: int,
    files: Mapping[str, FileStatus],
    paths: Mapping[str, str],
) -> RemoteSegment:
    context = directory.context
    sizes = {kind: status.st_size for kind, (status, _) in files.items()}
    segment = SegmentFiles(
        base_offset=base_offset,
        suffix=None,
        directory=directory.path,
        log_size=sizes["log"],
        offset_index_size=sizes.get("index"),
        time_index_size=sizes.get("timeindex"),
        transaction_index_size=sizes.get("txnindex"),
        modified_at=max(status.st_mtime for status, _ in files.values()),
        targets=tuple(paths.items()),
    )
    try:
        beside = manifest_beside(paths["log"])
        if beside is not None:
            return _by_manifest(segment, beside, paths.get(INDEXES_KIND), context)
        next_offset = read_next_offset(segment, context, _near_end(segment, context))
    except LocatedError:  # reading it, if it is needed, reports the error
        return RemoteSegment(files=segment, next_offset=None, epochs=())
    is_known = segment.base_offset < next_offset <= MAX_OFFSET
    return RemoteSegment(
        files=segment,
        next_offset=next_offset if is_known else None,
        epochs=_epochs(paths.get(EPOCHS_KIND), context),
    )


def _by_manifest(
    segment: SegmentFiles, beside: str, indexes: str | None, context: ReadContext
) -> RemoteSegment:
    """A segment in Aiven's layout; its indexes are in one object and not used."""
    path = segment.path("log")
    content = read_small_file(beside, MANIFEST_LIMIT, context=context)
    manifest = manifest_of(path, content, segment.log_size or 0)
    segment = replace(segment, log_size=manifest.size)
    if manifest.end_offset is None or manifest.end_offset < segment.base_offset - 1:
        next_offset = read_next_offset(segment, context)
    else:
        next_offset = manifest.end_offset + 1
    epochs: Epochs = ()
    if indexes is not None:
        try:
            with Windows(indexes, *_range(manifest.epochs), context=context) as windows:
                text = bytes(windows.read(windows.start))
            epochs = parse_leader_epoch_checkpoint(text, LogPosition(shown(indexes)))
        except LocatedError as error:
            logger.warning("%s: its segment is read whatever its leader epochs are", error)
    return RemoteSegment(files=segment, next_offset=next_offset, epochs=epochs)


def _range(epochs: tuple[int, int]) -> tuple[int, int]:
    position, size = epochs
    return position, position + min(size, CHECKPOINT_LIMIT)


def _near_end(segment: SegmentFiles, context: ReadContext) -> int:
    """The position of the batch that the last index entry names; 0 if it is not there."""
    if not segment.offset_index_size:
        return 0
    layout = offset_index_entry(segment, context=context)
    count = segment.offset_index_size // layout.size
    if not count:
        return 0
    start = (count - 1) * layout.size
    with Windows(segment.path("index"), start, size=64, context=context) as windows:
        entry = windows.read(start, at_most=layout.size)
        relative, position = layout.struct.unpack(entry)
    header = UP_TO_LAST_OFFSET_DELTA
    if not 0 < position <= (segment.log_size or 0) - header.size:
        return 0
    with Windows(segment.path("log"), position, size=header.size, context=context) as windows:
        window = windows.read(position, at_most=header.size)
        base_offset, *_, magic = UP_TO_MAGIC.unpack_from(window)
        last = base_offset + (header.unpack(window)[-1] if magic >= MAGIC else 0)
    return position if last == segment.base_offset + relative else 0


def _epochs(path: str | None, context: ReadContext) -> Epochs:
    if path is None:
        return ()
    try:
        content = read_if_present(path, CHECKPOINT_LIMIT, context=context)
        return parse_leader_epoch_checkpoint(content or b"", LogPosition(shown(path)))
    except LocatedError as error:
        logger.warning("%s: its segment is read whatever its leader epochs are", error)
        return ()
