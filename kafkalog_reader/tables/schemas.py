"""Every Arrow schema, column by column, with units and meanings.

Spark's schema, the documented columns and empty results derive from these. Spark's types decide:
nothing unsigned (a CRC is an int64), no dictionaries, timestamps in UTC microseconds.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.tables.table import Column

# Kafka counts milliseconds; Spark takes Arrow timestamps in UTC microseconds only.
TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

IDENTITY: Final = (
    Column("clusterId", pa.string(), "cluster.id of meta.properties"),
    Column("brokerId", pa.int32(), "node.id or broker.id of meta.properties, or the N of N=PATH"),
    Column("brokerLabel", pa.string(), "the NAME of NAME=PATH where it is no number"),
    Column("logDirectory", pa.string(), "path of the log directory, as given"),
    Column("topic", pa.string(), "topic, from the directory's name"),
    Column("partition", pa.int32(), "partition, from the directory's name"),
)

# --- records, batches

KAFKA_COLUMNS: Final = (
    Column("key", pa.binary(), "key; null and empty are different"),
    Column("value", pa.binary(), "value; null is a tombstone"),
    Column("topic", pa.string(), "topic, from the directory's name"),
    Column("partition", pa.int32(), "partition, from the directory's name"),
    Column("offset", pa.int64(), "the record's number in its partition"),
    Column("timestamp", TIMESTAMP, "of the record, or of its append to the log (timestampType 1)"),
    Column("timestampType", pa.int32(), "0 CreateTime, 1 LogAppendTime"),
    Column("headers", HEADERS, "in order, keys may repeat; null where there are none"),
)
"""What Spark's own Kafka source shows, in its order and types."""

RECORDS: Final = (
    *KAFKA_COLUMNS,
    Column("clusterId", pa.string(), "cluster.id of meta.properties"),
    Column("brokerId", pa.int32(), "node.id or broker.id of meta.properties, or the N of N=PATH"),
    Column("logDirectory", pa.string(), "path of the log directory, as given"),
    Column("segmentBaseOffset", pa.int64(), "the offset in the segment file's name"),
    Column("position", pa.int64(), "of the record's batch in the segment file", "bytes"),
    Column("batchBaseOffset", pa.int64(), "base offset of the record's batch"),
    Column("leaderEpoch", pa.int32(), "leader epoch of the record's batch"),
    Column("producerId", pa.int64(), "-1 when the producer is not idempotent"),
    Column("producerEpoch", pa.int16(), "-1 when the producer is not idempotent"),
    Column("sequence", pa.int32(), "the producer's number of the record; -1 without"),
    Column("isTransactional", pa.bool_(), "written in a transaction"),
    Column("isControl", pa.bool_(), "a marker of the broker's, not a client's record"),
    Column("controlType", pa.string(), "ABORT, COMMIT, LEADER_CHANGE, ...; null without"),
    Column("codec", pa.string(), "none, gzip, snappy, lz4 or zstd"),
    Column("magic", pa.int8(), "format version of the record's batch"),
)

BATCHES: Final = (
    *IDENTITY,
    Column("segmentBaseOffset", pa.int64(), "the offset in the segment file's name"),
    Column("position", pa.int64(), "of the batch in the segment file", "bytes"),
    Column("size", pa.int32(), "of the whole batch, header included", "bytes"),
    Column("baseOffset", pa.int64(), "first offset, as produced"),
    Column("lastOffset", pa.int64(), "last offset, as produced"),
    Column("count", pa.int32(), "records that are there: fewer than offsets after compaction"),
    Column("baseSequence", pa.int32(), "the producer's number of the first record; -1 without"),
    Column("lastSequence", pa.int32(), "the producer's number of the last record; -1 without"),
    Column("producerId", pa.int64(), "-1 when the producer is not idempotent"),
    Column("producerEpoch", pa.int16(), "-1 when the producer is not idempotent"),
    Column("leaderEpoch", pa.int32(), "epoch of the leader that appended the batch"),
    Column("isTransactional", pa.bool_(), "written in a transaction"),
    Column("isControl", pa.bool_(), "holds a marker of the broker's"),
    Column("deleteHorizonMs", pa.int64(), "when tombstones in it may go; null without", "ms UTC"),
    Column("timestampType", pa.int32(), "0 CreateTime, 1 LogAppendTime"),
    Column("baseTimestamp", TIMESTAMP, "as stored: the delete horizon where there is one"),
    Column("maxTimestamp", TIMESTAMP, "of the newest record, or of the append"),
    Column("magic", pa.int8(), "format version"),
    Column("attributes", pa.int16(), "as stored"),
    Column("codec", pa.string(), "none, gzip, snappy, lz4 or zstd"),
    Column("crc", pa.int64(), "CRC-32C as stored"),
    Column("crcComputed", pa.int64(), "CRC-32C of the bytes that are there"),
    Column("crcValid", pa.bool_(), "whether the two agree"),
)

# --- files of a replica

# --- audits
