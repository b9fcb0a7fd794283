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
    Column("clusterId", pa.string(), "cluster.id of meta.properties"),
    Column("brokerId", pa.int32(), "node.id or broker.id of meta.properties, or the N of N=PATH"),
    Column("brokerLabel", pa.string(), "the NAME of NAME=PATH where it is not a number"),
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
    Column("timestampType", pa.int32(), "0 CreateTime, 1 LogAppendTime, -1 none in magic 0"),
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
    Column(
        "transactionState",
        pa.string(),
        "committed, aborted, open or none: how its transaction ended; null: a control record",
    ),
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
    Column("baseOffset", pa.int64(), "first, as produced; null: compressed messages of magic 0, 1"),
    Column("lastOffset", pa.int64(), "last offset, as produced"),
    Column("count", pa.int32(), "records that are there; null: compressed messages of magic 0, 1"),
    Column("baseSequence", pa.int32(), "the producer's number of the first record; -1 without"),
    Column("lastSequence", pa.int32(), "the producer's number of the last record; -1 without"),
    Column("producerId", pa.int64(), "-1 when the producer is not idempotent"),
    Column("producerEpoch", pa.int16(), "-1 when the producer is not idempotent"),
    Column("leaderEpoch", pa.int32(), "epoch of the leader that appended the batch"),
    Column("isTransactional", pa.bool_(), "written in a transaction"),
    Column("isControl", pa.bool_(), "holds a marker of the broker's"),
    Column("deleteHorizonMs", pa.int64(), "when tombstones in it may go; null without", "ms UTC"),
    Column("timestampType", pa.int32(), "0 CreateTime, 1 LogAppendTime, -1 none in magic 0"),
    Column(
        "baseTimestamp",
        TIMESTAMP,
        "as stored: the delete horizon where there is one; null in magic 0 and 1",
    ),
    Column("maxTimestamp", TIMESTAMP, "of the newest record, or of the append"),
    Column("magic", pa.int8(), "format version"),
    Column("attributes", pa.int16(), "as stored"),
    Column("codec", pa.string(), "none, gzip, snappy, lz4 or zstd"),
    Column("crc", pa.int64(), "CRC-32C as stored, CRC-32 in magic 0 and 1"),
    Column("crcComputed", pa.int64(), "the same of the bytes that are there"),
    Column("crcValid", pa.bool_(), "whether the two agree"),
)

# --- files of a replica

_SEGMENT_BASE: Final = Column(
    "segmentBaseOffset", pa.int64(), "the offset in the segment file's name"
)
_STATE: Final = Column(
    "state", pa.string(), "null: live; delete, future or stray: set aside, as the directory says"
)

SEGMENTS: Final = (
    *IDENTITY,
    _STATE,
    _SEGMENT_BASE,
    Column("suffix", pa.string(), "null: live; deleted, cleaned or swap, as the file says"),
    Column("sizeInBytes", pa.int64(), "of the log; null: indexes without a log", "bytes"),
    Column("offsetIndexBytes", pa.int64(), "null: no offset index", "bytes"),
    Column("timeIndexBytes", pa.int64(), "null: no time index", "bytes"),
    Column("transactionIndexBytes", pa.int64(), "null: nothing was ever aborted here", "bytes"),
    Column("firstOffset", pa.int64(), "base offset of the first batch; null: none, or not known"),
    Column("lastOffset", pa.int64(), "last offset of the last batch; null: no batch"),
    Column("batches", pa.int64(), "record batches, those with a wrong CRC included"),
    Column("records", pa.int64(), "by headers of batches whose CRC is right; null: not known"),
    Column("minTimestamp", TIMESTAMP, "smallest of its batches' first records; null: not known"),
    Column("maxTimestamp", TIMESTAMP, "greatest of its batches"),
    Column("codecs", pa.list_(pa.string()), "codecs of its batches: none, gzip, snappy, ..."),
    Column("magics", pa.list_(pa.int32()), "format versions of its batches"),
    Column("firstLeaderEpoch", pa.int32(), "of the first batch; -1: written before 0.11"),
    Column("lastLeaderEpoch", pa.int32(), "of the last batch"),
    Column("validBytes", pa.int64(), "up to the first batch torn or wrong: what recovery keeps"),
    Column("crcErrors", pa.int64(), "batches whose CRC is wrong"),
    Column("modifiedAt", TIMESTAMP, "newest modification of its files"),
)

