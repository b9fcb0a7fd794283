"""Recognises log directories of which only some partitions were copied, and whole ones."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS, RECOVERY_POINTS
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.log_directory import live_partitions
from kafkalog_reader.io.names import (
    BOOTSTRAP_CHECKPOINT,
    LOCK,
    METADATA_TOPIC,
    parse_directory_name,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kafkalog_reader.io.directories import LogDirectory

_MIN_MISSING: Final = 2
"""If one of two folders is missing, a loss is more likely."""

_OF_NODES: Final = (BOOTSTRAP_CHECKPOINT, LOCK)
_KRAFT: Final = 1
"""Lowest version of ``meta.properties`` without ZooKeeper."""

Partition = tuple[str, int]
"""Topic and partition."""


def named_partitions(root: LogDirectory) -> frozenset[Partition]:
    """Partitions in both checkpoints that name every replica; none if one is damaged."""
    try:
        rows = [checkpointed_offsets(root, name) for name in (HIGH_WATERMARKS, RECOVERY_POINTS)]
    except LocatedError:  # has its own finding
        return frozenset()
    return frozenset(key for key in rows[0] if key in rows[1] and key[0] != METADATA_TOPIC)


def is_partial_copy(named: Collection[Partition], folders: Collection[Partition]) -> bool:
    """Whether a log directory appears to be a copy of only some partitions of a broker.

    Brokers lose single folders, or all folders with a disk. If some folders exist and more are
    missing, somebody copied only what was of interest.

    Args:
        named: ``named_partitions`` of the log directory.
        folders: partitions that have a folder, in any state.
    """
    present = sum(key in folders for key in named)
    missing = len(named) - present
    return present > 0 and missing >= _MIN_MISSING and missing > present


def is_part_of_log_directory(root: LogDirectory) -> bool:
    """The same for a log directory; one that cannot be listed is not a partial copy."""
    return is_partial_copy(named_partitions(root), folders_of(root))


def is_whole_directory(root: LogDirectory) -> bool:
    """Whether it is a log directory of a KRaft node that was copied as a whole.

    Up to release 4.3 ``kafka-storage.sh format`` writes bootstrap.checkpoint into each, and every
    node makes a .lock there. Copies of some folders and their checkpoints have neither.
    """
    return (
        (root.meta_version or 0) >= _KRAFT
        and any(os.path.lexists(posixpath.join(root.path, name)) for name in _OF_NODES)
        and not is_part_of_log_directory(root)
    )


def had_metadata_log(root: LogDirectory, holders: Iterable[LogDirectory]) -> bool:
    """Whether a log directory without the metadata log seems to be its node's metadata.log.dir.

    It has no partitions, or it was copied whole, and others have the log beside their partitions.

    Args:
        root: of a node of which no metadata log was supplied.
        holders: log directories of controllers that have it.
    """
    if not live_partitions(root):
        return True
    return is_whole_directory(root) and any(map(live_partitions, holders))


def folders_of(root: LogDirectory) -> set[Partition]:
    """Partitions with a folder there, in any state, or in another log directory of the broker."""
    return _folders(root.path) | folders_of_siblings(root)


def folders_of_siblings(root: LogDirectory) -> set[Partition]:
    """Partitions with a folder in another log directory of the same broker.

    A broker loads a replica from where its folder is, whichever checkpoint names it.
    """
    return {folder for path in root.siblings for folder in _folders(path, only_live=True)}


def _folders(path: str, *, only_live: bool = False) -> set[Partition]:
    try:
        with os.scandir(path) as entries:
            names = [parse_directory_name(entry.name) for entry in entries]
    except OSError:  # has its own finding
        return set()
    return {
        (name.topic, name.partition)
        for name in names
        if name is not None and not (only_live and name.state)
    }
