"""Log directories that brokers registered and of which nothing was supplied, such as a lost disk.

Source: Kafka 4.3, BrokerRegistration, PartitionRegistration (directory ids since 3.7, KIP-858).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.checkpoint_rules import LOG_DIRECTORY_MISSING
from kafkalog_reader.audits.integrity.file_repair import Format
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import is_part_of_log_directory
from kafkalog_reader.audits.recovery.disks import METADATA_LOG
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.log_directory import live_partitions
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingDirectory:
    """A log directory that a broker registered and that was not supplied; others of it were.

    Attributes:
        directory_id: of its ``meta.properties``.
        root: a log directory of the same broker that was supplied.
        partitions: replicas that it has by the metadata log.
        is_alone: whether nothing but ``root`` was supplied of the whole cluster: then somebody
            looks at one disk, and nothing need be lost.
    """

    directory_id: str
    root: LogDirectory
    partitions: int
    is_alone: bool = False

    @property
    def broker_id(self) -> int:
        """The node id of its broker."""
        assert self.root.broker_id is not None
        return self.root.broker_id

    @property
    def place(self) -> str:
        """Its name in messages."""
        return f"log directory {shown(self.directory_id)} of broker {self.broker_id}"

    @property
    def repair(self) -> Format:
        """What lets the node start with a new disk."""
        return Format(cluster_id=self.root.cluster_id or "CLUSTER_ID", node=self.broker_id)


def missing_directories(
    evidence: Evidence, clusters: Mapping[str | None, ClusterMetadata]
) -> tuple[MissingDirectory, ...]:
    """Find them by the ids in ``meta.properties`` and in the registrations of the brokers.

    Of a broker with a log directory whose id is unknown, or of which only some partitions were
    copied, nothing is said; nor where log directories were skipped, because any may be one of them.
    A directory that no registration names is a new one, formatted in the place of a missing one.

    Args:
        evidence: the supplied paths.
        clusters: what the metadata logs have, by cluster id.
    """
    supplied = frozenset(root.directory_id for root in evidence.roots)  # also with a wrong cluster
    return tuple(
        each
        for cluster_id, cluster in (() if evidence.skipped else clusters.items())
        for each in _of_cluster(
            [root for root in evidence.roots if root.cluster_id == cluster_id], cluster, supplied
        )
    )


def had_replica(missing: MissingDirectory, membership: PartitionMembership) -> bool:
    """Whether a replica of a partition was in that log directory, as far as is known."""
    broker = missing.broker_id
    own = membership.directory_of(broker)
    return broker in membership.replicas and own in (None, missing.directory_id)


def _of_cluster(
    roots: list[LogDirectory], cluster: ClusterMetadata, supplied: Container[str | None]
) -> Iterator[MissingDirectory]:
    of_broker: dict[int, list[LogDirectory]] = defaultdict(list)
    for root in roots:
        if root.broker_id is not None:
            of_broker[root.broker_id].append(root)
    missing: dict[tuple[int, str], LogDirectory] = {}
    for broker_id, own in sorted(of_broker.items()):
        registered = cluster.brokers.get(broker_id, ())
        here = {root.directory_id for root in own}
        left = [each for each in registered if each not in supplied]
        new = [
            each for each in own if each.directory_id not in registered and not _is_metadata(each)
        ]
        if len(left) <= len(new):  # formatted in their place
            continue
        if None not in here and not any(map(is_part_of_log_directory, own)):
            missing |= {(broker_id, each): own[0] for each in left}
    if not missing:
        return
    held: dict[tuple[int, str | None], int] = defaultdict(int)
    for membership in cluster.partitions.values():
        for broker_id in membership.replicas:
            held[broker_id, membership.directory_of(broker_id)] += 1
    for (broker_id, directory_id), root in missing.items():
        yield MissingDirectory(
            directory_id=directory_id,
            root=root,
            partitions=held[broker_id, directory_id],
            is_alone=len(roots) == 1,
        )


def _is_metadata(root: LogDirectory) -> bool:
    """Whether it may be only the metadata.log.dir of a node, which a broker does not register."""
    return METADATA_LOG in live_partitions(root)


def directory_missing_finding(missing: MissingDirectory) -> Finding:
    """KL-317."""
    count = missing.partitions
    lived = f"{count:,} partitions are" if count != 1 else "1 partition is"
    return finding(
        LOG_DIRECTORY_MISSING,
        f"according to the metadata log {lived} in {missing.place}, which was not supplied",
        severity="I" if missing.is_alone else None,
        confidence="possible" if missing.is_alone else "proven",
        directory=PartitionDirectory.whole(missing.root),
        evidence={"directoryId": shown(missing.directory_id), "partitions": count},
        repairs=(missing.repair,),
    )
