"""What decides which metadata log may lead, read from files: folders with records, topics named."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.quorum.leading_logs import (
    UNDISPUTED,
    HeldTopic,
    LeadingLogs,
    NamedAt,
    NamedTopics,
    leading_logs,
)
from kafkalog_reader.audits.quorum.metadata_batches import Parting, parting
from kafkalog_reader.audits.quorum.metadata_copy import read_metadata_copy
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_framed
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.checkpoints import topic_id_of
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.metadata_history import FIRST_OFFSETS
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

_STRAY: Final = "stray"
_REQUEST: Final = ReadRequest(
    columns=("offset", "leaderEpoch", "timestamp", "value"),
    topics=frozenset({METADATA_TOPIC}), include_control_records=True,
)  # fmt: skip
_SCHEMA: Final = RecordsTable().projected(_REQUEST)


def read_leading_logs(
    evidence: Evidence, cluster_ids: Collection[str | None], copies: Sequence[MetadataCopy]
) -> LeadingLogs:
    """Which of the copies of one cluster may lead.

    Args:
        evidence: the supplied paths.
        cluster_ids: of the log directories whose folders count.
        copies: of the metadata log.
    """
    held = _held_topics(evidence, cluster_ids)
    filled = [each for each in copies if not each.is_empty]
    if not held or not filled:
        return replace(UNDISPUTED, held=tuple(held))
    wanted = frozenset(each.topic_id for each in held)
    named = {}
    for each in filled:
        try:
            named[each.directory.path] = _named_topics(each, wanted)
        except KafkaLogError:  # has words of its own; it may have named anything
            named[each.directory.path] = NamedTopics(offsets={}, is_whole=False)
    parted: dict[tuple[str, str], int | None] = {}
    for one, other in combinations(filled, 2):
        found = _parting(one, other)
        if found.is_fork or not found.is_compared:
            pair = one.directory.path, other.directory.path
            parted[pair] = found.offset if found.is_compared else None
    return leading_logs(held, named, parted)


def read_younger(
    evidence: Evidence, directories: Sequence[PartitionDirectory]
) -> dict[str, tuple[HeldTopic, ...]]:
    """The copies that must not lead, by path: see ``LeadingLogs``; cheap where none is.

    Args:
        evidence: the supplied paths.
        directories: copies of the metadata log of one cluster.
    """
    if _is_one_history(directories):
        return {}
    copies = []
    for each in directories:
        try:
            copies.append(read_metadata_copy(each))
        except KafkaLogError:  # has words of its own
            continue
    ids = {each.log_directory.cluster_id for each in directories}
    return dict(read_leading_logs(evidence, ids, copies).younger)


def read_leading_metadata(
    evidence: Evidence, *, is_silent: bool = False
) -> dict[str | None, ClusterMetadata]:
    """``read_cluster_metadata`` of the copies that may lead, by cluster id."""
    # Its decoder takes as long to import as everything else that a log directory needs.
    from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata

    copies: dict[str | None, list[PartitionDirectory]] = defaultdict(list)
    for each in evidence.partition_directories(_REQUEST):
        if each.is_replica:
            copies[each.log_directory.cluster_id].append(each)
    younger = {path for found in copies.values() for path in read_younger(evidence, found)}
    return read_cluster_metadata(evidence, is_silent=is_silent, passed_over=younger)


def _held_topics(evidence: Evidence, cluster_ids: Collection[str | None]) -> list[HeldTopic]:
    """The topics of which folders hold records, be they set aside already."""
    brokers: dict[tuple[str, str], set[int]] = defaultdict(set)
    partitions: dict[tuple[str, str], set[int | None]] = defaultdict(set)
    for each in evidence.partition_directories(ReadRequest()):
        root = each.log_directory
        is_live = each.is_replica or each.state == _STRAY
        if each.topic in (None, METADATA_TOPIC) or root.cluster_id not in cluster_ids:
            continue
        if not is_live or (topic_id := topic_id_of(each)) is None or not _has_log(each):
            continue
        key = each.topic or "", topic_id
        partitions[key].add(each.partition)
        if root.broker_id is not None:
            brokers[key].add(root.broker_id)
    return [
        HeldTopic(
            topic=topic, topic_id=topic_id, brokers=tuple(sorted(brokers[topic, topic_id])),
            partitions=len(found),
        )
        for (topic, topic_id), found in partitions.items()
    ]  # fmt: skip


def _has_log(directory: PartitionDirectory) -> bool:
    try:
        return any(each.log_size for each in segments(directory))
    except KafkaLogError:  # verify reports it; nothing proves that it has
        return False


def _named_topics(copy: MetadataCopy, wanted: Collection[str]) -> NamedTopics:
    """Those among the wanted topic ids.

    Raises:
        LocatedError: a record contradicts the format.
    """
    offsets: dict[str, NamedAt] = {}
    in_log = () if copy.is_truncated_to_snapshot else copy.records()
    last = (copy.snapshot[0] if copy.snapshot else 0) - 1
    streams = (
        ((NamedAt(0, last), each) for each in copy.snapshot_records()),
        ((NamedAt(each.offset, each.offset), each) for each in in_log),
    )
    for at, stored in chain.from_iterable(streams):
        if stored.control_type is not None:
            continue
        try:
            record = decode_framed(Family.METADATA, stored.value or b"")
        except MessageError:  # verify reports it
            continue
        is_topic = record.message is not None and record.message.name == "TopicRecord"
        if is_topic and record.fields["topicId"] in wanted:
            offsets[record.fields["topicId"]] = at
    start = copy.batches.start
    is_whole = start is not None and start <= FIRST_OFFSETS and not copy.batches.damage
    return NamedTopics(offsets=offsets, is_whole=is_whole)


def _parting(one: MetadataCopy, other: MetadataCopy) -> Parting:
    if one.is_truncated_to_snapshot or other.is_truncated_to_snapshot:
        return Parting(offset=0, is_compared=False)
    return parting(one.batches, other.batches)


def _is_one_history(directories: Sequence[PartitionDirectory]) -> bool:
    """Whether all copies are beginnings of one of them, by the last record of each.

    Records of one offset and leader epoch that are equal have equal ones before them (Raft).
    """
    try:
        tails = [(scan_tail(each), each) for each in directories]
        if any(tail.end is not ScanEnd.COMPLETE for tail, _ in tails):
            return False
        ranked = sorted(tails, key=lambda each: each[0].next_offset)
        return all(
            (own := _row_at(directory, tail.next_offset - 1)) is not None
            and own == _row_at(ranked[-1][1], tail.next_offset - 1)
            for tail, directory in ranked[:-1]
            if tail.next_offset
        )
    except KafkaLogError:  # the whole copies say more
        return False


def _row_at(directory: PartitionDirectory, offset: int) -> tuple[object, ...] | None:
    """The record at an offset; None if the log has none there."""
    request = replace(_REQUEST, from_offset=offset)
    for segment_slice in slices_of(directory, request):
        for rows in read_slice(segment_slice, _SCHEMA, request, Damage(Mode.FAILFAST)):
            for row in zip(*(rows[name].to_pylist() for name in _SCHEMA.names), strict=True):
                return row if row[_SCHEMA.names.index("offset")] == offset else None
    return None
