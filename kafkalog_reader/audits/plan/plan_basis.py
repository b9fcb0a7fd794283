"""What a plan is made of, besides the choices of its partitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    LOG_DIRECTORY_EMPTY,
    LOG_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.catalogue.replica_rules import CONTROLLERS_BEHIND
from kafkalog_reader.audits.recovery.node_releases import UNKNOWN, NodeReleases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.plan.act import Act
    from kafkalog_reader.audits.plan.deleted_topic import DeletedPartition
    from kafkalog_reader.audits.plan.files_first import FilesFirst
    from kafkalog_reader.audits.plan.lost_already import LostAlready
    from kafkalog_reader.audits.plan.older_disks import OlderDisk
    from kafkalog_reader.audits.plan.open_finding import OpenFinding
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit

UNCLEAN_ELECTION: Final = "unclean.leader.election.enable"


@dataclass(frozen=True, kw_only=True)
class PlanBasis:
    """What is known of the whole cluster.

    Attributes:
        paths: those given by the user.
        files_first: what is done to files before there is a plan of everything, and not by the
            choice of a partition.
        severe: critical and high findings of the partitions and log directories.
        lost_already: what no supplied copy holds any more.
        deleted: partitions of topics that are being deleted.
        configs: settings by topic, according to the metadata log.
        releases: of the nodes, according to the metadata log.
        options: options of the audit as they were given; ``replica-diff`` takes the same.
        follow_links: whether links were followed.
        is_selected: whether other partitions of these brokers were not requested.
        has_zookeeper: whether one of the brokers is the controller, and ZooKeeper has the ISRs.
        is_without_metadata: whether there is no ZooKeeper, and no metadata log was supplied.
        acts: what to do before a start, by partition.
        frozen: topics that would lose records by an unclean election.
        exchanged: which paths were given with each other's node ids: the labels are wrong, or the
            disks of brokers are exchanged; empty if none were.
        older_disks: brokers whose disk may be an old copy, where no metadata log shows it.
        running: brokers that ran while they were copied, before others.
        quorums: of the controllers whose metadata log was supplied.
        idle_partitions, idle_brokers: of partitions whose choice was not kept, because there is
            none: their number, and the brokers with a copy.
    """

    paths: tuple[str, ...]
    files_first: tuple[FilesFirst, ...] = ()
    severe: tuple[OpenFinding, ...] = ()
    lost_already: tuple[LostAlready, ...] = ()
    deleted: tuple[DeletedPartition, ...] = ()
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    releases: NodeReleases = UNKNOWN
    options: tuple[str, ...] = ()
    follow_links: bool = False
    is_selected: bool = False
    has_zookeeper: bool = False
    is_without_metadata: bool = False
    acts: Mapping[str, tuple[Act, ...]] = field(default_factory=dict)
    frozen: frozenset[str] = frozenset()
    exchanged: str = ""
    older_disks: Mapping[int, OlderDisk] = field(default_factory=dict)
    running: tuple[int, ...] = ()
    quorums: tuple[QuorumAudit, ...] = ()
    idle_partitions: int = 0
    idle_brokers: frozenset[int] = frozenset()

    def unclean_election(self, topic: str) -> str | None:
        """The topic's own setting; None if unknown or not set."""
        return self.configs.get(topic, {}).get(UNCLEAN_ELECTION)

    @property
    def may_lack_metadata(self) -> bool:
        """Whether whole log directories show that the metadata log may be lost."""
        return self.is_without_metadata and any(
            each.code == CONTROLLERS_BEHIND for each in self.severe
        )

    @property
    def missing_directories(self) -> tuple[OpenFinding, ...]:
        """Log directories without which their node does not start."""
        return tuple(each for each in self.severe if each.code == LOG_DIRECTORY_MISSING)

    @property
    def empty_directories(self) -> tuple[OpenFinding, ...]:
        """Empty log directories whose brokers, in a cluster with ZooKeeper, must start last."""
        return tuple(each for each in self.severe if each.code == LOG_DIRECTORY_EMPTY)

    @property
    def went_back(self) -> Mapping[int, str]:
        """Brokers whose partitions are older than the cluster, each with the proof."""
        found = [each.quorum.rolled_back for each in self.quorums]
        return {node: each.nodes[node] for each in found for node in sorted(each.with_partitions)}


def allows_unclean(topic: str, configs: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether the topic's own configuration allows unclean election."""
    return configs.get(topic, {}).get(UNCLEAN_ELECTION) == "true"