REPLICAS: Final = (
    *IDENTITY,
    _STATE,
    Column("topicId", pa.string(), "of partition.metadata; null: no such file"),
    Column("logStartOffset", pa.int64(), "smallest offset that clients see"),
    Column("logEndOffset", pa.int64(), "one past the last valid batch"),
    Column(
        "checkpointedHighWatermark",
        pa.int64(),
        "of replication-offset-checkpoint, up to 5 s old; above the log end: records are missing",
    ),
    Column("highWatermarkLow", pa.int64(), "everything below was committed, as this copy proves"),
    Column("highWatermarkHigh", pa.int64(), "nothing from here on was: the log end"),
    Column("lastStableOffset", pa.int64(), "where read_committed ends at highWatermarkHigh"),
    Column("lastStableOffsetLow", pa.int64(), "where read_committed ends at highWatermarkLow"),
    Column("recoveryPoint", pa.int64(), "everything below had been flushed"),
    Column("cleanerOffset", pa.int64(), "first offset that the cleaner has not cleaned"),
    Column("lastLeaderEpoch", pa.int32(), "of the last batch; null: no batch"),
    Column("segments", pa.int32(), "live segments with a log"),
    Column("sizeInBytes", pa.int64(), "of their logs", "bytes"),
    Column(
        "filesSizeInBytes",
        pa.int64(),
        "of every file in the directory: logs, indexes, snapshots, segments to be deleted",
        "bytes",
    ),
    Column("cleanShutdown", pa.bool_(), "null: the log directory itself was not given"),
    Column("tornBytes", pa.int64(), "behind the last whole batch; zeros do not count", "bytes"),
    Column("directoryId", pa.string(), "directory.id of meta.properties, Kafka 3.7 and later"),
    Column("capturedAt", TIMESTAMP, "newest modification of its segments' files"),
)

_ENTRY: Final = Column("entry", pa.int32(), "number of the entry in its file, from 0")

OFFSET_INDEX: Final = (
    *IDENTITY,
    _SEGMENT_BASE,
    _ENTRY,
    Column("offset", pa.int64(), "no batch before the position reaches this offset"),
    Column("position", pa.int64(), "in the log, where reading starts", "bytes"),
    Column(
        "confirmed",
        pa.bool_(),
        "a batch starts there and all before end below the offset; null: no log to ask",
    ),
)

TIME_INDEX: Final = (
    *IDENTITY,
    _SEGMENT_BASE,
    _ENTRY,
    Column("timestamp", TIMESTAMP, "greatest so far in the segment"),
    Column("offset", pa.int64(), "of the first batch that has it"),
    Column(
        "confirmed",
        pa.bool_(),
        "that batch holds the offset and none before is newer; null: no log to ask, or magic 0",
    ),
)

TRANSACTION_INDEX: Final = (
    *IDENTITY,
    _SEGMENT_BASE,
    _ENTRY,
    Column("producerId", pa.int64(), "whose transaction was aborted"),
    Column("firstOffset", pa.int64(), "of its first batch here, maybe in an older segment"),
    Column("lastOffset", pa.int64(), "of the abort marker"),
    Column("lastStableOffset", pa.int64(), "right after this abort"),
    Column(
        "confirmed",
        pa.bool_(),
        "an abort marker of that producer lies there; null: no log to ask",
    ),
)

LEADER_EPOCHS: Final = (
    *IDENTITY,
    Column("source", pa.string(), "checkpoint: the file; batches: the log itself"),
    Column("leaderEpoch", pa.int32(), "-1: written before 0.11"),
    Column("startOffset", pa.int64(), "first offset under this epoch"),
    Column("nextOffset", pa.int64(), "one past the last; of the last interval the log end"),
)

