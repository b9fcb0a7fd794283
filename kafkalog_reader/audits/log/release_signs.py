"""Finds out which kinds of files a log directory's release writes; others are not missing.

``meta.properties`` came with 0.9, time indexes with 0.10.1, leader epochs and the checkpoint of log
start offsets with 0.11. Source: KAFKA-1650, KIP-33, KIP-101, KIP-107.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import LEADER_EPOCHS, PARTITION_METADATA, parse_directory_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.io.segment_files import SegmentFiles

LOG_STARTS: Final = "log-start-offset-checkpoint"
_FOLDERS_LOOKED_INTO: Final = 32


@dataclass(frozen=True, slots=True)
class ReleaseSigns:
    """What the files of a log directory show about the release that wrote it.

    Attributes:
        has_segments: whether there are segments to judge by.
        time_indexes: whether the release writes time indexes.
        leader_epochs: whether the release writes ``leader-epoch-checkpoint``.
        topic_ids: whether the release writes ``partition.metadata``.
    """

    has_segments: bool
    time_indexes: bool
    leader_epochs: bool
    topic_ids: bool


def release_signs(root: str) -> ReleaseSigns:
    """Examine some partition directories of a log directory; skip unreadable ones."""
    has_segments = time_indexes = topic_ids = False
    leader_epochs = os.path.lexists(posixpath.join(root, LOG_STARTS))
    for names in _listings(root):
        topic_ids |= PARTITION_METADATA in names
        leader_epochs |= LEADER_EPOCHS in names or PARTITION_METADATA in names
        time_indexes |= any(name.endswith(".timeindex") for name in names)
        has_segments |= any(name.endswith(".log") for name in names)
    return ReleaseSigns(
        has_segments=has_segments,
        time_indexes=time_indexes or leader_epochs,
        leader_epochs=leader_epochs,
        topic_ids=topic_ids,
    )


def writes_time_indexes(root: str, path: str, segments: Iterable[SegmentFiles]) -> bool:
    """Whether the broker of a replica writes time indexes, by the files next to its logs."""
    return (
        any(segment.time_index_size is not None for segment in segments)
        or any(
            os.path.lexists(posixpath.join(path, n)) for n in (LEADER_EPOCHS, PARTITION_METADATA)
        )
        or os.path.lexists(posixpath.join(root, LOG_STARTS))
    )


def _listings(root: str) -> Iterator[frozenset[str]]:
    try:
        with os.scandir(root) as entries:
            folders = sorted(
                entry.path
                for entry in entries
                if parse_directory_name(entry.name) is not None
                and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return
    for folder in folders[:_FOLDERS_LOOKED_INTO]:
        try:
            with os.scandir(folder) as files:
                yield frozenset(file.name for file in files)
        except OSError:
            continue
