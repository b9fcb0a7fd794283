"""Columns of records and record batches."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import HEADERS, TIMESTAMP
from kafkalog_reader.tables.schemas.identity import IDENTITY
from kafkalog_reader.tables.table import Column

KAFKA_COLUMNS: Final = (
    Column("key", pa.binary(), "key; null and empty are different"),
    Column("value", pa.binary(), "value; null is a tombstone"),
    Column("topic", pa.string(), "topic, from the directory name"),
    Column("partition", pa.int32(), "partition, from the directory name"),
    Column("offset", pa.int64(), "offset of the record in its partition"),
    Column("timestamp", TIMESTAMP, "set by the client, or by the broker (timestampType 1)"),
    Column("timestampType", pa.int32(), "0 CreateTime, 1 LogAppendTime, -1 none (magic 0)"),
    Column("headers", HEADERS, "in order, keys may repeat; null if there are none"),
)
"""What Spark's own Kafka source shows, in its order and types."""

RECORDS: Final = (
    *KAFKA_COLUMNS,
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("brokerId", pa.int32(), "node.id or broker.id in meta.properties, or the N of N=PATH"),
    Column("logDirectory", pa.string(), "path of the log directory, as given"),
    Column("segmentBaseOffset", pa.int64(), "from the name of the segment file"),
    Column("position", pa.int64(), "of the record's batch in the segment file", "bytes"),
    Column("batchBaseOffset", pa.int64(), "base offset of the record's batch"),
    Column(
        "batchBaseTimestamp",
        TIMESTAMP,
        "as stored: set by the client even if timestampType is 1; null in magic 0 and 1",
    ),
    Column("leaderEpoch", pa.int32(), "leader epoch of the record's batch"),
    Column("producerId", pa.int64(), "-1 if the producer is not idempotent"),
    Column("producerEpoch", pa.int16(), "-1 if the producer is not idempotent"),
    Column("sequence", pa.int32(), "sequence number of the record; -1 if not idempotent"),
    Column("isTransactional", pa.bool_(), "written in a transaction"),
    Column(
        "transactionState",
        pa.string(),
        "how its transaction ended: committed, aborted, open or none; null: control record",
    ),
    Column("isControl", pa.bool_(), "written by a broker, for example a transaction marker"),
    Column("controlType", pa.string(), "ABORT, COMMIT, LEADER_CHANGE, ...; null: not control"),
    Column("codec", pa.string(), "none, gzip, snappy, lz4 or zstd"),
    Column("magic", pa.int8(), "format version of the record's batch"),
    Column(
        "leftover",
        pa.string(),
        "why no running broker serves it: suffix of its file (.deleted, .cleaned, .swap) or folder "
        "(-delete, -stray), or replaced; null: part of the log",
    ),
)

BATCHES: Final = (
    *IDENTITY,
    Column("segmentBaseOffset", pa.int64(), "from the name of the segment file"),
    Column("position", pa.int64(), "of the batch in the segment file", "bytes"),
    Column("size", pa.int32(), "of the whole batch, header included", "bytes"),
    Column("baseOffset", pa.int64(), "first, as produced; null: compressed, magic 0 or 1"),
    Column("lastOffset", pa.int64(), "last offset, as produced"),
    Column("count", pa.int32(), "number of records; null: compressed, magic 0 or 1"),
    Column("baseSequence", pa.int32(), "of the first record; -1 if not idempotent"),
    Column("lastSequence", pa.int32(), "of the last record; -1 if not idempotent"),
    Column("producerId", pa.int64(), "-1 if the producer is not idempotent"),
    Column("producerEpoch", pa.int16(), "-1 if the producer is not idempotent"),
    Column("leaderEpoch", pa.int32(), "epoch of the leader that appended the batch"),
    Column("isTransactional", pa.bool_(), "written in a transaction"),
    Column("isControl", pa.bool_(), "holds a control record, not client records"),
    Column("deleteHorizonMs", pa.int64(), "when tombstones may be removed; null: none", "ms UTC"),
    Column("timestampType", pa.int32(), "0 CreateTime, 1 LogAppendTime, -1 none (magic 0)"),
    Column(
        "baseTimestamp",
        TIMESTAMP,
        "as stored: the delete horizon if one is set; null in magic 0 and 1",
    ),
    Column("maxTimestamp", TIMESTAMP, "of the newest record, or append time"),
    Column("magic", pa.int8(), "format version"),
    Column("attributes", pa.int16(), "as stored"),
    Column("codec", pa.string(), "none, gzip, snappy, lz4 or zstd"),
    Column("crc", pa.int64(), "CRC-32C as stored, CRC-32 in magic 0 and 1"),
    Column("crcComputed", pa.int64(), "the same, computed from the bytes"),
    Column("crcValid", pa.bool_(), "crc equals crcComputed"),
)
