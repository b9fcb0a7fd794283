"""Replicas that log directories name and that were not read: links not followed, no folder."""

from __future__ import annotations

import os
import posixpath
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    CHECKPOINT_ROW_WITHOUT_DIRECTORY,
    LOG_DIRECTORY_EMPTY,
    REPLICA_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    UNSAFE_PATH_SKIPPED,
)
from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS, RECOVERY_POINTS
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import (
    folders_of_siblings,
    is_partial_copy,
    named_partitions,
)
from kafkalog_reader.audits.partition.moved_aside import has_aside, is_replaced, moved_copy
from kafkalog_reader.audits.recovery.start import why_no_start
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import parse_directory_name, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import Identity, LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_CREATES: Final = "it will create an empty replica"


def with_unread(
    units: Iterable[PartitionUnit], evidence: Evidence, request: ReadRequest
) -> Iterator[PartitionUnit]:
    """Add KL-002 and KL-310 for brokers without a replica; lists each log directory once.

    Args:
        units: with what the metadata log says of their replicas.
        evidence: the supplied paths; only complete log directories are looked at.
        request: which partitions are requested.
    """
    of_partition: dict[Identity, list[Finding]] = {}
    for root in evidence.roots:
        for each in _unread(root, request):
            assert each.directory is not None
            of_partition.setdefault(each.directory.identity, []).append(each)
    why_down = _WhyDown(evidence)
    with_aside = {root.broker_id for root in evidence.roots if has_aside(root)} - {None}
    for unit in units:
        here = {each.log_directory.broker_id for each in unit.directories} - {None}
        found = {
            _as_unassigned(each, unit.membership): each.directory.log_directory.broker_id
            for each in of_partition.get(unit.directories[0].identity, ())
            if each.directory is not None and each.directory.log_directory.broker_id not in here
        }
        reported = set(found.values())
        lacking = {
            each.directory.log_directory.broker_id
            for each in found
            if each.directory is not None and _is_missing(each)
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
            _as_down(
                _as_moved(
                    _as_assigned(each, unit.membership),
                    None if broker is None else moved.get(broker),
                    is_replaced=broker in replaced,
                ),
                is_down=broker in down,
            )
            for each, broker in found.items()
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


def _as_down(each: Finding, *, is_down: bool) -> Finding:
    """The finding about a missing folder; it creates no new one as long as it does not start."""
    if not is_down or not _is_missing(each):
        return each
    return replace(each, message=each.message.replace(_CREATES, "the broker does not start either"))


def _is_missing(each: Finding) -> bool:
    """Whether it reports a missing folder of a log directory that was supplied completely."""
    return each.code == REPLICA_DIRECTORY_MISSING and each.severity != "L"


def _as_moved(each: Finding, moved: PartitionDirectory | None, *, is_replaced: bool) -> Finding:
    """The finding about a missing folder; low if a copy here has taken the place of that copy."""
    if moved is None or not _is_missing(each):
        return each
    message = each.message.partition(", which")[0]
    message += f": its copy was moved aside, to {shown(moved.path)}; "
    if not is_replaced:
        return replace(
            each, message=f"{message}that reaches further than the copies here, and {_CREATES}"
        )
    message += f"{_CREATES}, and copy from the leader"
    return replace(each, severity="L", message=message, actions=(NOTHING_TO_DO,))


def _as_assigned(each: Finding, membership: PartitionMembership | None) -> Finding:
    """The finding; proven if the metadata log names the broker as well as its checkpoints."""
    if not _is_missing(each) or membership is None:
        return each
    broker_id = None if each.directory is None else each.directory.log_directory.broker_id
    if broker_id not in membership.replicas:
        return each
    message = each.message.replace(
        "which its checkpoints name", "which its checkpoints and the metadata log name"
    )
    return replace(each, confidence="proven", message=message)


def _as_unassigned(each: Finding, membership: PartitionMembership | None) -> Finding:
    """The finding; KL-309 if by the metadata log other brokers have the partition."""
    if each.code != REPLICA_DIRECTORY_MISSING or membership is None:
        return each
    place = each.directory
    if place is None or place.log_directory.broker_id in (None, *membership.replicas):
        return each
    return finding(
        CHECKPOINT_ROW_WITHOUT_DIRECTORY,
        f"{place.replica_name} has no folder {shown(place.topic or '')}-{place.partition}, which "
        f"its checkpoints name, and needs none: {on_brokers(membership)}",
        directory=place,
        file=each.file,
        evidence=dict(each.evidence),
    )


def on_brokers(membership: PartitionMembership) -> str:
    """Where a partition is, by the metadata log."""
    return f"according to the metadata log it is on {joined_ids(membership.replicas)}"


def _unread(root: LogDirectory, request: ReadRequest) -> Iterator[Finding]:
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
            effect = "only part of its log directory was supplied" if is_partial else _CREATES
            yield finding(
                REPLICA_DIRECTORY_MISSING,
                f"{_who(root)} has no folder {shown(topic)}-{partition}, which its checkpoints "
                f"name; {effect}",
                severity="L" if is_partial else None,
                confidence="proven" if root.clean_shutdown and not is_partial else "possible",
                directory=_place(root, topic, partition),
                file=RECOVERY_POINTS,
                evidence={"checkpoints": f"{RECOVERY_POINTS} {HIGH_WATERMARKS}"},
            )


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
