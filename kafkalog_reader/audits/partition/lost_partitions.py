"""Partitions of which no copy was supplied: lost, or on brokers that were not supplied."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import LOOK_FOR_A_COPY, RENAME_FOLDER
from kafkalog_reader.audits.catalogue.checkpoint_rules import REPLICA_DIRECTORY_MISSING
from kafkalog_reader.audits.catalogue.input_rules import REPLICA_NOT_SUPPLIED
from kafkalog_reader.audits.election.missing_directories import had_replica, missing_directories
from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import is_part_of_log_directory
from kafkalog_reader.audits.partition.moved_aside import moved_copy
from kafkalog_reader.audits.partition.partition_audit import joined_ids
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.partition.supply_findings import name_moves, renamed_text
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.evidence import PartitionDirectory
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.election.missing_directories import MissingDirectory
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.evidence import Evidence, Identity, LogDirectory
    from kafkalog_reader.tables.request import ReadRequest

_NAMED: Final = 20
"""Maximum partitions that the evidence of one finding names."""


@dataclass(frozen=True, kw_only=True)
class WithoutCopy:
    """A partition that the metadata log has, and of which no live copy was supplied.

    Attributes:
        cluster_id: of its cluster.
        brokers: node ids of its replicas, sorted.
        roots: the supplied log directories of its brokers.
        is_lost: whether each of its brokers was supplied, and no copy can be expected elsewhere.
        missing: log directories of its brokers that were not supplied and had a replica.
        renamed: folders of it that no broker loads.
        topic_id: by the metadata log.
    """

    cluster_id: str | None
    topic: str
    partition: int
    brokers: tuple[int, ...]
    roots: tuple[LogDirectory, ...]
    is_lost: bool
    missing: tuple[MissingDirectory, ...]
    renamed: tuple[PartitionDirectory, ...]
    topic_id: str

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @cached_property
    def moved(self) -> tuple[PartitionDirectory, ...]:
        """Copies that were moved aside."""
        copies = (moved_copy(root, self.topic, self.partition) for root in self.roots)
        return tuple(each for each in copies if each is not None)

    @cached_property
    def high_watermark(self) -> int:
        """The highest one in a checkpoint; 0 if there is none."""
        rows = (_high_watermark(root, self.topic, self.partition) for root in self.roots)
        return max(rows, default=0)

    @property
    def may_have_records(self) -> bool:
        """False if the checkpoints of its log directories show that nothing was committed."""
        files = (Path(root.path, HIGH_WATERMARKS) for root in self.roots)
        return bool(self.missing or self.high_watermark) or not all(f.is_file() for f in files)


def without_copy(
    evidence: Evidence, request: ReadRequest, clusters: Mapping[str | None, ClusterMetadata]
) -> Iterator[WithoutCopy]:
    """Yield the requested partitions without a live copy, by cluster and name.

    Args:
        evidence: the supplied paths.
        request: which partitions are requested.
        clusters: what the metadata logs have, by cluster id.
    """
    roots: dict[tuple[str | None, int | None], list[LogDirectory]] = defaultdict(list)
    for root in () if evidence.skipped else evidence.roots:
        if not is_part_of_log_directory(root):
            roots[root.cluster_id, root.broker_id].append(root)
    missing = missing_directories(evidence, clusters)
    folders: dict[Identity, list[PartitionDirectory]] = defaultdict(list)
    for directory in evidence.partition_directories(request):
        folders[directory.identity].append(directory)
    for cluster_id, cluster in clusters.items():
        gone = [each for each in missing if each.root.cluster_id == cluster_id]
        for (topic, partition), membership in sorted(cluster.partitions.items()):
            found = folders.get((cluster_id, topic, partition), [])
            if not request.selects(topic, partition) or any(each.is_replica for each in found):
                continue
            brokers = tuple(sorted(membership.replicas))
            own = [roots.get((cluster_id, broker), []) for broker in brokers]
            yield WithoutCopy(
                cluster_id=cluster_id,
                topic=topic,
                partition=partition,
                brokers=brokers,
                roots=tuple(root for of_broker in own for root in of_broker),
                is_lost=bool(brokers)
                and all(
                    _are_all(of_broker, cluster.brokers.get(broker, ()), gone)
                    for broker, of_broker in zip(brokers, own, strict=True)
                ),
                missing=tuple(each for each in gone if had_replica(each, membership)),
                renamed=tuple(found),
                topic_id=membership.topic_id,
            )


def lost_partitions(
    evidence: Evidence, request: ReadRequest, clusters: Mapping[str | None, ClusterMetadata]
) -> Iterator[Finding]:
    """Yield KL-310 for each partition that no log directory has, although its brokers are here.

    It is critical unless the checkpoints show that nothing was committed, or a copy was renamed or
    moved aside. Of partitions whose brokers were not supplied KL-012 says so, once for a cluster.

    Args:
        evidence: the supplied paths.
        request: which partitions are requested.
        clusters: what the metadata logs have, by cluster id.
    """
    elsewhere: dict[str | None, list[WithoutCopy]] = defaultdict(list)
    for each in without_copy(evidence, request, clusters):
        if each.is_lost:
            yield _lost(each)
        else:
            elsewhere[each.cluster_id].append(each)
    for cluster_id, partitions in elsewhere.items():
        roots = [root for root in evidence.roots if root.cluster_id == cluster_id]
        of_brokers = [root for root in roots if root.broker_id in clusters[cluster_id].brokers]
        if of_brokers:
            yield _elsewhere(partitions, of_brokers)


def lost_places(evidence: Evidence, request: ReadRequest) -> set[TopicPartition]:
    """The requested partitions that are lost as a whole; a selection of them is no mistake."""
    clusters = cluster_metadata(evidence)
    found = without_copy(evidence, request, clusters)
    return {(each.topic, each.partition) for each in found if each.is_lost}


def _are_all(
    roots: Sequence[LogDirectory], registered: Sequence[str], gone: Sequence[MissingDirectory]
) -> bool:
    """Whether these are all log directories of a broker that are left.

    One that only its registration names is lost, unless a single disk was looked at.
    """
    if len(roots) >= max(1, len(registered)):
        return True
    return any(each.root in roots and not each.is_alone for each in gone)


def _lost(lost: WithoutCopy) -> Finding:
    is_one = len(lost.brokers) == 1
    effect = renamed_text(lost.renamed, lost.brokers)
    if not is_one:
        effect = effect.replace("it will create an empty one", "they will create empty ones")
    text = f"according to the metadata log its only {'replica is' if is_one else 'replicas are'}"
    text += f" on {joined_ids(lost.brokers)}"
    if lost.missing:
        several = f"{len(lost.missing)} log directories of these were"
        text += (
            f", and {several if lost.missing[1:] else f'{lost.missing[0].place} was'} not supplied"
        )
    else:
        text += ", which has no folder of it" if is_one else ", and none of them has a folder of it"
    text += effect
    if lost.moved:
        text += f"; moved aside: {', '.join(shown(copy.path) for copy in lost.moved)}"
    if lost.high_watermark:
        text += f"; by a checkpoint, records below offset {lost.high_watermark:,} were committed"
    root = lost.roots[0]
    is_critical = lost.may_have_records and not lost.moved and not lost.renamed
    moves = () if lost.moved else name_moves(lost.renamed, lost.brokers, lost.topic_id)
    return finding(
        REPLICA_DIRECTORY_MISSING,
        text,
        severity="C" if is_critical else None,
        confidence="proven" if all(root.clean_shutdown for root in lost.roots) else "possible",
        directory=PartitionDirectory(
            path=posixpath.join(root.path, lost.name),
            log_directory=root,
            topic=lost.topic,
            partition=lost.partition,
        ),
        evidence={
            "topic": shown(lost.topic),
            "partition": lost.partition,
            "brokers": ", ".join(map(str, lost.brokers)),
            "highWatermark": lost.high_watermark,
        },
        actions=(RENAME_FOLDER if moves else LOOK_FOR_A_COPY,),
        repairs=moves,
    )


def _elsewhere(partitions: Sequence[WithoutCopy], roots: Sequence[LogDirectory]) -> Finding:
    """KL-012 of all partitions whose brokers, or log directories, were not all supplied."""
    supplied = {root.broker_id for root in roots}
    names = [shown(each.name) for each in partitions[:_NAMED]]
    return finding(
        REPLICA_NOT_SUPPLIED,
        without_copy_text(partitions),
        severity="H" if len(supplied) > 1 else "I",
        directory=PartitionDirectory.whole(roots[0]),
        evidence={"partitions": len(partitions), "first": ", ".join(names)},
    )


def without_copy_text(partitions: Sequence[WithoutCopy]) -> str:
    """Which partitions have no copy, in one sentence without a full stop, and where they are."""
    first = shown(partitions[0].name)
    what = first if len(partitions) == 1 else f"{len(partitions):,} partitions (first {first})"
    brokers = sorted({broker for each in partitions for broker in each.brokers})
    return f"no copy of {what} was supplied, which the metadata log has on {joined_ids(brokers)}"


def _high_watermark(root: LogDirectory, topic: str, partition: int) -> int:
    try:
        return checkpointed_offsets(root, HIGH_WATERMARKS).get((topic, partition), 0)
    except LocatedError:  # has its own finding
        return 0
