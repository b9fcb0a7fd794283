"""What a node loads of its own copy of the metadata log when it starts, and what keeps it from it.

The loader and the controller replay the newest snapshot and the log above it. A controller ends at
the first record that it refuses; a broker that is no controller logs an error and goes on without
it. Source: Kafka 4.4, SharedServer, MetadataLoader, QuorumController; combined nodes of 4.3.1 and
4.4.0 did so.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.election.feature_levels import first_unsupported
from kafkalog_reader.audits.election.metadata_log import (
    ClusterMetadata,
    read_metadata_from,
    read_metadata_log,
)
from kafkalog_reader.audits.election.metadata_replay import METADATA_REQUEST
from kafkalog_reader.audits.recovery.metadata_snapshot import SnapshotEnd, newest_snapshot
from kafkalog_reader.audits.recovery.names import is_of_broker
from kafkalog_reader.audits.recovery.node_releases import (
    KAFKA_3_6,
    KAFKA_3_8,
    KAFKA_3_9,
    KAFKA_4_0,
    KAFKA_4_3,
    METADATA_VERSION,
    UNKNOWN,
    NodeReleases,
)
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.errors import KafkaLogError, LogPosition
from kafkalog_reader.format.quorum_state import parse_quorum_state
from kafkalog_reader.io.names import QUORUM_STATE, shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.small_file import METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.election.replay_rules import RefusedRecord
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLoad:
    """What one node loads.

    Attributes:
        metadata: the state that it replays; None if that is not known, or it does not get so far.
        ends: why the node ends, or waits for ever; empty if it goes on.
        lacks: why it goes on with less than the snapshot should have; empty if it has all.
        refused: the first record that a controller refuses.
    """

    metadata: ClusterMetadata | None = None
    ends: str = ""
    lacks: str = ""
    refused: RefusedRecord | None = None

    def topics(self) -> ClusterTopics:
        """The parts that the prediction of its start needs."""
        known = ClusterTopics() if self.metadata is None else self.metadata.topics()
        return replace(known, ends=self.ends, lacks=self.lacks)


def node_load(
    directory: PartitionDirectory, *, is_controller: bool, releases: NodeReleases = UNKNOWN
) -> NodeLoad:
    """Replay a copy as its node does; what cannot be read here is not known.

    Args:
        directory: the copy.
        is_controller: whether its node has this role, alone or with that of a broker.
        releases: of the nodes.
    """
    try:
        return _load(directory, is_controller, releases)
    except KafkaLogError:  # of the log, which has its own findings
        return NodeLoad()


def _load(directory: PartitionDirectory, is_controller: bool, releases: NodeReleases) -> NodeLoad:
    newest = newest_snapshot(directory)
    if releases.before(KAFKA_3_6) and _begins_at_zero(directory):
        newest = None
    lacks = what = ""
    loaded = None
    if newest is not None and newest.end is not SnapshotEnd.WHOLE:
        what = f"its newest metadata snapshot, {newest.where}, is damaged ({newest.problem})"
        is_refused = newest.end is SnapshotEnd.REFUSED
        stops_brokers = newest.stops_brokers and not releases.before(KAFKA_3_8)
        if is_refused and (is_controller or stops_brokers):
            return NodeLoad(ends=f"the node ends when it starts: {what}")
        loaded = None if is_refused else newest.loaded
        lacks = f"the node loads nothing of what follows there, and no such topic: {what}"
    metadata = (
        read_metadata_from(directory, loaded, newest.end_offset)
        if newest is not None and lacks
        else read_metadata_log(directory)
    )
    if metadata is None:
        return NodeLoad()
    refused = _first(metadata.refused, _unsupported(metadata, directory.log_directory.broker_id))
    ends = ""
    if refused is not None and (is_controller or refused.is_unreadable):
        ends = ends_at(directory, refused)
    elif lacks and _is_without_version(metadata, releases, is_controller=is_controller):
        does = (
            "the node ends when it has replayed its metadata log"
            if is_controller
            else "the broker waits for its metadata when it starts, and never gets any"
        )
        ends = f"{does}: no record sets {METADATA_VERSION}: {what}"
    return NodeLoad(metadata=metadata, ends=ends, lacks=lacks, refused=refused)


_NEEDS_VERSION_SINCE: Final = {True: KAFKA_4_3, False: KAFKA_3_9}
"""By the controller role: the release from which a node does not come up without a version."""


def _is_without_version(
    metadata: ClusterMetadata, releases: NodeReleases, *, is_controller: bool
) -> bool:
    """Whether a node does not come up because it knows no ``metadata.version``.

    A controller does where it has replayed no record at all: then it writes those of a new cluster.
    A broker gets others of its controller, but that one is not among them. Before 4.0 it needs the
    version only for registrations, and those do not come into its state together with a record that
    it cannot replay: a broker of 3.9.1 then came up.
    """
    has_version = METADATA_VERSION in metadata.features
    writes_it = is_controller and metadata.is_blank
    since = _NEEDS_VERSION_SINCE[is_controller]
    if not is_controller and metadata.refused is not None:
        since = KAFKA_4_0
    return not has_version and not writes_it and releases.since(since)


def ends_at(directory: PartitionDirectory, refused: RefusedRecord) -> str:
    """Why a node ends that refuses a record of its copy."""
    where = shown(directory.path.rstrip("/"))
    return f"the node ends when it replays its metadata log, {where}: {refused.text}"


def _begins_at_zero(directory: PartitionDirectory) -> bool:
    found = segments(directory)
    return bool(found) and found[0].base_offset == 0


def _unsupported(metadata: ClusterMetadata, node_id: int | None) -> RefusedRecord | None:
    return first_unsupported(metadata.levels, metadata.ranges, node_id)


def _first(one: RefusedRecord | None, other: RefusedRecord | None) -> RefusedRecord | None:
    found = [each for each in (one, other) if each is not None]
    return min(found, key=lambda each: each.offset, default=None)


def with_node_loads(
    evidence: Evidence, clusters: Mapping[str | None, ClusterMetadata]
) -> dict[str | None, ClusterMetadata]:
    """The metadata of clusters, with the nodes that load something else, or end.

    A cluster of which no copy can be replayed is known as the node loads it that goes on.
    """
    found = dict(clusters)
    loads: dict[str | None, dict[int, NodeLoad]] = {}
    for directory in evidence.partition_directories(METADATA_REQUEST):
        cluster_id, node_id = directory.log_directory.cluster_id, directory.log_directory.broker_id
        if not directory.is_replica or directory.partition != 0 or node_id is None:
            continue
        load = _deviating(directory, found.get(cluster_id))
        if load is None:
            continue
        loads.setdefault(cluster_id, {})[node_id] = load
        if load.metadata is not None:
            found.setdefault(cluster_id, load.metadata)
    for cluster_id, known in loads.items():
        if cluster_id in found:
            nodes = {node: each.topics() for node, each in known.items()}
            found[cluster_id] = replace(found[cluster_id], nodes=nodes)
    return found


def _deviating(directory: PartitionDirectory, best: ClusterMetadata | None) -> NodeLoad | None:
    """What a node loads, if it is not what the best copy of its cluster has."""
    try:
        newest = newest_snapshot(directory)
    except KafkaLogError:
        return None
    is_damaged = newest is not None and newest.end is not SnapshotEnd.WHOLE
    is_best = best is not None and best.source == directory.path
    refused = None if best is None else best.refused
    if not is_damaged and refused is None and not is_best:
        return None
    is_controller = is_controllers(directory, best)
    if (
        is_damaged or best is None or not is_best
    ):  # copies may differ: what one refuses proves nothing of others
        releases = UNKNOWN if best is None else best.releases()
        load = node_load(directory, is_controller=is_controller, releases=releases)
        return load if load.ends or (is_damaged and load.lacks) else None
    refused = _first(refused, _unsupported(best, directory.log_directory.broker_id))
    if refused is None or not (is_controller or refused.is_unreadable):
        return None
    return NodeLoad(metadata=best, ends=ends_at(directory, refused), refused=refused)


def is_controllers(directory: PartitionDirectory, metadata: ClusterMetadata | None) -> bool:
    """Whether a copy is that of a controller, which may be a broker too."""
    root = directory.log_directory
    if metadata is not None and root.broker_id in metadata.controllers:
        return True
    path = posixpath.join(directory.path, QUORUM_STATE)
    try:
        content = read_if_present(path, METADATA_LIMIT, context=directory.context)
        if content is not None:
            state = parse_quorum_state(content, LogPosition(shown(path)))
            if root.broker_id in (state.leader_id, *(state.voters or ())):
                return True
    except KafkaLogError:  # has its own finding
        pass
    return root.clean_shutdown is not None and not is_of_broker(root)
