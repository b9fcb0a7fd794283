"""In-sync replicas of which no copy was supplied, where every supplied copy is outside the ISR.

Then committed records may be missing, however sound the copies are: only an in-sync replica is
known to hold them all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.unseen import UnseenRole, unseen_brokers
from kafkalog_reader.audits.integrity.partial_copy import named_partitions
from kafkalog_reader.audits.partition.moved_aside import is_replaced, moved_copy
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets, read_leader_epochs
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.scan.expected_end import HIGH_WATERMARKS
from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.hidden_records import HiddenRecords
    from kafkalog_reader.tables.request import ReadRequest


class InSyncReplicas:
    """Says of partitions which in-sync replicas were not supplied, without a whole audit.

    Args:
        evidence: the supplied paths; their metadata log is read when a partition is first asked
            for.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    def not_supplied(self, copies: Sequence[PartitionDirectory]) -> tuple[int, ...]:
        """The in-sync replicas of a partition if none of its copies is one; else nothing.

        Nothing, too, where that is unknown: without a metadata log, or if that is older than the
        copies. As ``PartitionAudit.unseen``, a copy that replaced one moved aside counts as that.

        Args:
            copies: every supplied copy of one partition.
        """
        membership = self._membership(copies[0])
        here = {each.log_directory.broker_id for each in copies}
        if membership is None or None in here:
            return ()
        unseen = unseen_brokers(membership, here, is_lacking=False)
        if unseen is None or unseen.role is not UnseenRole.ALL_IN_SYNC:
            return ()
        here |= set(self._replaced(copies, unseen.brokers))
        unseen = unseen_brokers(membership, here, is_lacking=False)
        if unseen is None or unseen.role is not UnseenRole.ALL_IN_SYNC:
            return ()
        try:
            is_older = any(
                epoch > membership.leader_epoch for each in copies for epoch in _epochs(each)
            )
        except LocatedError:  # the copy is reported as unreadable
            is_older = False
        return () if is_older else unseen.brokers

    @cached_property
    def _clusters(self) -> Mapping[str | None, ClusterMetadata]:
        return cluster_metadata(self._evidence)

    def _membership(self, copy: PartitionDirectory) -> PartitionMembership | None:
        if copy.topic in (None, METADATA_TOPIC) or copy.partition is None:
            return None
        known = self._clusters.get(copy.log_directory.cluster_id)
        return None if known is None else known.partitions.get((copy.topic, copy.partition))

    def _replaced(
        self, copies: Sequence[PartitionDirectory], brokers: Sequence[int]
    ) -> Iterator[int]:
        """The brokers whose copy was moved aside, while one of these reaches as far."""
        first = copies[0]
        assert first.topic is not None
        assert first.partition is not None
        for root in self._evidence.roots:
            broker_id = root.broker_id
            if broker_id is None or broker_id not in brokers:
                continue
            if root.cluster_id == first.log_directory.cluster_id:
                moved = moved_copy(root, first.topic, first.partition)
                if moved is not None and is_replaced(moved, copies):
                    yield broker_id


def note_not_in_sync(
    hidden: HiddenRecords, evidence: Evidence, requests: Iterable[ReadRequest]
) -> None:
    """Note the selected partitions of which no in-sync replica was supplied.

    Not those of which only offsets below the high watermark of a copy are requested: it has them.

    Args:
        hidden: receives them.
        evidence: the inputs.
        requests: which partitions and offsets.
    """
    replicas = InSyncReplicas(evidence)
    for request in requests:
        everywhere = replace(request, brokers=None)
        for (_, topic, partition), copies in evidence.topic_partitions(everywhere):
            _, to_offset = request.offsets_of(topic, partition)
            if to_offset is None or to_offset > max(map(_high_watermark, copies)):
                in_sync = replicas.not_supplied(copies)
                if in_sync:
                    hidden.add_not_in_sync(shown(copies[0].path), in_sync)


def note_absent(hidden: HiddenRecords, evidence: Evidence, request: ReadRequest) -> None:
    """Note the partitions of requested topics that brokers have and of which there is no copy.

    Nothing is noted where no topic is named: the supplied paths are what is asked for then.

    Args:
        hidden: receives them.
        evidence: the inputs; metadata logs and checkpoints name partitions.
        request: which logs are read.
    """
    if not request.topics or request.replica.startswith("broker:"):
        return
    named = {place for root in evidence.roots for place in named_partitions(root)}
    for cluster in cluster_metadata(evidence).values():
        named |= cluster.partitions.keys()
    everywhere = replace(request, brokers=None)
    here = {
        (topic, partition) for (_, topic, partition), _ in evidence.topic_partitions(everywhere)
    }
    for topic, partition in sorted(named - here):
        if everywhere.selects(topic, partition):
            hidden.add_absent(f"{topic}-{partition}")


def _high_watermark(copy: PartitionDirectory) -> int:
    """According to its checkpoint; 0 if that has no row."""
    key = (copy.topic or "", -1 if copy.partition is None else copy.partition)
    return checkpointed_offsets(copy.log_directory, HIGH_WATERMARKS).get(key, 0)


def _epochs(copy: PartitionDirectory) -> Iterator[int]:
    """The leader epochs of a copy: of its last batch, and of entries that the log may have had."""
    tail = scan_tail(copy)
    last = tail.last_leader_epoch
    if last is not None:
        yield last
    end = end_after_damage(copy, tail).next_offset
    reached = max(end, _high_watermark(copy))
    for entry in read_leader_epochs(copy.path, context=copy.context) or ():
        is_later = last is not None and entry.leader_epoch > last
        if not is_later or end <= entry.start_offset <= reached:
            yield entry.leader_epoch
