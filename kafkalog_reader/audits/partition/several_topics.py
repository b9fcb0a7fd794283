"""Copies with different topic ids: a topic was deleted, made again, and one copy is of the old one.

The metadata log knows which topic exists; ZooKeeper does, too, but no file does. Then the times of
records only make it likely: whatever was written to the old topic is older.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.audits.recovery.rule import ClusterTopics

_SEVERAL: Final = 2


def why_not_compared(replicas: Sequence[Replica], topics: ClusterTopics | None) -> str:
    """Which copies have which topic id, and how to know the id of the topic that exists."""
    ids = dict.fromkeys(each.topic_id for each in replicas if each.topic_id is not None)
    held = [
        f"{topic_id} on {joined_names([each for each in replicas if each.topic_id == topic_id])}"
        for topic_id in ids
    ]
    reason = (
        "the replicas have different topic ids: they are different topics of the same name: "
        + ", ".join(held)
    )
    directory = replicas[0].directory
    current = _current(directory.topic, topics)
    if current in ids:
        of_current = [each for each in replicas if each.topic_id == current]
        exists = joined_names(of_current)
        return f"{reason}; according to the metadata log the topic that exists is that of {exists}"
    if directory.log_directory.meta_version == 0:
        return (
            f"{reason}; zookeeper-shell.sh ZOOKEEPER:2181 get /brokers/topics/"
            f"{shown(directory.topic or '')} shows the topic_id of the one that exists"
        )
    return reason


def outdated_copies(
    replicas: Sequence[ReplicaAudit], topics: ClusterTopics | None
) -> tuple[ReplicaAudit, ...]:
    """The copies of a deleted topic, if the metadata log and the times of records agree on them.

    None if the metadata log knows their topic under another name, or does not have the topic of
    any copy: then folders were put together wrongly, or the metadata log is older than the copies.
    """
    topic = replicas[0].directory.topic if replicas else None
    current = _current(topic, topics)
    if topics is None or current is None:
        return ()
    deleted = [each for each in replicas if each.files.topic_id not in (None, current)]
    newest = _newest(replicas, current)
    if newest is None or any(each.files.topic_id in topics.names for each in deleted):
        return ()
    times = (_newest(deleted, each.files.topic_id) for each in deleted)
    return tuple(deleted) if all(time is None or time < newest for time in times) else ()


def with_outdated_copies(audit: PartitionAudit, topics: ClusterTopics | None) -> PartitionAudit:
    """Name the copies of a deleted topic: by the metadata log, or by the times of their records.

    Without a metadata log, none is named if the copies of one of the topics have no records.
    """
    ids = {each.files.topic_id for each in audit.replicas} - {None}
    if len(ids) < _SEVERAL:
        return audit
    if (current := _current(audit.topic, topics)) in ids:
        deleted = [e for e in audit.replicas if e.files.topic_id not in (None, current)]
        return replace(audit, unknown_copies=tuple(each.directory for each in deleted))
    newest = {each: _newest(audit.replicas, each) for each in ids}
    times = sorted(time for time in newest.values() if time is not None)
    if len(times) < len(ids) or times[-1] == times[-2]:
        return audit
    outdated = [
        each
        for each in audit.replicas
        if each.files.topic_id is not None and newest[each.files.topic_id] != times[-1]
    ]
    has = f"the topic of {joined_names(outdated)} has older records: probably deleted"
    return replace(
        audit,
        reason=f"{audit.reason}; {has}",
        unknown_copies=tuple(each.directory for each in outdated),
    )


def _current(topic: str | None, topics: ClusterTopics | None) -> str | None:
    return None if topics is None else topics.topic_ids.get(topic or "")


def _newest(replicas: Iterable[ReplicaAudit], topic_id: str | None) -> int | None:
    """The time of the last batch of the copies of one topic; None without batches."""
    own = (each.summary.last_timestamp for each in replicas if each.files.topic_id == topic_id)
    return max((each for each in own if each is not None), default=None)
