"""Columns of segments, replicas, indexes and the other files of a partition directory."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import TIMESTAMP
from kafkalog_reader.tables.schemas.identity import IDENTITY
from kafkalog_reader.tables.table import Column

_SEGMENT_BASE: Final = Column("segmentBaseOffset", pa.int64(), "from the name of the segment file")
_STATE: Final = Column(
    "state",
    pa.string(),
    "null: live; else the directory's suffix: delete, future, stray; or remote",
)

SEGMENTS: Final = (
    *IDENTITY,
    _STATE,
    _SEGMENT_BASE,
    Column("suffix", pa.string(), "null: live; else the file's suffix: deleted, cleaned, swap"),
    Column("sizeInBytes", pa.int64(), "of the log; null: indexes without a log", "bytes"),
    Column("offsetIndexBytes", pa.int64(), "null: no offset index", "bytes"),
    Column("timeIndexBytes", pa.int64(), "null: no time index", "bytes"),
    Column("transactionIndexBytes", pa.int64(), "null: no transaction index", "bytes"),
    Column("firstOffset", pa.int64(), "base offset of the first batch; null: none, or unknown"),
    Column("lastOffset", pa.int64(), "last offset of the last batch; null: no batch"),
    Column("batches", pa.int64(), "record batches, including those with a wrong CRC"),
    Column("records", pa.int64(), "in batches with a correct CRC; null: unknown"),
    Column("minTimestamp", TIMESTAMP, "smallest first timestamp of its batches; null: unknown"),
    Column("maxTimestamp", TIMESTAMP, "greatest of its batches"),
    Column("codecs", pa.list_(pa.string()), "codecs of its batches: none, gzip, snappy, ..."),
    Column("magics", pa.list_(pa.int32()), "format versions of its batches"),
    Column("firstLeaderEpoch", pa.int32(), "of the first batch; -1: before Kafka 0.11"),
    Column("lastLeaderEpoch", pa.int32(), "of the last batch"),
    Column("validBytes", pa.int64(), "before the first torn or wrong batch: recovery keeps them"),
    Column("crcErrors", pa.int64(), "batches with a wrong CRC"),
    Column("modifiedAt", TIMESTAMP, "newest modification time of its files"),
    Column(
        "hasSnapshotAtEnd",
        pa.bool_(),
        "producer snapshot where the next segment begins: uploads need it; null: active, not live",
    ),
)

REPLICAS: Final = (
    *IDENTITY,
    _STATE,
    Column("topicId", pa.string(), "from partition.metadata; null: no such file"),
    Column("logStartOffset", pa.int64(), "smallest offset visible to clients"),
    Column(
        "logEndOffset",
        pa.int64(),
        "one past the last batch on disk, also after damage",
    ),
    Column(
        "checkpointedHighWatermark",
        pa.int64(),
        "in replication-offset-checkpoint, up to 5 s old; above the log end: records are missing",
    ),
    Column("highWatermarkLow", pa.int64(), "records below it were committed, as this copy proves"),
    Column("lastStableOffset", pa.int64(), "if the high watermark is the log end"),
    Column("lastStableOffsetLow", pa.int64(), "if the high watermark is highWatermarkLow"),
    Column("recoveryPoint", pa.int64(), "records below it were flushed"),
    Column("cleanerOffset", pa.int64(), "first offset that the log cleaner has not cleaned"),
    Column("lastLeaderEpoch", pa.int32(), "of the last batch; null: none, as before Kafka 0.11"),
    Column("segments", pa.int32(), "live segments that have a log file"),
    Column("sizeInBytes", pa.int64(), "of their log files", "bytes"),
    Column(
        "filesSizeInBytes",
        pa.int64(),
        "of every file in the directory: logs, indexes, snapshots, segments to be deleted",
        "bytes",
    ),
    Column(
        "cleanShutdown",
        pa.bool_(),
        "null: only partition directories were given, with no meta.properties beside them",
    ),
    Column("tornBytes", pa.int64(), "after the last complete batch, without zeros", "bytes"),
    Column("directoryId", pa.string(), "directory.id in meta.properties, Kafka 3.7 and later"),
    Column("capturedAt", TIMESTAMP, "newest modification time of its segment files"),
)

_ENTRY: Final = Column("entry", pa.int32(), "index of the entry in its file, from 0")

OFFSET_INDEX: Final = (
    *IDENTITY,
    _SEGMENT_BASE,
    _ENTRY,
    Column("offset", pa.int64(), "batches before the position end below this offset"),
    Column("position", pa.int64(), "in the log, where reading starts", "bytes"),
    Column(
        "confirmed",
        pa.bool_(),
        "a batch starts there, and all before it end below the offset; null: no log",
    ),
)

TIME_INDEX: Final = (
    *IDENTITY,
    _SEGMENT_BASE,
    _ENTRY,
    Column("timestamp", TIMESTAMP, "greatest so far in the segment"),
    Column("offset", pa.int64(), "in the first batch with this timestamp"),
    Column(
        "confirmed",
        pa.bool_(),
        "that batch holds the offset, and none before is newer; null: no log, or magic 0",
    ),
)

TRANSACTION_INDEX: Final = (
    *IDENTITY,
    _SEGMENT_BASE,
    _ENTRY,
    Column("producerId", pa.int64(), "of the aborted transaction"),
    Column("firstOffset", pa.int64(), "of the transaction here, maybe in an older segment"),
    Column("lastOffset", pa.int64(), "of the abort marker"),
    Column("lastStableOffset", pa.int64(), "right after this abort"),
    Column(
        "confirmed",
        pa.bool_(),
        "the log holds an abort marker of that producer there; null: no log",
    ),
)

LEADER_EPOCHS: Final = (
    *IDENTITY,
    Column("source", pa.string(), "checkpoint: the file; batches: the log itself"),
    Column("leaderEpoch", pa.int32(), "-1: before Kafka 0.11"),
    Column("startOffset", pa.int64(), "first offset of this epoch"),
    Column("nextOffset", pa.int64(), "one past its last; the log end for the last epoch"),
)

PRODUCERS: Final = (
    *IDENTITY,
    Column("snapshotOffset", pa.int64(), "state before this offset, from the file name"),
    Column("producerId", pa.int64(), "of an idempotent or transactional producer"),
    Column("producerEpoch", pa.int16(), "the current one"),
    Column("lastSequence", pa.int32(), "of the last data batch; -1: none in this epoch"),
    Column("lastOffset", pa.int64(), "of the last data batch; -1: only markers were seen"),
    Column("offsetDelta", pa.int32(), "last minus first offset of that data batch"),
    Column("timestamp", TIMESTAMP, "of the last batch or marker"),
    Column("coordinatorEpoch", pa.int32(), "of the last marker; -1: none"),
    Column("currentTransactionFirstOffset", pa.int64(), "of the open transaction; null: none"),
)

CHECKPOINTS: Final = (
    *IDENTITY,
    Column("checkpoint", pa.string(), "name of the file"),
    Column("offset", pa.int64(), "its meaning follows from the file name"),
)

GAPS: Final = (
    *IDENTITY,
    Column("firstOffset", pa.int64(), "first offset that a consumer does not get"),
    Column("nextOffset", pa.int64(), "one past the last; null: unknown, the log ends in damage"),
    Column("offsets", pa.int64(), "number of these offsets; null: unknown"),
    Column(
        "reason",
        pa.string(),
        "belowLogStart, controlRecord, abortedTransaction, openTransaction, compacted, damaged or "
        "missing (no file holds them, although others prove that they were written)",
    ),
    Column(
        "hiddenFrom",
        pa.string(),
        "all: every consumer; read_committed: only consumers with that isolation level",
    ),
    Column("file", pa.string(), "relative to the log directory"),
    Column("position", pa.int64(), "in the file; null: no place in it", "bytes"),
    Column("evidence", pa.string(), "what proves the reason"),
)
