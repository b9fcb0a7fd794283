"""KL-008 where one cluster id is wrong: which ``meta.properties``, and what it should say.

Topic ids and directory ids are random (KIP-516, KIP-858): two clusters have none in common. Source:
Kafka 4.0, RegisterBrokerRecord and MetaPropertiesEnsemble.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import LEAVE_ONE_OUT, RESTORE_IDENTITY
from kafkalog_reader.audits.catalogue.input_rules import MIXED_CLUSTERS
from kafkalog_reader.audits.integrity.file_repair import Write, move_aside
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import META_PROPERTIES, shown
from kafkalog_reader.io.small_file import METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.integrity.file_repair import FileRepair
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.io.directories import LogDirectory


def clusters_of_one_directory(
    roots: Iterable[LogDirectory], clusters: Mapping[str | None, ClusterMetadata]
) -> Iterator[tuple[frozenset[str], str]]:
    """Pairs of cluster ids of which one is wrong, by the directory ids that brokers registered.

    Yields:
        the pair, and why its ids are those of one cluster.
    """
    for root in roots:
        for cluster_id, metadata in clusters.items():
            if cluster_id in (None, root.cluster_id) or root.cluster_id is None:
                continue
            if root.directory_id in metadata.brokers.get(root.broker_id or 0, ()):
                assert cluster_id is not None
                yield (
                    frozenset((cluster_id, root.cluster_id)),
                    (f"the metadata log of cluster {shown(cluster_id)} has its directory.id"),
                )


def wrong_cluster_ids(
    pair: frozenset[str], why: str, roots: Sequence[LogDirectory]
) -> Iterator[Finding]:
    """A finding for each log directory whose cluster id is the rarer one; one if none is rarer.

    Args:
        pair: two ids of one cluster.
        why: how it is known that the cluster is the same.
        roots: all that were supplied.
    """
    concerned = [root for root in roots if root.cluster_id in pair]
    counts = Counter(root.cluster_id for root in concerned)
    (most, number), *others = counts.most_common()
    is_known = most is not None and all(count < number for _, count in others)
    wrong = [root for root in concerned if root.cluster_id != most] if is_known else concerned[:1]
    for root in wrong:
        expected = (most or "") if is_known else ""
        other = next(each for each in concerned if each.cluster_id != root.cluster_id)
        yield finding(
            MIXED_CLUSTERS,
            f"the cluster.id is {shown(root.cluster_id or '')}, and {shown(other.path)} has "
            f"{shown(other.cluster_id or '')}, but both are of one cluster: {why}; one id is "
            "wrong, unless one is a copy that was made for another cluster: then leave that out",
            directory=PartitionDirectory.whole(root),
            file=META_PROPERTIES,
            evidence={
                "clusters": ", ".join(shown(each or "") for each in counts),
                "directories": ", ".join(shown(each.path) for each in concerned),
            },
            actions=(RESTORE_IDENTITY, LEAVE_ONE_OUT),
            repairs=_repairs(root, expected),
        )


def _repairs(root: LogDirectory, cluster_id: str) -> tuple[FileRepair, ...]:
    """The same file with another cluster id; empty if that is unknown or the file is odd."""
    path = posixpath.join(root.path, META_PROPERTIES)
    try:
        content = read_if_present(path, METADATA_LIMIT, context=root.context)
    except LocatedError:  # has its own finding
        return ()
    text = (content or b"").decode("ascii", "replace")
    if not cluster_id or not all(each.isprintable() or each == "\n" for each in text):
        return ()
    lines = text.removesuffix("\n").split("\n")
    places = [n for n, line in enumerate(lines) if line.startswith("cluster.id=")]
    if len(places) != 1 or "\ufffd" in text:
        return ()
    lines[places[0]] = f"cluster.id={cluster_id}"
    return (move_aside(root.path, META_PROPERTIES), Write(path=path, lines=tuple(lines)))
