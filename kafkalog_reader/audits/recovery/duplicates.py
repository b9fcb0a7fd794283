"""Finds two directories of one partition on one broker, which prevent its start.

Source: Kafka 4.4, LogManager#loadLog and #recoverAbandonedFutureLogs.
"""

from __future__ import annotations

import posixpath
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from kafkalog_reader.audits.recovery.files import read_epochs
from kafkalog_reader.audits.recovery.outcome import FailedStep, attempted
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import file_version, read_topic_id
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import METADATA_TOPIC, parse_directory_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.checkpoints import FileVersion
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.names import DirectoryName
    from kafkalog_reader.io.read_context import ReadContext


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
            return _refused(before.path, directory.path)
        root = directory.log_directory
        other = beside.setdefault((*directory.identity, root.path), directory)
        if other.state != directory.state and root.directory_id is not None:
            renamed = _not_renamed(other.path, directory.path)
    return renamed


def refused_future(root: LogDirectory, topics: ClusterTopics | None) -> str:
    """Why a broker fails at a future copy beside its replica, whatever partition is examined.

    Args:
        root: a log directory that was supplied as a whole.
        topics: those of the cluster; None if they are unknown.
    """
    for names in futures_beside(root):
        live, future = (posixpath.join(root.path, name) for name in names)
        loads = all(_has_sound_epochs(root, name) for name in names)
        if loads and _is_served(live, root.context, topics):
            return _not_renamed(live, future)
    return ""


def futures_beside(root: LogDirectory) -> tuple[tuple[str, str], ...]:
    """Folders of replicas and of their future copies in one log directory of a KRaft broker."""
    if root.directory_id is None:
        return ()
    context = root.context.following_links()
    pairs = _pairs(root.path, context.looking_again(), file_version(root.path, context=context))
    return tuple(
        pair
        for pair in pairs
        if len({_topic_id(posixpath.join(root.path, each), root.context) for each in pair}) == 1
    )


def refused_folders(
    disks: Mapping[str, str | None], context: ReadContext, topics: ClusterTopics | None
) -> str:
    """Why a broker refuses its log directories: two have one partition; empty if none have.

    Args:
        disks: the directory id of each log directory of the broker, by its path.
        context: how files are read; links are followed, as the broker does.
        topics: those of the cluster; None if they are unknown.
    """
    context = context.following_links()
    held = [
        (_replicas(path, context.looking_again(), file_version(path, context=context)), path, disk)
        for path, disk in disks.items()
    ]
    for (names, path, disk), (others, other, second) in combinations(held, 2):
        if disk is not None and disk == second:  # two copies of one log directory
            continue
        for name in sorted(names & others):
            paths = posixpath.join(path, name), posixpath.join(other, name)
            ids = {_topic_id(each, context) for each in paths}
            is_set_aside = None in ids and disk is not None
            if len(ids) == 1 and not is_set_aside and _is_served(paths[0], context, topics):
                return _refused(*paths)
    return ""


def _has_sound_epochs(root: LogDirectory, name: str) -> bool:
    """Whether a folder can be loaded, as far as its small files show."""
    path = posixpath.join(root.path, name)
    folder = PartitionDirectory(path=path, log_directory=root, topic=None, partition=None)
    try:
        return not isinstance(attempted(lambda: read_epochs(folder)), FailedStep)
    except LocatedError:
        return False


def _is_served(path: str, context: ReadContext, topics: ClusterTopics | None) -> bool:
    """Whether a replica is not of another topic than that of its name, and so set aside."""
    name = parse_directory_name(posixpath.basename(path))
    if topics is None or name is None or name.topic not in topics.topic_ids:
        return True
    return topics.topic_ids[name.topic] == _topic_id(path, context)


def _topic_id(path: str, context: ReadContext) -> str | None:
    try:
        return read_topic_id(path, context=context)
    except LocatedError:  # has its own finding
        return None


@lru_cache(maxsize=64)
def _pairs(
    path: str, context: ReadContext, _version: FileVersion | None
) -> tuple[tuple[str, str], ...]:
    names = list(_folders(path, context))
    live = {(each.topic, each.partition): name for name, each in names if each.state is None}
    return tuple(
        (live[each.topic, each.partition], name)
        for name, each in names
        if each.state == "future" and (each.topic, each.partition) in live
    )


@lru_cache(maxsize=64)
def _replicas(path: str, context: ReadContext, _version: FileVersion | None) -> frozenset[str]:
    return frozenset(name for name, each in _folders(path, context) if each.state is None)


def _folders(path: str, context: ReadContext) -> Iterator[tuple[str, DirectoryName]]:
    try:
        entries = context.entries(path)
    except OSError:  # has its own finding
        return
    for entry in entries:
        parsed = parse_directory_name(entry.name)
        if parsed is not None and parsed.topic != METADATA_TOPIC and entry.is_dir():
            yield entry.name, parsed


def _refused(one: str, other: str) -> str:
    paths = f"{shown(one)} and {shown(other)}"
    return f"{paths}: two directories of one partition, which the broker refuses"


def _not_renamed(one: str, other: str) -> str:
    return (
        f"{shown(one)} and {shown(other)}: the broker fails to rename the future copy, because its "
        "replica is in the same log directory"
    )


def _is_one_disk(one: PartitionDirectory, other: PartitionDirectory) -> bool:
    """Whether they are in two copies of one log directory."""
    ids = {each.log_directory.directory_id for each in (one, other)}
    paths = {each.log_directory.path for each in (one, other)}
    return len(ids) == 1 and None not in ids and len(paths) > 1
