"""Columns of what is in ``__cluster_metadata``."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import TIMESTAMP
from kafkalog_reader.tables.table import Column

CLUSTER_METADATA: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("brokerId", pa.int32(), "of the copy of __cluster_metadata that was read"),
    Column("snapshotEndOffset", pa.int64(), "of the snapshot that has the record; null: the log"),
    Column("offset", pa.int64(), "of the record; in a snapshot, counted from its beginning"),
    Column("leaderEpoch", pa.int32(), "of the record's batch"),
    Column("timestamp", TIMESTAMP, "of the record"),
    Column("controlType", pa.string(), "LEADER_CHANGE, SNAPSHOT_HEADER, ...; null: not control"),
    Column("type", pa.int32(), "number of the record type; null: control record, or unreadable"),
    Column("typeName", pa.string(), "such as PartitionRecord; null: no known release has it"),
    Column("version", pa.int32(), "of the record"),
    Column("json", pa.string(), "its fields, as kafka-dump-log prints them"),
    Column("problem", pa.string(), "why the record cannot be read; else null"),
    Column("value", pa.binary(), "as stored, where json does not have all of it"),
)

_PLACE_IN_METADATA: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("brokerId", pa.int32(), "of the copy of __cluster_metadata that was read"),
    Column("snapshotEndOffset", pa.int64(), "of the snapshot that has the record; null: the log"),
    Column("offset", pa.int64(), "of the record; in a snapshot, counted from its beginning"),
    Column("timestamp", TIMESTAMP, "of the record"),
)

PARTITION_STATES: Final = (
    *_PLACE_IN_METADATA,
    Column("topic", pa.string(), "topic; null: its record is not in the metadata log any more"),
    Column("topicId", pa.string(), "of this topic; one that was deleted and created again differs"),
    Column("partition", pa.int32(), "partition"),
    Column("change", pa.string(), "created, changed, elrCleared or removed"),
    Column(
        "endOffset", pa.int64(), "of the record that ended the state; null: current, or removed"
    ),
    Column("endTime", TIMESTAMP, "of that record"),
    Column("leader", pa.int32(), "node id; -1: none"),
    Column("leaderEpoch", pa.int32(), "of the partition; rises with each election"),
    Column("partitionEpoch", pa.int32(), "rises with each change"),
    Column(
        "isRecovering", pa.bool_(), "the leader was elected uncleanly and has not recovered yet"
    ),
    Column("replicas", pa.list_(pa.int32()), "assigned brokers, the preferred leader first"),
    Column("isr", pa.list_(pa.int32()), "in-sync replicas"),
    Column("eligibleLeaderReplicas", pa.list_(pa.int32()), "of KIP-966"),
    Column("lastKnownElr", pa.list_(pa.int32()), "of KIP-966; before an unclean shutdown"),
    Column("addingReplicas", pa.list_(pa.int32()), "of a reassignment"),
    Column("removingReplicas", pa.list_(pa.int32()), "of a reassignment"),
    Column("directories", pa.list_(pa.string()), "directory id of each replica's log directory"),
)

BROKERS: Final = (
    *_PLACE_IN_METADATA,
    Column("nodeId", pa.int32(), "of the registered broker"),
    Column("isRegistered", pa.bool_(), "false: unregistered since"),
    Column("isFenced", pa.bool_(), "the controller considers it down: it leads nothing"),
    Column("isInControlledShutdown", pa.bool_(), "it asked to shut down"),
    Column("brokerEpoch", pa.int64(), "of the registration"),
    Column("incarnationId", pa.string(), "of the broker's process"),
    Column("rack", pa.string(), "broker.rack"),
    Column("endpoints", pa.list_(pa.string()), "listener name, host and port"),
    Column("logDirectories", pa.list_(pa.string()), "directory ids of its log directories"),
    Column("cordonedLogDirectories", pa.list_(pa.string()), "directory ids; from Kafka 4.3 on"),
    Column("registrationOffset", pa.int64(), "of the newest registration's record"),
    Column("registrationTime", TIMESTAMP, "of that record"),
)

TOPIC_CONFIGS: Final = (
    *_PLACE_IN_METADATA,
    Column("resourceType", pa.string(), "topic, broker, brokerLogger, clientMetrics or group"),
    Column("resource", pa.string(), "topic or node id; empty: the default of all brokers"),
    Column("name", pa.string(), "of the setting"),
    Column("value", pa.string(), "as stored"),
)
