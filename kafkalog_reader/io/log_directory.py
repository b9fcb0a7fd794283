"""Describes a log directory by its own files, and by those of the other directories."""

from __future__ import annotations

import logging
import os
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from kafkalog_reader.errors import KafkaLogError, LogPosition
from kafkalog_reader.format.meta_properties import MetaProperties, parse_meta_properties
from kafkalog_reader.io.directories import LogDirectory
from kafkalog_reader.io.names import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    METADATA_TOPIC,
    parse_directory_name,
    shown,
)
from kafkalog_reader.io.small_file import METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.io.read_context import ReadContext

logger = logging.getLogger(__name__)


def describe_log_directory(
    path: str,
    *,
    broker_id: int | None = None,
    broker_label: str | None = None,
    is_whole: bool = True,
    context: ReadContext,
) -> LogDirectory:
    """Read ``meta.properties`` and look for the clean-shutdown marker.

    A missing or damaged ``meta.properties`` leaves its values empty, with a warning.

    Args:
        path: of the log directory.
        broker_id: given by the user; ``meta.properties`` takes precedence.
        broker_label: given by the user.
        is_whole: whether the directory itself was given; if only a part of it was, its marker says
            nothing about a copy of that part.
        context: how its files are read.
    """
    meta = _meta_properties(path, warn=is_whole, context=context)
    node_id = None if meta is None else meta.node_id
    return LogDirectory(
        path=path,
        cluster_id=None if meta is None else meta.cluster_id,
        broker_id=broker_id if node_id is None else node_id,
        broker_label=broker_label,
        named=broker_label if broker_id is None else str(broker_id),
        directory_id=None if meta is None else meta.directory_id,
        meta_version=None if meta is None else meta.version,
        clean_shutdown=os.path.exists(os.path.join(path, CLEAN_SHUTDOWN)) if is_whole else None,
        context=context,
    )


def was_shut_down_cleanly(root: LogDirectory) -> bool | None:
    """Whether the marker is there, also where only a partition directory in it was given.

    Returns:
        None if no ``meta.properties`` is beside that one: then it may be a copy of it alone.
    """
    if root.clean_shutdown is not None or root.meta_version is None:
        return root.clean_shutdown
    return os.path.exists(os.path.join(root.path, CLEAN_SHUTDOWN))


def exchanged_labels(roots: Iterable[LogDirectory]) -> tuple[LogDirectory, ...]:
    """Log directories given as ``N=PATH`` with each other's node ids; by label.

    Each of their labels is the node id of another one of them, and each node id a label.
    """
    wrong = _wrongly_labelled(roots)
    while True:
        labels = {(root.cluster_id, int(root.named or "")) for root in wrong}
        nodes = {(root.cluster_id, root.broker_id) for root in wrong}
        left = [
            root
            for root in wrong
            if (root.cluster_id, root.broker_id) in labels
            and (root.cluster_id, int(root.named or "")) in nodes
        ]
        if len(left) == len(wrong):
            return tuple(sorted(left, key=lambda root: (int(root.named or ""), root.path)))
        wrong = left


def are_disks_exchanged(roots: Iterable[LogDirectory], exchanged: Sequence[LogDirectory]) -> bool:
    """Whether other paths with these labels have their node ids: the labels are right then."""
    labels = {each.named for each in exchanged}
    others = (each for each in roots if each not in exchanged)
    return any(each.named in labels and each.named == str(each.broker_id) for each in others)


def exchange_text(roots: Iterable[LogDirectory], exchanged: Sequence[LogDirectory]) -> str:
    """What was exchanged, labels or disks, and which node ids the files have."""
    found = (f"{each.named}={shown(each.path)} has node id {each.broker_id}" for each in exchanged)
    node_ids = f"according to meta.properties, {', '.join(found)}"
    if are_disks_exchanged(roots, exchanged):
        return f"disks of nodes are exchanged: {node_ids}, unlike the other paths of these labels"
    return f"the labels of the paths are exchanged: {node_ids}. These node ids are used"


def warn_of_labels(roots: Sequence[LogDirectory]) -> None:
    """Name the paths that were given with another node id than their files have."""
    exchanged = exchanged_labels(roots)
    if exchanged:
        logger.warning("%s", exchange_text(roots, exchanged))
    for root in _wrongly_labelled(roots):
        if root not in exchanged:
            logger.warning(
                "%s: was given as broker %s, but its meta.properties has node id %d, which is "
                "used: a broker with another id refuses to start with these files",
                shown(root.path),
                root.named,
                root.broker_id,
            )


def _wrongly_labelled(roots: Iterable[LogDirectory]) -> list[LogDirectory]:
    return [
        root
        for root in roots
        if root.named is not None
        and root.broker_label is None
        and root.broker_id not in (None, int(root.named))
    ]


