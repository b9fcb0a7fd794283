"""Nodes that went back in time, and metadata that no copy has: what their partitions prove.

A node that is restored from an older backup has forgotten records that a majority may have
committed with its vote. No file of the metadata log shows that, but those of partitions do:

- Brokers replay only committed metadata, and only controllers create leader epochs. So a leader
  epoch in a log proves that the metadata log of its node had it.
- Every in-sync replica holds what is below the high watermark. So a shorter one lost its end.
- A folder with records whose topic no metadata log ever named proves that it was created later.
- A broker sets a replica aside (``-stray``) if its metadata does not name the topic. Where it did
  so with all partitions of the cluster, the controllers began with an empty or older log.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.copied_earlier import metadata_moments, node_moment
from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.checkpoints import (
    checkpointed_offsets,
    read_leader_epochs,
    read_topic_id,
)
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.quorum.leading_logs import HeldTopic
    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

_STRAY: Final = "stray"


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """What partitions prove about copies of the metadata log; each text is one proof.

    Attributes:
        nodes: by node id, why its copy ends before what the node had.
        with_partitions: those of them whose partitions went back, too.
        lost_end: why committed records are in no copy; empty if nothing shows it.
    """

    nodes: Mapping[int | None, str] = field(default_factory=dict)
    with_partitions: frozenset[int] = frozenset()
    lost_end: str = ""


def rolled_back(
    evidence: Evidence,
    cluster_id: str | None,
    copies: Sequence[MetadataCopy],
    unknown: Sequence[HeldTopic] = (),
) -> RolledBack:
    """Compare copies of the metadata log with the partitions of the cluster.

    Only the ends of logs are read, and only where small files give a reason.

    Args:
        evidence: the supplied paths.
        cluster_id: of the partitions.
        copies: of the metadata log; without those that must not lead.
        unknown: topics that none of them ever named.
    """
    replicas: dict[tuple[str, int], list[PartitionDirectory]] = defaultdict(list)
    stray: list[PartitionDirectory] = []
    for each in evidence.partition_directories(ReadRequest()):
        if each.log_directory.cluster_id != cluster_id or each.topic in (None, METADATA_TOPIC):
            continue
        if each.is_replica:
            replicas[each.topic or "", each.partition or 0].append(each)
        elif each.state == _STRAY:
            stray.append(each)
    ranked = sorted(copies, key=lambda each: each.end, reverse=True)
    states = [*_states(ranked)] if replicas or stray else []
    if not replicas:
        known = states[0][1].partitions if states else {}
        return RolledBack(lost_end=_all_set_aside(stray, known))
    if not states:
        return RolledBack()
    last, newest = states[0]
    is_last = all(each.batches.readable_end <= last.end.offset for each in copies)
    lost_end = _later_epoch(replicas, newest) if is_last else ""  # else damaged copies may have it
    lost_end = lost_end or _never_named(unknown)
    moments = metadata_moments(evidence)
    nodes: dict[int | None, str] = {}
    with_partitions = set()
    for copy, state in states:
        node = copy.node_id
        own = {
            place: [each for each in found if each.log_directory.broker_id == node]
            for place, found in replicas.items()
        }
        if node is None:
            continue
        if reason := _later_epoch(own, state):
            nodes[node] = reason
        elif node_moment(cluster_id, node, moments) is not None:
            continue  # it ran while it was copied, before the others
        elif copy.end < last.end and (reason := _shorter(node, own, replicas, newest)):
            nodes[node] = reason
            with_partitions.add(node)
    return RolledBack(nodes=nodes, with_partitions=frozenset(with_partitions), lost_end=lost_end)


def _never_named(topics: Sequence[HeldTopic]) -> str:
    """That folders hold records of topics which no metadata log ever named; empty without one."""
    if not topics:
        return ""
    first = topics[0]
    more = f" and {len(topics) - 1:,} more" if len(topics) > 1 else ""
    have = "has" if len(first.brokers) == 1 else "have"
    return (
        f"{joined_ids([*first.brokers])} {have} records of topic {shown(first.topic)} (topic id "
        f"{first.topic_id}){more}, and no metadata log here ever named it"
    )


def _all_set_aside(stray: Sequence[PartitionDirectory], known: Collection[TopicPartition]) -> str:
    """That every partition of a cluster is set aside, and no metadata log names it; else empty."""
    partitions = {(each.topic or "", each.partition or 0) for each in stray if _has_log(each)}
    if not partitions or any(each in known for each in partitions):
        return ""
    topic, partition = min(partitions)
    first = shown(f"{topic}-{partition}")
    which = first if len(partitions) == 1 else f"{len(partitions):,} partitions (first {first})"
    return f"the brokers set all of {which} aside (-stray), and no metadata log names any of them"


def _has_log(directory: PartitionDirectory) -> bool:
    try:
        return any(each.log_size for each in segments(directory))
    except KafkaLogError:  # verify reports it; it may have
        return True


def _states(copies: Sequence[MetadataCopy]) -> Iterator[tuple[MetadataCopy, ClusterMetadata]]:
    """What copies say at their ends; those that a start cuts are known to have lost something."""
    # Its decoder takes as long to import as everything else here.
    from kafkalog_reader.audits.election.metadata_log import read_metadata_log

    for copy in copies:
        if copy.is_empty or copy.batches.damage:
            continue
        try:
            found = read_metadata_log(copy.directory)
        except KafkaLogError:  # has words of its own
            continue
        if found is not None:
            yield copy, found


def _later_epoch(
    replicas: Mapping[tuple[str, int], Sequence[PartitionDirectory]], state: ClusterMetadata
) -> str:
    """The first log with a leader epoch that a metadata log does not have yet."""
    for place, found in replicas.items():
        known = state.partitions.get(place)
        if known is None:
            continue
        for each in found:
            epoch = _last_epoch(each, known.leader_epoch, known.topic_id)
            if epoch is not None:
                return (
                    f"{each.replica_name} has leader epoch {epoch} of {shown(place[0])}-"
                    f"{place[1]}, and the metadata log ends with {known.leader_epoch}"
                )
    return ""


def _last_epoch(directory: PartitionDirectory, above: int, topic_id: str) -> int | None:
    """The last leader epoch of a log, if it is above another one and its batches agree."""
    try:
        epochs = read_leader_epochs(directory.path, context=directory.context)
        if not epochs or epochs[-1].leader_epoch <= above:
            return None
        if read_topic_id(directory.path, context=directory.context) != topic_id:
            return None  # of a topic that was created again
        tail = scan_tail(directory)
    except KafkaLogError:  # verify reports it
        return None
    last = epochs[-1]
    has_batches = tail.next_offset > last.start_offset
    if tail.next_offset < last.start_offset:
        return None
    return (
        None if has_batches and tail.last_leader_epoch != last.leader_epoch else last.leader_epoch
    )


def _shorter(
    node: int | None,
    own: Mapping[tuple[str, int], Sequence[PartitionDirectory]],
    replicas: Mapping[tuple[str, int], Sequence[PartitionDirectory]],
    newest: ClusterMetadata,
) -> str:
    """The first in-sync replica of a node that ends below the high watermark of another one."""
    for place, mine in own.items():
        membership = newest.partitions.get(place)
        if membership is None or node not in membership.isr or len(mine) != 1:
            continue
        others = (
            each
            for each in replicas[place]
            if each.log_directory.broker_id in membership.isr and each not in mine
        )
        committed = max((_high_watermark(each, place) for each in others), default=0)
        try:
            tail = scan_tail(mine[0]) if committed else None
        except KafkaLogError:  # verify reports it
            continue
        if tail is not None and tail.end is ScanEnd.COMPLETE and tail.next_offset < committed:
            return (
                f"it is in sync for {shown(place[0])}-{place[1]}, where offsets below "
                f"{committed:,} were committed, and its copy ends at {tail.next_offset:,}"
            )
    return ""


def _high_watermark(directory: PartitionDirectory, place: tuple[str, int]) -> int:
    try:
        return checkpointed_offsets(directory.log_directory, HIGH_WATERMARKS).get(place, 0)
    except KafkaLogError:  # verify reports it
        return 0
