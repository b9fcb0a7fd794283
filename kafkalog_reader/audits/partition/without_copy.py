"""Partitions of which no live copy was supplied, although brokers had them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.election.missing_directories import had_replica, missing_directories
from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS
from kafkalog_reader.audits.integrity.partial_copy import (
    folders_of,
    is_part_of_log_directory,
    named_partitions,
)
from kafkalog_reader.audits.partition.moved_aside import moved_copy
from kafkalog_reader.audits.partition.other_cluster_copies import OtherClusterCopies
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined, joined_ids
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import INTERNAL_TOPICS, shown
from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.election.missing_directories import MissingDirectory
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import Identity, LogDirectory, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_MIN_BROKERS: Final = 2
"""Of one broker alone nobody expects the copies of others."""
_NAMED: Final = 3
"""Maximum partitions that a text names before it counts the others."""


@dataclass(frozen=True, kw_only=True)
class WithoutCopy:
    """A partition that brokers had, and of which no live copy was supplied.

    Attributes:
        cluster_id: of its cluster.
        brokers: node ids of its replicas, sorted; without a metadata log, of the brokers whose
            checkpoints name it.
        roots: the supplied log directories of its brokers.
        is_lost: whether no copy can be expected elsewhere: each of its brokers was supplied, or
            without a metadata log several brokers of the cluster.
        is_assigned: whether the metadata log says so; else only checkpoints do.
        missing: log directories of its brokers that were not supplied and had a replica.
        renamed: folders of it that no broker loads.
        moved: copies of it that were moved aside.
        topic_id: by the metadata log; None if it is unknown.
    """

    cluster_id: str | None
    topic: str
    partition: int
    brokers: tuple[int, ...]
    roots: tuple[LogDirectory, ...]
    is_lost: bool
    is_assigned: bool = False
    missing: tuple[MissingDirectory, ...] = ()
    renamed: tuple[PartitionDirectory, ...] = ()
    moved: tuple[PartitionDirectory, ...] = ()
    topic_id: str | None = None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @cached_property
    def high_watermark(self) -> int:
        """The highest one in a checkpoint; 0 if there is none."""
        rows = (_high_watermark(root, self.topic, self.partition) for root in self.roots)
        return max(rows, default=0)

    @cached_property
    def held_below(self) -> int:
        """The end of the longest copy that was renamed or moved aside; 0 without one."""
        return max((self._end(each) for each in (*self.renamed, *self.moved)), default=0)

    @property
    def has_lost_records(self) -> bool:
        """Whether records may have been committed that no folder under another name holds."""
        if self.high_watermark:
            return self.held_below < self.high_watermark
        files = (Path(root.path, HIGH_WATERMARKS) for root in self.roots)
        may_have_records = bool(self.missing) or not all(f.is_file() for f in files)
        return may_have_records and not self.renamed and not self.moved

    @property
    def deleted(self) -> tuple[PartitionDirectory, ...]:
        """Copies that the next start of a broker deletes although they hold records."""
        return tuple(e for e in self.renamed if e.state == "delete" and self._end(e))

    def _end(self, copy: PartitionDirectory) -> int:
        """Where a copy ends; one that cannot be read may hold everything."""
        try:
            return end_after_damage(copy, scan_tail(copy)).next_offset
        except LocatedError:
            return self.high_watermark


def without_copy(
    evidence: Evidence, request: ReadRequest, clusters: Mapping[str | None, ClusterMetadata]
) -> Iterator[WithoutCopy]:
    """Yield the requested partitions without a live copy, by cluster and name.

    Args:
        evidence: the supplied paths.
        request: which partitions are requested, of whatever broker.
        clusters: what the metadata logs have, by cluster id; of other clusters the checkpoints of
            their brokers name the partitions.
    """
    roots: dict[str | None, list[LogDirectory]] = defaultdict(list)
    for root in () if evidence.skipped else evidence.roots:
        if not is_part_of_log_directory(root):
            roots[root.cluster_id].append(root)
    missing = missing_directories(evidence, clusters)
    folders: dict[Identity, list[PartitionDirectory]] = defaultdict(list)
    for directory in evidence.partition_directories(replace(request, brokers=None)):
        folders[directory.identity].append(directory)
    elsewhere = OtherClusterCopies(evidence, replace(request, brokers=None))
    for cluster_id in dict.fromkeys((*clusters, *roots)):
        cluster, own = clusters.get(cluster_id), roots.get(cluster_id, [])
        of_cluster = (
            _named(cluster_id, own)
            if cluster is None
            else _assigned(cluster_id, own, cluster, missing)
        )
        for each in of_cluster:
            found = folders.get((cluster_id, each.topic, each.partition), [])
            is_here = any(copy.is_replica for copy in found) or bool(
                elsewhere.brokers((cluster_id, each.topic, each.partition), each.topic_id)
                & {*each.brokers}
            )
            if request.selects(each.topic, each.partition) and not is_here:
                moved = (moved_copy(root, each.topic, each.partition) for root in own)
                yield replace(each, renamed=tuple(found), moved=tuple(filter(None, moved)))


def _assigned(
    cluster_id: str | None,
    roots: Sequence[LogDirectory],
    cluster: ClusterMetadata,
    missing: Sequence[MissingDirectory],
) -> Iterator[WithoutCopy]:
    """The partitions of a metadata log, as if no folder of them was supplied."""
    gone = [each for each in missing if each.root.cluster_id == cluster_id]
    of_broker: dict[int | None, list[LogDirectory]] = defaultdict(list)
    for root in roots:
        of_broker[root.broker_id].append(root)
    for (topic, partition), membership in sorted(cluster.partitions.items()):
        brokers = tuple(sorted(membership.replicas))
        own = [of_broker.get(broker, []) for broker in brokers]
        yield WithoutCopy(
            cluster_id=cluster_id,
            topic=topic,
            partition=partition,
            brokers=brokers,
            roots=tuple(root for each in own for root in each),
            is_assigned=True,
            is_lost=bool(brokers)
            and all(
                _are_all(each, cluster.brokers.get(broker, ()), gone)
                for broker, each in zip(brokers, own, strict=True)
            ),
            missing=tuple(each for each in gone if had_replica(each, membership)),
            topic_id=membership.topic_id,
        )


def _named(cluster_id: str | None, roots: Sequence[LogDirectory]) -> Iterator[WithoutCopy]:
    """The same of a cluster without a metadata log: the partitions that its checkpoints name.

    A broker drops the rows of a partition that it does not host any more when it writes the files
    again, seconds after it has renamed the folder to -delete (Kafka 3.9, LogManager#asyncDelete,
    ReplicaManager#checkpointHighWatermarks).
    """
    brokers = {root.broker_id for root in roots} - {None}
    of_place: dict[TopicPartition, list[LogDirectory]] = defaultdict(list)
    for root in roots:
        if root.broker_id is not None:
            for place in named_partitions(root) - folders_of(root):
                of_place[place].append(root)
    for (topic, partition), own in sorted(of_place.items()):
        yield WithoutCopy(
            cluster_id=cluster_id,
            topic=topic,
            partition=partition,
            brokers=tuple(sorted({r.broker_id for r in own if r.broker_id is not None})),
            roots=tuple(own),
            is_lost=len(brokers) >= _MIN_BROKERS,
        )


def _are_all(
    roots: Sequence[LogDirectory], registered: Sequence[str], gone: Sequence[MissingDirectory]
) -> bool:
    """Whether these are all log directories of a broker that are left.

    One that only its registration names is lost, unless a single disk was looked at.
    """
    if len(roots) >= max(1, len(registered)):
        return True
    return any(each.root in roots and not each.is_alone for each in gone)


def without_copy_text(partitions: Sequence[WithoutCopy]) -> str:
    """Which partitions have no copy, in one sentence without a full stop, and where they are."""
    what = several_names([(each.topic, each.partition) for each in partitions])
    brokers = joined_ids(sorted({broker for each in partitions for broker in each.brokers}))
    where = f"which the metadata log has on {brokers}"
    if not all(each.is_assigned for each in partitions):
        where = f"which the checkpoints of {brokers} name"
    return f"no copy of {what} was supplied, {where}"


def several_names(partitions: Sequence[TopicPartition]) -> str:
    """How many partitions there are, and the first few names: internal topics come last."""
    ordered = sorted(partitions, key=lambda each: each[0] in INTERNAL_TOPICS)
    names = [shown(f"{topic}-{partition}") for topic, partition in ordered]
    if len(names) == 1:
        return names[0]
    if len(names) > _NAMED + 1:
        names[_NAMED:] = [f"{len(names) - _NAMED:,} more"]
    return f"{len(partitions):,} partitions ({joined(names)})"


def _high_watermark(root: LogDirectory, topic: str, partition: int) -> int:
    try:
        return checkpointed_offsets(root, HIGH_WATERMARKS).get((topic, partition), 0)
    except LocatedError:  # has its own finding
        return 0
