"""Replicas that log directories name and that were not read: links not followed, no folder."""

from __future__ import annotations

import os
import posixpath
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    LOG_DIRECTORY_EMPTY,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    UNSAFE_PATH_SKIPPED,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import (
    folders_of_siblings,
    is_partial_copy,
    named_partitions,
)
from kafkalog_reader.audits.partition.missing_folder import MissingFolder
from kafkalog_reader.audits.partition.moved_aside import has_aside, is_replaced, moved_copy
from kafkalog_reader.audits.recovery.start import why_no_start
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import parse_directory_name, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import Identity, LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


def with_unread(
    units: Iterable[PartitionUnit], evidence: Evidence, request: ReadRequest
) -> Iterator[PartitionUnit]:
    """Add KL-002 and KL-310 for brokers without a replica; lists each log directory once.

    Args:
        units: with what the metadata log says of their replicas.
        evidence: the supplied paths; only complete log directories are looked at.
        request: which partitions are requested.
    """
    of_partition: dict[Identity, list[MissingFolder | Finding]] = {}
    for root in evidence.roots:
        for each in _unread(root, request):
            assert each.directory is not None
            of_partition.setdefault(each.directory.identity, []).append(each)
    why_down = _WhyDown(evidence)
    with_aside = {root.broker_id for root in evidence.roots if has_aside(root)} - {None}
    for unit in units:
        here = {each.log_directory.broker_id for each in unit.directories} - {None}
        found = [
            each
            for each in of_partition.get(unit.directories[0].identity, ())
            if _broker_of(each) not in here
        ]
        reported = set(map(_broker_of, found))
        lacking = {
            each.broker_id
            for each in found
            if isinstance(each, MissingFolder) and each.is_made_empty(unit.membership)
        }
        lacking |= {*unit.supply.lacking} - reported
        if unit.membership is None:  # else it says who has a replica
            lacking |= {*_moved(unit, with_aside, evidence)} - here - reported
        supply = replace(
            unit.supply,
            absent=tuple(each for each in unit.supply.absent if each not in reported),
            lacking=tuple(each for each in unit.supply.lacking if each not in reported),
        )
        without_folder = sorted(each for each in lacking if each is not None)
        cluster_id = unit.directories[0].log_directory.cluster_id
        roots = {
            root.broker_id: root
            for root in reversed(evidence.roots)
            if root.broker_id in lacking and root.cluster_id == cluster_id
        }
        down = {
            each: why for each in without_folder if (why := why_down(cluster_id, each, unit.topics))
        }
        moved = _moved(unit, without_folder, evidence)
        roots |= {broker: copy.log_directory for broker, copy in moved.items()}
        replaced = tuple(
            broker for broker, copy in moved.items() if is_replaced(copy, unit.directories)
        )
        unread = tuple(
            each.finding(
                unit.membership,
                None if each.broker_id is None else moved.get(each.broker_id),
                is_replaced=each.broker_id in replaced,
                is_down=each.broker_id in down,
            )
            if isinstance(each, MissingFolder)
            else each
            for each in found
        )
        yield replace(
            unit,
            supply=supply,
            unread=unread,
            lacking=tuple(without_folder),
            lacking_roots=tuple((b, root) for b, root in roots.items() if b is not None),
            replaced=replaced,
            down=tuple(down.items()),
        )


def empty_directory_findings(
    evidence: Evidence, holders: Collection[LogDirectory]
) -> Iterator[Finding]:
    """Yield KL-318 for each empty folder beside log directories of a cluster with ZooKeeper.

    Args:
        evidence: the supplied paths.
        holders: log directories with a requested partition, which are preferred.
    """
    if {root.meta_version for root in evidence.roots} != {0}:  # of KRaft, or unknown
        return
    for path in evidence.empty:
        yield finding(
            LOG_DIRECTORY_EMPTY,
            f"{shown(path)} is empty: if it is the log directory of another broker, that one "
            "starts with empty replicas, and may be elected with them if it starts first",
            directory=PartitionDirectory.whole(_beside(path, evidence, holders)),
            evidence={"path": shown(path)},
        )


