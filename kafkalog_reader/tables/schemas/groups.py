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
    Column("lag", pa.int64(), "records up to the log end; null: no log supplied", "offsets"),
    Column(
        "status",
        pa.string(),
        "ok, below-log-start, above-log-end (both reset the group), topic-recreated or no-log",
    ),
    Column("logStartOffset", pa.int64(), "of the best copy of the partition"),
    Column("highWatermarkLow", pa.int64(), "its files prove that offsets below are committed"),
    Column("highWatermarkHigh", pa.int64(), "none is committed from here on"),
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
