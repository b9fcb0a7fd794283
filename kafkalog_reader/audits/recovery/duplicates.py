"""Finds two directories of one partition on one broker, which prevent its start.

Source: Kafka 4.4, LogManager#loadLog and #recoverAbandonedFutureLogs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.io.evidence import PartitionDirectory


def refused_duplicates(served: Iterable[PartitionDirectory]) -> str:
    """Why a broker refuses two logs of one partition; empty if there are none.

    Args:
        served: directories of replicas and future replicas that load and are not set aside.
    """
    first: dict[tuple[object, ...], PartitionDirectory] = {}
    beside: dict[tuple[object, ...], PartitionDirectory] = {}
    renamed = ""
    for directory in served:
        if directory.state not in (None, "future") or directory.topic is None:
            continue
        before = first.setdefault((*directory.identity, directory.state), directory)
        if before is not directory and not _is_one_disk(before, directory):
            return (
                f"{shown(before.path)} and {shown(directory.path)}: two directories of one "
                "partition, which the broker refuses"
            )
        root = directory.log_directory
        other = beside.setdefault((*directory.identity, root.path), directory)
        if other.state != directory.state and root.directory_id is not None:
            renamed = (
                f"{shown(other.path)} and {shown(directory.path)}: the broker fails to rename the "
                "future copy, because its replica is in the same log directory; move the "
                "future copy out of it"
            )
    return renamed


def _is_one_disk(one: PartitionDirectory, other: PartitionDirectory) -> bool:
    """Whether they are in two copies of one log directory."""
    ids = {each.log_directory.directory_id for each in (one, other)}
    paths = {each.log_directory.path for each in (one, other)}
    return len(ids) == 1 and None not in ids and len(paths) > 1
