"""Columns of what is in ``__consumer_offsets``."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import TIMESTAMP
from kafkalog_reader.tables.table import Column

GROUP_COMMITS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("brokerId", pa.int32(), "of the copy of __consumer_offsets that was read"),
    Column("groupId", pa.string(), "group that committed"),
    Column("topic", pa.string(), "topic of the committed offset"),
    Column("partition", pa.int32(), "partition of the committed offset"),
    Column("topicId", pa.string(), "null: not recorded (value versions 0 to 3)"),
    Column("committedOffset", pa.int64(), "next offset to read; null: the commit was removed"),
    Column("committedLeaderEpoch", pa.int32(), "of the last record read; null or -1: unknown"),
    Column("metadata", pa.string(), "text that the client sent along"),
    Column("commitTime", TIMESTAMP, "when the broker took the commit"),
    Column("expireTime", TIMESTAMP, "only before Kafka 2.1, or where the client set it"),
    Column("isTombstone", pa.bool_(), "removes the commit: expired, deleted or reset"),
    Column("isTransactional", pa.bool_(), "committed within a producer's transaction"),
    Column("transactionState", pa.string(), "committed, aborted, open or none"),
    Column("producerId", pa.int64(), "of that transaction; -1: none"),
    Column("offsetsPartition", pa.int32(), "partition of __consumer_offsets"),
    Column("recordOffset", pa.int64(), "offset of the commit's record there"),
    Column("recordTimestamp", TIMESTAMP, "timestamp of that record"),
    Column("valueVersion", pa.int16(), "version of the record's value; null: tombstone"),
    Column("problem", pa.string(), "why the record cannot be read as a commit; else null"),
)

GROUP_OFFSETS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("groupId", pa.string(), "group that committed"),
    Column("topic", pa.string(), "topic of the committed offset"),
    Column("partition", pa.int32(), "partition of the committed offset"),
    Column("committedOffset", pa.int64(), "next offset that the group reads"),
    Column(
        "lag",
        pa.int64(),
        "up to the log end in the files; null: no log supplied",
        "offsets",
    ),
    Column(
        "status",
        pa.string(),
        "ok, below-log-start, above-log-end (both out of range), on-lost-branch (the records it "
        "read were cut off by an election), topic-recreated or no-log",
    ),
    Column(
        "safeOffset", pa.int64(), "where the group can go on if the log does not have its offset"
    ),
    Column("logStartOffset", pa.int64(), "of the best copy of the partition"),
    Column("highWatermarkLow", pa.int64(), "its files prove that offsets below are committed"),
    Column("lastStableOffset", pa.int64(), "read_committed consumers stop here"),
    Column("logEndOffset", pa.int64(), "of the best copy of the partition"),
    Column("committedLeaderEpoch", pa.int32(), "of the last record read; null or -1: unknown"),
    Column("metadata", pa.string(), "text that the client sent along"),
    Column("commitTime", TIMESTAMP, "when the broker took the commit"),
    Column("expireTime", TIMESTAMP, "only before Kafka 2.1, or where the client set it"),
    Column("topicId", pa.string(), "null: not recorded (value versions 0 to 3)"),
    Column("brokerId", pa.int32(), "of the copy of __consumer_offsets that was read"),
    Column("offsetsPartition", pa.int32(), "partition of __consumer_offsets"),
    Column("recordOffset", pa.int64(), "offset of the commit's record there"),
)

_PLACE_IN_OFFSETS_TOPIC: Final = (
    Column("brokerId", pa.int32(), "of the copy of __consumer_offsets that was read"),
    Column("offsetsPartition", pa.int32(), "partition of __consumer_offsets"),
    Column("recordOffset", pa.int64(), "offset of the record there; null: offset commits only"),
    Column("recordTimestamp", TIMESTAMP, "timestamp of that record"),
    Column("recordType", pa.int16(), "number of the record type, such as 2 for GroupMetadata"),
    Column("valueVersion", pa.int16(), "version of the record's value; null: tombstone"),
    Column("unknownTags", pa.string(), "tagged fields of later releases: JSON, number to hex"),
    Column("problem", pa.string(), "why the record cannot be read; else null"),
    Column("key", pa.binary(), "as stored, where the record cannot be read"),
    Column("value", pa.binary(), "as stored, where the record cannot be read"),
)
_GROUP: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("groupId", pa.string(), "of the group; null: the key cannot be read"),
    Column("type", pa.string(), "classic, consumer (KIP-848), share or streams"),
)
_GENERATION: Final = Column(
    "generation", pa.int32(), "of a classic group; the group epoch of others"
)

GROUPS: Final = (
    *_GROUP,
    Column(
        "state",
        pa.string(),
        "Empty, Stable, Assigning or Reconciling, as after the coordinator has loaded the group",
    ),
    Column("members", pa.int32(), "number of members"),
    _GENERATION,
    Column("protocolType", pa.string(), "consumer, connect, ...; empty: never had members"),
    Column("protocol", pa.string(), "assignor that the group uses; null: none, or the default"),
    Column("leader", pa.string(), "member id of the leader of a classic group"),
    Column("stateTime", TIMESTAMP, "when a classic group got its state; null: before Kafka 2.1"),
    Column("assignmentEpoch", pa.int32(), "group epoch of the newest target assignment"),
    Column("assignmentTime", TIMESTAMP, "when it was computed; null: unknown"),
    Column("subscribedTopics", pa.list_(pa.string()), "of all members"),
    Column(
        "committedPartitions", pa.int32(), "partitions of selected topics with a committed offset"
    ),
    *_PLACE_IN_OFFSETS_TOPIC,
)

GROUP_MEMBERS: Final = (
    *_GROUP,
    Column("memberId", pa.string(), "given by the broker, or by the client (KIP-848)"),
    Column("instanceId", pa.string(), "group.instance.id of a static member"),
    Column("clientId", pa.string(), "client.id"),
    Column("clientHost", pa.string(), "address of the client"),
    Column("rackId", pa.string(), "client.rack"),
    Column("subscribedTopics", pa.list_(pa.string()), "null: unknown"),
    Column("subscribedTopicRegex", pa.string(), "regular expression that the broker resolves"),
    Column("assignment", pa.list_(pa.string()), "partitions that it has, such as orders-3"),
    Column("pendingRevocation", pa.list_(pa.string()), "partitions that it must give back"),
    Column("targetAssignment", pa.list_(pa.string()), "partitions that it is to have"),
    Column("ownedPartitions", pa.list_(pa.string()), "that it had when it joined; null: unknown"),
    Column("ownedGeneration", pa.int32(), "generation in which it had them; null: unknown"),
    Column("assignor", pa.string(), "of a classic group, or asked for by the member"),
    Column(
        "fitsAssignors",
        pa.list_(pa.string()),
        "assignors that give the whole group's assignment: range, roundrobin, sticky (balanced); "
        "null: not a classic consumer group",
    ),
    Column("memberEpoch", pa.int32(), "of the member's assignment; null: classic"),
    Column(
        "memberState",
        pa.string(),
        "stable, unrevoked-partitions (it must give some back) or unreleased-partitions (it waits "
        "for others), of a streams group unrevoked-tasks or unreleased-tasks; null: classic",
    ),
    Column("rebalanceTimeoutMs", pa.int32(), "in which it must join or give back", "ms"),
    Column("sessionTimeoutMs", pa.int32(), "after which it is removed; null: unknown", "ms"),
    Column("subscriptionData", pa.binary(), "as stored, if it is not the consumer protocol"),
    Column("assignmentData", pa.binary(), "as stored, if it is not the consumer protocol"),
    Column("subscriptionUserData", pa.binary(), "of the assignor, as stored"),
    Column("assignmentUserData", pa.binary(), "of the assignor, as stored"),
    *_PLACE_IN_OFFSETS_TOPIC,
)

GROUP_GENERATIONS: Final = (
    *_GROUP,
    _GENERATION,
    Column(
        "change",
        pa.string(),
        "rebalanced (another generation), updated (the same one), empty (no members) or removed",
    ),
    Column("protocolType", pa.string(), "consumer, connect, ...; empty: never had members"),
    Column("protocol", pa.string(), "assignor that the group uses; null: none, or the default"),
    Column("leader", pa.string(), "member id of the leader of a classic group"),
    Column("stateTime", TIMESTAMP, "when a classic group got its state; null: before Kafka 2.1"),
    Column("members", pa.list_(pa.string()), "member ids"),
    Column("joined", pa.list_(pa.string()), "member ids that the record before does not have"),
    Column("left", pa.list_(pa.string()), "member ids that only the record before has"),
    *_PLACE_IN_OFFSETS_TOPIC,
)
