"""Partitions of which no copy was supplied: lost, or on brokers that were not supplied."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    KEEP_DELETED_FOLDER,
    LOOK_FOR_A_COPY,
    RENAME_FOLDER,
)
from kafkalog_reader.audits.catalogue.checkpoint_rules import REPLICA_DIRECTORY_MISSING
from kafkalog_reader.audits.catalogue.input_rules import REPLICA_NOT_SUPPLIED
from kafkalog_reader.audits.election.unseen import UnseenRole, unseen_brokers
from kafkalog_reader.audits.integrity.file_repair import Move, aside_path
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import is_part_of_log_directory
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.partition.supply_findings import name_moves, renamed_text
from kafkalog_reader.audits.partition.without_copy import without_copy, without_copy_text
from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.partition.without_copy import WithoutCopy
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_NAMED: Final = 20
"""Maximum partitions that the evidence of one finding names."""


def lost_partitions(
    evidence: Evidence, request: ReadRequest, clusters: Mapping[str | None, ClusterMetadata]
) -> Iterator[Finding]:
    """Yield KL-310 for each partition that no log directory has, although its brokers are here.

    It is critical unless the checkpoints show that nothing was committed, or a copy that was
    renamed or moved aside has all that was. Of partitions that a metadata log has on brokers that
    were not supplied KL-012 says so, once for a cluster.

    Args:
        evidence: the supplied paths.
        request: which partitions are requested.
        clusters: what the metadata logs have, by cluster id; see ``without_copy``.
    """
    elsewhere: dict[str | None, list[WithoutCopy]] = defaultdict(list)
    for each in without_copy(evidence, request, clusters):
        if each.is_lost:
            yield _lost(each)
        elif each.is_assigned:
            elsewhere[each.cluster_id].append(each)
    for cluster_id, partitions in elsewhere.items():
        cluster = clusters[cluster_id]
        roots = [
            root
            for root in evidence.roots
            if root.cluster_id == cluster_id and not is_part_of_log_directory(root)
        ]
        of_brokers = [root for root in roots if root.broker_id in cluster.brokers]
        if of_brokers:
            with_copies = {*cluster.partitions} - {(e.topic, e.partition) for e in partitions}
            are_expected = _are_others_expected(roots, cluster, with_copies)
            yield _elsewhere(partitions, of_brokers[0], are_expected=are_expected)


def lost_places(evidence: Evidence, request: ReadRequest) -> set[TopicPartition]:
    """The requested partitions that are lost as a whole; a selection of them is no mistake."""
    clusters = cluster_metadata(evidence)
    found = without_copy(evidence, request, clusters)
    return {(each.topic, each.partition) for each in found if each.is_lost}


def _lost(lost: WithoutCopy) -> Finding:
    text = f"{_where(lost)}{_effect(lost)}"
    if lost.moved:
        text += f"; moved aside: {', '.join(shown(copy.path) for copy in lost.moved)}"
    if 0 < lost.held_below < lost.high_watermark:
        text += f"; what is there ends before offset {lost.held_below:,}"
    if lost.high_watermark:
        text += f"; by a checkpoint, records below offset {lost.high_watermark:,} were committed"
    root = lost.roots[0]
    actions, moves = _to_do(lost)
    return finding(
        REPLICA_DIRECTORY_MISSING,
        text,
        severity="C" if lost.has_lost_records else None,
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
            "heldBelow": lost.held_below,
        },
        actions=actions,
        repairs=moves,
    )


def _to_do(lost: WithoutCopy) -> tuple[tuple[str, ...], tuple[Move, ...]]:
    """Which actions, and how to carry out the first."""
    named = () if lost.moved else name_moves(lost.renamed, lost.brokers, lost.topic_id)
    if named:
        return (RENAME_FOLDER,), named
    if not lost.deleted:
        return (LOOK_FOR_A_COPY,), ()
    kept = {copy.log_directory.path: copy.path for copy in lost.deleted}
    return (KEEP_DELETED_FOLDER, LOOK_FOR_A_COPY), tuple(
        Move(path=path.rstrip("/"), target=aside_path(root, lost.name))
        for root, path in kept.items()
    )


def _where(lost: WithoutCopy) -> str:
    """Which brokers had it, and that it is not there."""
    is_one = len(lost.brokers) == 1
    if not lost.is_assigned:
        which = f"which the checkpoints of {joined_ids(lost.brokers)} name"
        return f"no supplied broker has a folder of it, {which}"
    text = f"according to the metadata log its only {'replica is' if is_one else 'replicas are'}"
    text += f" on {joined_ids(lost.brokers)}"
    if lost.missing:
        several = f"{len(lost.missing)} log directories of these were"
        which = several if lost.missing[1:] else f"{lost.missing[0].place} was"
        return f"{text}, and {which} not supplied"
    none = "which has no folder of it" if is_one else "and none of them has a folder of it"
    return f"{text}, {none}"


def _effect(lost: WithoutCopy) -> str:
    effect = renamed_text(lost.renamed, lost.brokers)
    if len(lost.brokers) == 1:
        return effect
    return effect.replace("it will create an empty one", "they will create empty ones")


def _are_others_expected(
    roots: Sequence[LogDirectory], cluster: ClusterMetadata, with_copies: Iterable[TopicPartition]
) -> bool:
    """Whether somebody looks at a cluster, and not at one broker with its metadata log.

    So it is with several brokers or several controllers, and where a copy of the only broker is
    outside the in-sync replicas.
    """
    nodes = {root.broker_id for root in roots if root.broker_id is not None}
    brokers = nodes & cluster.brokers.keys()
    if len(brokers) > 1 or len(nodes - brokers) > 1:
        return True
    known = [cluster.partitions[each] for each in with_copies]
    of_broker = [each for each in known if brokers & {*each.replicas}]
    unseen = (unseen_brokers(each, brokers, is_lacking=False) for each in of_broker)
    return any(each is not None and each.role is UnseenRole.ALL_IN_SYNC for each in unseen)


def _elsewhere(
    partitions: Sequence[WithoutCopy], root: LogDirectory, *, are_expected: bool
) -> Finding:
    """KL-012 of all partitions whose brokers, or log directories, were not all supplied."""
    names = [shown(each.name) for each in partitions[:_NAMED]]
    text = without_copy_text(partitions)
    kept = [each for each in partitions if each.held_below]
    if folders := [shown(copy.path) for each in kept for copy in (*each.moved, *each.renamed)]:
        more = f" and {len(folders) - 1:,} more" if folders[1:] else ""
        text += f"; folders that no broker loads may hold their records: {folders[0]}{more}"
    found = finding(
        REPLICA_NOT_SUPPLIED,
        text,
        severity="H" if are_expected else "I",
        directory=PartitionDirectory.whole(root),
        evidence={"partitions": len(partitions), "first": ", ".join(names)},
    )
    lost = (each for each in partitions if each not in kept)
    return replace(found, partitions=tuple((each.topic, each.partition) for each in lost))
