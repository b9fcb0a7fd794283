"""KL-806: commits of partitions that the cluster does not have, or of a deleted topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.commit_rules import COMMIT_FOR_UNKNOWN_PARTITION
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.io.names import shown
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.partition.commit import Commit
    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

_IN_EVIDENCE: Final = 100


def unknown_partitions(evidence: Evidence, committed: Collection[Identity]) -> frozenset[Identity]:
    """Those of the partitions that neither the inputs nor the cluster's metadata log have.

    None of a cluster whose metadata log was not supplied: they may be on another broker.
    """
    supplied = {identity for identity, _ in evidence.topic_partitions(ReadRequest())}
    missing = {each for each in committed if each not in supplied}
    if not missing:
        return frozenset()
    clusters = cluster_metadata(evidence)
    known = {cluster_id: cluster.partitions for cluster_id, cluster in clusters.items()}
    return frozenset(
        each for each in missing if each[0] in known and each[1:] not in known[each[0]]
    )


def unknown_commit_findings(
    directory: PartitionDirectory,
    unknown: Collection[Identity],
    commits: Mapping[Identity, Sequence[Commit]],
) -> Iterator[Finding]:
    """Yield one finding for the commits in a partition of ``__consumer_offsets``.

    Args:
        directory: the partition.
        unknown: see ``unknown_partitions``.
        commits: those of the cluster, by the partition that they are of.
    """
    cluster_id = directory.log_directory.cluster_id
    found = [
        f"{each.group} has offset {each.offset:,} of {identity[1]}-{identity[2]}"
        for identity in sorted(unknown, key=str)
        if identity[0] == cluster_id
        for each in commits[identity]
        if each.offsets_partition == directory.partition
    ]
    if found:
        more = f"; {len(found):,} such commits" if len(found) > 1 else ""
        is_stopped = bool(directory.log_directory.clean_shutdown)  # else it may be a hot copy
        yield finding(
            COMMIT_FOR_UNKNOWN_PARTITION,
            f"group {shown(found[0])}, which the cluster does not have{more}",
            confidence="proven" if is_stopped else "possible",
            directory=directory,
            evidence={
                "commits": "; ".join(map(shown, found[:_IN_EVIDENCE])), "count": len(found),
            },
        )  # fmt: skip