def with_assumed_cluster(roots: Iterable[LogDirectory]) -> dict[LogDirectory, LogDirectory]:
    """Assign directories without a cluster id to the cluster of the others, if it is only one.

    So a broker that lost its ``meta.properties`` is still compared with its peers. With two
    clusters, nothing is guessed.
    """
    found = list(dict.fromkeys(roots))
    clusters = {root.cluster_id for root in found if root.cluster_id is not None}
    if len(clusters) != 1:
        return {root: root for root in found}
    (cluster,) = clusters
    for root in found:
        if root.cluster_id is None:
            logger.warning("%s: no cluster id, assigned to cluster %s", shown(root.path), cluster)
    return {root: replace(root, cluster_id=cluster) for root in found}


def with_disks(roots: Sequence[LogDirectory]) -> list[LogDirectory]:
    """Name the disk of each directory of a broker that has several, and list its siblings."""
    by_broker = defaultdict(list)
    by_number = defaultdict(list)
    for root in roots:
        if root.broker_id is not None or root.broker_label is not None:
            by_broker[_broker_of(root)].append(root)
        if root.named is not None and root.broker_label is None:
            by_number[root.named].append(root)
    disks: dict[LogDirectory, str] = {}
    for siblings in by_broker.values():
        if len(siblings) > 1:
            disks.update(zip(siblings, _disk_names(siblings), strict=True))
    return [
        replace(
            root,
            disk=disks.get(root),
            siblings=tuple(
                sorted(
                    {
                        other.path
                        for other in (
                            *by_broker.get(_broker_of(root), ()),
                            *by_number.get(root.named or "", ()),
                        )
                        if other is not root and other.clean_shutdown is not None
                    }
                )
            ),
        )
        for root in roots
    ]


def doubtful_nodes(roots: Sequence[LogDirectory]) -> list[LogDirectory]:
    """Directories without a node id, or with one that cannot be theirs and another one's.

    Two log directories of one broker have different ids, and no partition in common. Where a
    cluster's only node holds a metadata log, that log shows whether the id is its own.
    """
    found = [root for root in roots if root.broker_id is None and root.broker_label is None]
    by_node: dict[tuple[str | None, int], list[LogDirectory]] = defaultdict(list)
    for root in roots:
        if root.broker_id is not None and root.directory_id is not None:
            by_node[root.cluster_id, root.broker_id].append(root)
    for same in by_node.values():
        for one, other in combinations(same, 2):
            are_two = one.directory_id != other.directory_id
            if are_two and live_partitions(one) & live_partitions(other):
                found += [each for each in (one, other) if each not in found]
    clusters = Counter(cluster_id for cluster_id, _ in by_node)
    for (cluster_id, _), same in by_node.items():
        if clusters[cluster_id] == 1 and any(map(_holds_metadata_log, same)):
            found += [each for each in same if each.named is None and each not in found]
    return found


def _holds_metadata_log(root: LogDirectory) -> bool:
    return os.path.isdir(os.path.join(root.path, f"{METADATA_TOPIC}-0"))


def live_partitions(root: LogDirectory) -> set[str]:
    """Names of its live partition folders; none if it cannot be listed."""
    try:
        names = [entry.name for entry in root.context.entries(root.path)]
    except OSError:  # has its own finding
        return set()
    parsed = ((name, parse_directory_name(name)) for name in names)
    return {name for name, each in parsed if each is not None and each.state is None}


def _broker_of(root: LogDirectory) -> tuple[str | None, int | None, str | None]:
    return root.cluster_id, root.broker_id, root.broker_label


def _meta_properties(path: str, *, warn: bool, context: ReadContext) -> MetaProperties | None:
    file = os.path.join(path, META_PROPERTIES)
    try:
        content = read_if_present(file, METADATA_LIMIT, context=context)
        if content is not None:
            return parse_meta_properties(content, LogPosition(shown(file)))
    except KafkaLogError as error:
        logger.warning("%s", error)
        return None
    if warn:
        logger.warning("%s: no meta.properties: cluster and node are unknown", shown(path))
    return None


def _disk_names(siblings: Sequence[LogDirectory]) -> list[str]:
    """What distinguishes the directories of one broker, without its name, which stands before.

    Of ``broker-1`` and ``broker-1-metadata`` the first has no name of its own.
    """
    tails = _distinct_tails([each.path for each in siblings])
    root = siblings[0]
    if root.broker_label is None:
        owner = rf"(broker|controller|node|b)[-_.]?{root.broker_id}"
    else:
        owner = re.escape(root.broker_label)
    repeated = re.compile(rf"^{owner}([-_.]+|$)", re.IGNORECASE)
    parts = ([repeated.sub("", part) for part in tail.split(os.sep)] for tail in tails)
    names = [os.sep.join(filter(None, each)) for each in parts]
    return names if len(set(names)) == len(names) else tails


def _distinct_tails(paths: Sequence[str]) -> list[str]:
    """The shortest ends of the paths, in whole components, that distinguish them."""
    parts = [path.split(os.sep) for path in paths]
    for length in range(1, max(map(len, parts))):
        tails = [os.sep.join(part[-length:]) for part in parts]
        if len(set(tails)) == len(tails):
            return tails
    return list(paths)
