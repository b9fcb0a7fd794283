"""Every Arrow schema, column by column, with units and meanings.

Spark's schema, the documented columns and empty results derive from these. Spark's types decide:
nothing unsigned (a CRC is an int64), no dictionaries, timestamps in UTC microseconds.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import HEADERS, TIMESTAMP
from kafkalog_reader.tables.table import Column

IDENTITY: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("brokerId", pa.int32(), "node.id or broker.id in meta.properties, or the N of N=PATH"),
    Column("brokerLabel", pa.string(), "the NAME of NAME=PATH, if it is not a number"),
    Column("logDirectory", pa.string(), "path of the log directory, as given"),
    Column("topic", pa.string(), "topic, from the directory name"),
    Column("partition", pa.int32(), "partition, from the directory name"),
)

# --- records, batches

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

# --- files of a replica

_SEGMENT_BASE: Final = Column("segmentBaseOffset", pa.int64(), "from the name of the segment file")
_STATE: Final = Column(
    "state", pa.string(), "null: live; else the directory's suffix: delete, future, stray"
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
)

REPLICAS: Final = (
    *IDENTITY,
    _STATE,
    Column("topicId", pa.string(), "from partition.metadata; null: no such file"),
    Column("logStartOffset", pa.int64(), "smallest offset visible to clients"),
    Column(
        "logEndOffset",
        pa.int64(),
        "one past the last batch before any damage behind the last entry of the offset index",
    ),
    Column(
        "checkpointedHighWatermark",
        pa.int64(),
        "in replication-offset-checkpoint, up to 5 s old; above the log end: records are missing",
    ),
    Column("highWatermarkLow", pa.int64(), "records below it were committed, as this copy proves"),
    Column("highWatermarkHigh", pa.int64(), "no record from here on was committed: the log end"),
    Column("lastStableOffset", pa.int64(), "if the high watermark is highWatermarkHigh"),
    Column("lastStableOffsetLow", pa.int64(), "if the high watermark is highWatermarkLow"),
    Column("recoveryPoint", pa.int64(), "records below it were flushed"),
    Column("cleanerOffset", pa.int64(), "first offset that the log cleaner has not cleaned"),
    Column("lastLeaderEpoch", pa.int32(), "of the last batch; null: no batch"),
    Column("segments", pa.int32(), "live segments that have a log file"),
    Column("sizeInBytes", pa.int64(), "of their log files", "bytes"),
    Column(
        "filesSizeInBytes",
        pa.int64(),
        "of every file in the directory: logs, indexes, snapshots, segments to be deleted",
        "bytes",
    ),
    Column("cleanShutdown", pa.bool_(), "null: only partition directories were given"),
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

# --- internal topics

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

TRANSACTIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("transactionalId", pa.string(), "of the producer; null: the key cannot be read"),
    Column("producerId", pa.int64(), "that writes now"),
    Column("producerEpoch", pa.int16(), "of that producer id; older ones are fenced"),
    Column(
        "state",
        pa.string(),
        "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead, "
        "PrepareEpochFence, or the number of another one",
    ),
    Column("partitions", pa.list_(pa.string()), "in the transaction, such as orders-3"),
    Column("startTime", TIMESTAMP, "when the transaction began; null: none began"),
    Column("lastUpdateTime", TIMESTAMP, "when the state last changed"),
    Column("timeoutMs", pa.int32(), "the broker aborts the transaction after it", "ms"),
    Column("previousProducerId", pa.int64(), "null: unknown; not written before Kafka 4.3"),
    Column("nextProducerId", pa.int64(), "null: unknown; not written before Kafka 4.3"),
    Column("nextProducerEpoch", pa.int16(), "null: unknown"),
    Column("clientTransactionVersion", pa.int16(), "transaction.version of the producer"),
    Column("brokerId", pa.int32(), "of the copy of __transaction_state that was read"),
    Column("statePartition", pa.int32(), "partition of __transaction_state"),
    Column("recordOffset", pa.int64(), "offset of the newest record there"),
    Column("valueVersion", pa.int16(), "version of the record's value; null: unknown"),
    Column("unknownTags", pa.string(), "tagged fields of later releases: JSON, number to hex"),
    Column("problem", pa.string(), "why the record cannot be read; else null"),
    Column("key", pa.binary(), "as stored, where the record cannot be read"),
    Column("value", pa.binary(), "as stored, where the record cannot be read"),
)

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

# --- audits

PARTITIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("topicId", pa.string(), "from partition.metadata; null: replicas disagree"),
    Column("brokers", pa.list_(pa.int32()), "node ids of the supplied replicas"),
    Column("replicas", pa.int32(), "supplied replicas"),
    Column("lowWatermark", pa.int64(), "smallest log start offset of the replicas"),
    Column("highWatermarkLow", pa.int64(), "records below it were committed on some branch"),
    Column("highWatermarkHigh", pa.int64(), "none from here on, if elections were clean"),
    Column("lastStableOffset", pa.int64(), "of the replica that loses least as leader"),
    Column("logEndOffset", pa.int64(), "of the longest log"),
    Column("greatestLeaderEpoch", pa.int32(), "in any batch or leader epoch checkpoint"),
    Column("forkOffset", pa.int64(), "first offset with different content; null: none"),
    Column(
        "verdict",
        pa.string(),
        "consistent, lagging, pending-truncation, forked, damaged-recoverable, "
        "damaged-unrecoverable, undecidable or committed-records-missing",
    ),
)

FINDINGS: Final = (
    Column("code", pa.string(), "for example KL-101; never reused"),
    Column("name", pa.string(), "of the code, for example batch-crc-mismatch"),
    Column("severity", pa.string(), "C critical, H high, M medium, L low, I information"),
    Column("confidence", pa.string(), "proven, likely or possible"),
    *IDENTITY,
    Column("topicId", pa.string(), "from partition.metadata"),
    Column("file", pa.string(), "relative to the log directory"),
    Column("position", pa.int64(), "in the file", "bytes"),
    Column("sizeInBytes", pa.int64(), "size of the place in the file", "bytes"),
    Column("firstOffset", pa.int64(), "first offset concerned"),
    Column("nextOffset", pa.int64(), "one past the last offset concerned"),
    Column(
        "evidence",
        pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())])),
        "raw values, in order",
    ),
    Column(
        "lookalikes",
        pa.list_(pa.string()),
        "situations that look the same and are not ruled out, for example T01",
    ),
    Column("recordsAtRisk", pa.int64(), "records concerned"),
    Column("bytesAtRisk", pa.int64(), "bytes concerned", "bytes"),
    Column("committed", pa.string(), "whether these records were: known, possible or none"),
    Column("actions", pa.list_(pa.string()), "what to do, for example A1"),
    Column("causedBy", pa.string(), "code and place of the finding that caused it"),
    Column("message", pa.string(), "the finding in a sentence"),
)

# --- recoveries

RECOVERIES: Final = (
    *IDENTITY,
    Column(
        "outcome",
        pa.string(),
        "loads, hidden (loads with a log end below sound records of the last segment), cut, "
        "emptied, stray, expired, directoryOffline or brokerAborts",
    ),
    Column(
        "soundEndOffset",
        pa.int64(),
        "before the start: one past the last batch before any damage in segmentsRead and in the "
        "last segment",
    ),
    Column(
        "logEndOffsetAfterStart",
        pa.int64(),
        "the log end that the broker sees; null: it does not start, or sets the directory aside",
    ),
    Column("segmentsRead", pa.list_(pa.int64()), "base offsets of segments that recovery reads"),
    Column(
        "recordsCut",
        pa.int64(),
        "sound client records that are no longer served: deleted, set aside or hidden",
    ),
    Column(
        "maxCutInDamagedBatches",
        pa.int64(),
        "not in recordsCut: what damaged batches hold at most, by their headers and the offsets "
        "between sound batches",
    ),
    Column(
        "maxCutInTornBatch",
        pa.int64(),
        "not in recordsCut: records of the unfinished batch at the end of the log, by its header",
    ),
    Column("bytesCut", pa.int64(), "deleted from the log files", "bytes"),
    Column("reason", pa.string(), "why, with file, position and offset; null: nothing to report"),
)

# --- divergence, elections

DIVERGENCE: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("firstOffset", pa.int64(), "of the range"),
    Column("nextOffset", pa.int64(), "one past its last offset"),
    Column(
        "kind",
        pa.string(),
        "equal on all; ahead, expired, superseded or fork: on some; alone: one copy supplied; "
        "cleaned, damaged, hidden, uncovered, missing or conflict: a difference inside such a "
        "range; notCompared",
    ),
    Column("brokers", pa.list_(pa.int32()), "node ids of the replicas that hold it"),
    Column("replicas", pa.list_(pa.string()), "names of these replicas"),
    Column("absentBrokers", pa.list_(pa.int32()), "node ids of the replicas that do not"),
    Column("damagedBrokers", pa.list_(pa.int32()), "node ids of those with a wrong CRC there"),
    Column("leaderEpochs", pa.list_(pa.int32()), "of its batches"),
    Column("batches", pa.int64(), "in the range"),
    Column("records", pa.int64(), "client records"),
    Column("controlRecords", pa.int64(), "such as markers; null for a difference"),
    Column("sizeInBytes", pa.int64(), "of the batches; null for a difference", "bytes"),
    Column("committedRecords", pa.int64(), "known to be committed"),
    Column("possiblyCommittedRecords", pa.int64(), "may have been committed"),
    Column(
        "recordsCommittedOnlyIfUnclean",
        pa.int64(),
        "committed only if an election was unclean",
    ),
    Column("detail", pa.string(), "equal replicas in groups, split by |; or why not compared"),
)

ELECTIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("candidateBrokerId", pa.int32(), "node id of the assumed leader"),
    Column("candidate", pa.string(), "its name: broker 1, a label or a path"),
    Column("candidateLogEndOffset", pa.int64(), "after its own start"),
    Column("candidateRecordsCutAtStart", pa.int64(), "records that its own start removes"),
    Column("followerBrokerId", pa.int32(), "node id of the follower; null: none"),
    Column("follower", pa.string(), "its name; null: no follower"),
    Column("followerStart", pa.string(), "outcome of its own start, as in recoveries"),
    Column(
        "followerLogEndOffset",
        pa.int64(),
        "after its own start, before it follows; null: it does not start",
    ),
    Column("recordsCutAtStart", pa.int64(), "follower records that its own start removes"),
    Column("truncationOffset", pa.int64(), "as logged; the log end: nothing is cut"),
    Column("rounds", pa.int32(), "leader responses after which it truncates log or epochs"),
    Column("recordsCut", pa.int64(), "records that it truncates when it follows"),
    Column("silentDivergence", pa.bool_(), "it keeps records that differ from the leader's"),
    Column("silentDivergenceOffset", pa.int64(), "from this offset on; null: none"),
    Column("needlessTruncation", pa.bool_(), "it truncates and refetches equal records"),
    Column("outcome", pa.string(), "how following ends: accepted, asks again for ever, ..."),
    Column("lostRecords", pa.int64(), "distinct records that no replica serves afterwards"),
    Column("lostCommittedRecords", pa.int64(), "of these, known to be committed"),
    Column("lostPossiblyCommittedRecords", pa.int64(), "of these, may have been committed"),
    Column(
        "lostRecordsCommittedOnlyIfUnclean",
        pa.int64(),
        "of these, committed only if an earlier election was unclean",
    ),
    Column(
        "maxLostInDamagedBatches",
        pa.int64(),
        "not in lostRecords: what damaged batches that are removed hold at most, by their headers "
        "and the offsets between sound batches",
    ),
    Column("maxLostCommittedInDamagedBatches", pa.int64(), "of these, known to be committed"),
    Column("keptApartRecords", pa.int64(), "on followers only, as the leader lacks them"),
    Column("keptApartCommittedRecords", pa.int64(), "of these, committed"),
    Column("keptApartPossiblyCommittedRecords", pa.int64(), "of these, possibly committed"),
    Column("electionKind", pa.string(), "clean, undetermined or unclean, by what the leader lacks"),
    Column(
        "cleanByMembership",
        pa.bool_(),
        "clean for Kafka: in the ISR or ELR; null: no cluster metadata supplied",
    ),
    Column(
        "endsInTransaction",
        pa.bool_(),
        "its log ends inside a transaction, which then stays open for ever",
    ),
    Column("rank", pa.int32(), "of the candidate; 1 is best"),
    Column("rule", pa.string(), "of truncation: current, several-rounds, one-round, ..."),
    Column(
        "otherRules",
        pa.list_(pa.struct([("rule", pa.string()), ("truncationOffset", pa.int64())])),
        "other rules that the broker may follow, if they truncate elsewhere",
    ),
)