PRODUCERS: Final = (
    *IDENTITY,
    Column("snapshotOffset", pa.int64(), "state before this offset, from the file's name"),
    Column("producerId", pa.int64(), "of an idempotent or transactional producer"),
    Column("producerEpoch", pa.int16(), "the current one"),
    Column("lastSequence", pa.int32(), "of the last data batch; -1: none under this epoch"),
    Column("lastOffset", pa.int64(), "of the last data batch; -1: only markers were seen"),
    Column("offsetDelta", pa.int32(), "last minus first offset of that batch"),
    Column("timestamp", TIMESTAMP, "of the last batch or marker"),
    Column("coordinatorEpoch", pa.int32(), "of the last marker; -1: none"),
    Column("currentTransactionFirstOffset", pa.int64(), "of the open transaction; null: none"),
)

CHECKPOINTS: Final = (
    *IDENTITY,
    Column("checkpoint", pa.string(), "name of the file"),
    Column("offset", pa.int64(), "what it means, the file's name says"),
)

# --- audits

PARTITIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id of meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("topicId", pa.string(), "of partition.metadata; null where replicas disagree"),
    Column("brokers", pa.list_(pa.int32()), "node ids of the supplied replicas"),
    Column("replicas", pa.int32(), "supplied replicas"),
    Column("lowWatermark", pa.int64(), "smallest log start of the supplied replicas"),
    Column("highWatermarkLow", pa.int64(), "everything below was committed on some branch"),
    Column("highWatermarkHigh", pa.int64(), "nothing from here on was, if elections were clean"),
    Column("lastStableOffset", pa.int64(), "of the replica that loses least as leader"),
    Column("logEndOffset", pa.int64(), "of the longest log"),
    Column("greatestLeaderEpoch", pa.int32(), "in any batch or epoch checkpoint"),
    Column("forkOffset", pa.int64(), "first offset with different content; null: nowhere"),
    Column(
        "verdict",
        pa.string(),
        "consistent, lagging, pending-truncation, forked, damaged-recoverable, "
        "damaged-unrecoverable, undecidable or committed-records-missing",
    ),
)

FINDINGS: Final = (
    Column("code", pa.string(), "KL-101 and so on; never reused"),
    Column("name", pa.string(), "of the code"),
    Column("severity", pa.string(), "C critical, H high, M medium, L low, I information"),
    Column("confidence", pa.string(), "proven, likely or possible"),
    *IDENTITY,
    Column("topicId", pa.string(), "of partition.metadata"),
    Column("file", pa.string(), "below the log directory"),
    Column("position", pa.int64(), "in the file", "bytes"),
    Column("sizeInBytes", pa.int64(), "of the place in the file", "bytes"),
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
        "situations that look the same, not ruled out: T01 and so on",
    ),
    Column("recordsAtRisk", pa.int64(), "records concerned"),
    Column("bytesAtRisk", pa.int64(), "bytes concerned", "bytes"),
    Column("committed", pa.string(), "of the records at risk: known, possible or none"),
    Column("actions", pa.list_(pa.string()), "what to do: A1 and so on"),
    Column("causedBy", pa.string(), "code and place of the finding behind this one"),
    Column("message", pa.string(), "the finding in a sentence"),
)

# --- recoveries

RECOVERIES: Final = (
    *IDENTITY,
    Column(
        "outcome",
        pa.string(),
        "loads, hidden (served with a log end below sound records of the last segment), cut, "
        "emptied, stray, expired, directoryOffline or brokerAborts",
    ),
    Column("logEndOffset", pa.int64(), "one past the last batch of the sound prefix, now"),
    Column(
        "logEndOffsetAfterStart",
        pa.int64(),
        "as the broker will see it; null: it does not come up, or sets the directory aside",
    ),
    Column("segmentsRead", pa.list_(pa.int64()), "base offsets of the segments read again"),
    Column(
        "recordsCut",
        pa.int64(),
        "clients' sound records that are no longer served: deleted, set aside or hidden",
    ),
    Column("bytesCut", pa.int64(), "deleted from the log files", "bytes"),
    Column("reason", pa.string(), "why, with file, position and offset; null: nothing special"),
)

# --- divergence, elections