def skipped_findings(evidence: Evidence, holders: Collection[LogDirectory]) -> Iterator[Finding]:
    """Yield KL-002 for each log directory that was skipped, at one that was read.

    Args:
        evidence: the supplied paths.
        holders: log directories with a requested partition, which are preferred.
    """
    for link in evidence.skipped if evidence.roots else ():
        yield finding(
            UNSAFE_PATH_SKIPPED,
            f"{shown(link)} is a symbolic link to a log directory, and was not followed "
            "(--follow-links): what is there is not in this answer",
            severity="H",
            directory=PartitionDirectory.whole(_beside(link, evidence, holders)),
            evidence={"link": shown(link)},
        )


def _beside(path: str, evidence: Evidence, holders: Collection[LogDirectory]) -> LogDirectory:
    """The log directory at which a finding about another path is reported."""
    folder = posixpath.dirname(path)
    return min(
        evidence.roots,
        key=lambda root: (root not in holders, posixpath.dirname(root.path) != folder),
    )


def _moved(
    unit: PartitionUnit, brokers: Iterable[int | None], evidence: Evidence
) -> dict[int, PartitionDirectory]:
    """The copies of brokers without a folder of this partition that were moved aside."""
    first = unit.directories[0]
    if first.topic is None or first.partition is None:
        return {}
    return {
        root.broker_id: copy
        for root in evidence.roots
        if root.broker_id is not None
        and root.broker_id in {*brokers} and root.cluster_id == first.log_directory.cluster_id
        and (copy := moved_copy(root, first.topic, first.partition)) is not None
    }  # fmt: skip


class _WhyDown:
    """Why brokers do not start, whatever replicas they hold; each is examined once."""

    def __init__(self, evidence: Evidence) -> None:
        self._roots = evidence.roots
        self._known: dict[tuple[str | None, int], str] = {}

    def __call__(self, cluster_id: str | None, broker_id: int, topics: ClusterTopics | None) -> str:
        """The reason; empty if the broker starts, or if that is unknown."""
        key = cluster_id, broker_id
        if key not in self._known:
            own = [r for r in self._roots if (r.cluster_id, r.broker_id) == key]
            try:
                self._known[key] = why_no_start(own, topics)
            except LocatedError:  # has its own finding
                self._known[key] = ""
        return self._known[key]


def _broker_of(found: MissingFolder | Finding) -> int | None:
    return None if found.directory is None else found.directory.log_directory.broker_id


def _unread(root: LogDirectory, request: ReadRequest) -> Iterator[MissingFolder | Finding]:
    try:
        with os.scandir(root.path) as entries:
            names = {entry.name: entry for entry in entries if parse_directory_name(entry.name)}
    except OSError:  # has its own finding
        return
    has_folder = set()
    for file, entry in names.items():
        name = parse_directory_name(file)
        assert name is not None
        has_folder.add((name.topic, name.partition))
        if name.state is None and request.selects(name.topic, name.partition):
            kind = _kind_not_read(entry, follow_links=root.follow_links)
            if kind:
                yield finding(
                    UNSAFE_PATH_SKIPPED,
                    f"{_who(root)} has {shown(file)} as {kind}",
                    directory=_place(root, name.topic, name.partition),
                    file=shown(file),
                )
    has_folder |= folders_of_siblings(root)
    named = named_partitions(root)
    is_partial = is_partial_copy(named, has_folder)
    for topic, partition in sorted(named - has_folder):
        if request.selects(topic, partition):
            place = _place(root, topic, partition)
            yield MissingFolder(directory=place, is_partial=is_partial)


def _kind_not_read(entry: os.DirEntry[str], *, follow_links: bool) -> str:
    """What is in place of a folder; empty if the folder can be read."""
    if entry.is_symlink() and not follow_links:
        return "a symbolic link, which was not followed (--follow-links)"
    try:
        mode = entry.stat(follow_symlinks=follow_links).st_mode
    except OSError:
        return "a symbolic link that leads nowhere" if entry.is_symlink() else ""
    return "" if stat.S_ISDIR(mode) or stat.S_ISREG(mode) else "not a file or folder"


def _who(root: LogDirectory) -> str:
    return _place(root, None, None).replica_name


def _place(root: LogDirectory, topic: str | None, partition: int | None) -> PartitionDirectory:
    path = root.path if topic is None else posixpath.join(root.path, f"{topic}-{partition}")
    return PartitionDirectory(path=path, log_directory=root, topic=topic, partition=partition)