DIVERGENCE: Final = (
    Column("clusterId", pa.string(), "cluster.id of meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("firstOffset", pa.int64(), "of the range"),
    Column("nextOffset", pa.int64(), "one past its last offset"),
    Column(
        "kind",
        pa.string(),
        "equal on all; ahead, expired, superseded or fork: on some; alone: one copy supplied; "
        "cleaned, damaged, hidden, uncovered, missing or conflict: a difference inside of such a "
        "range; notCompared",
    ),
    Column("brokers", pa.list_(pa.int32()), "node ids of the replicas that hold it"),
    Column("replicas", pa.list_(pa.string()), "their names"),
    Column("absentBrokers", pa.list_(pa.int32()), "node ids of those that do not"),
    Column("damagedBrokers", pa.list_(pa.int32()), "node ids of those whose CRC is wrong there"),
    Column("leaderEpochs", pa.list_(pa.int32()), "of its batches"),
    Column("batches", pa.int64(), "in the range"),
    Column("records", pa.int64(), "of clients"),
    Column("controlRecords", pa.int64(), "markers; null of a difference"),
    Column("sizeInBytes", pa.int64(), "of the batches; null of a difference", "bytes"),
    Column("committedRecords", pa.int64(), "known to be committed"),
    Column("possiblyCommittedRecords", pa.int64(), "perhaps committed"),
    Column(
        "recordsCommittedOnlyIfUnclean",
        pa.int64(),
        "committed only if an election was unclean",
    ),
    Column("detail", pa.string(), "who holds the same, | between; or why it was not compared"),
)

ELECTIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id of meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("candidateBrokerId", pa.int32(), "node id of the replica that leads in thought"),
    Column("candidate", pa.string(), "its name: broker 1, a label or a path"),
    Column("candidateLogEndOffset", pa.int64(), "after its own start"),
    Column("candidateRecordsCutAtStart", pa.int64(), "records that its own start removes"),
    Column("followerBrokerId", pa.int32(), "node id of the follower; null: there is none"),
    Column("follower", pa.string(), "its name; null: there is none"),
    Column("followerStart", pa.string(), "what its own start does, as in recoveries"),
    Column(
        "followerLogEndOffset",
        pa.int64(),
        "after its own start, before it follows; null: it does not come up",
    ),
    Column("recordsCutAtStart", pa.int64(), "records of the follower that its start removes"),
    Column("truncationOffset", pa.int64(), "that the broker logs; its log end: nothing is cut"),
    Column("rounds", pa.int32(), "answers of the leader that made it cut its log or its epochs"),
    Column("recordsCut", pa.int64(), "records that it cuts when it follows"),
    Column("silentDivergence", pa.bool_(), "it keeps what the leader has otherwise, for ever"),
    Column("silentDivergenceOffset", pa.int64(), "from there on; null: nowhere"),
    Column("needlessTruncation", pa.bool_(), "it cuts what the leader has too, and fetches it"),
    Column("outcome", pa.string(), "how following ends: accepted, asks again for ever, ..."),
    Column("lostRecords", pa.int64(), "distinct records that no replica serves afterwards"),
    Column("lostCommittedRecords", pa.int64(), "of these, known to be committed"),
    Column("lostPossiblyCommittedRecords", pa.int64(), "of these, perhaps committed"),
    Column(
        "lostRecordsCommittedOnlyIfUnclean",
        pa.int64(),
        "of these, committed only if an earlier election was unclean",
    ),
    Column("keptApartRecords", pa.int64(), "that stay on followers although the leader lacks them"),
    Column("electionKind", pa.string(), "clean, undetermined or unclean, by what is lost"),
    Column(
        "cleanByMembership",
        pa.bool_(),
        "what Kafka would call it: in-sync or eligible; null: no cluster metadata supplied",
    ),
    Column(
        "endsInTransaction",
        pa.bool_(),
        "its log ends before the marker of a transaction, which is then open for ever",
    ),
    Column("rank", pa.int32(), "of the candidate; 1 is best"),
    Column("rule", pa.string(), "of truncation: current, several-rounds, one-round, ..."),
    Column(
        "otherRules",
        pa.list_(pa.struct([("rule", pa.string()), ("truncationOffset", pa.int64())])),
        "rules that the broker may follow as well, as far as they truncate elsewhere",
    ),
)
