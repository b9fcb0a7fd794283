"""Columns of audit results."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.tables.schemas.identity import IDENTITY
from kafkalog_reader.tables.table import Column

PARTITIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("topicId", pa.string(), "from partition.metadata; null: replicas disagree"),
    Column("brokers", pa.list_(pa.int32()), "node ids of the supplied replicas"),
    Column("replicas", pa.int32(), "supplied replicas"),
    Column("lowWatermark", pa.int64(), "smallest log start offset of the replicas"),
    Column("highWatermarkLow", pa.int64(), "records below it were committed on some branch"),
    Column(
        "highWatermarkHigh",
        pa.int64(),
        "no offset from here on was committed, if elections were clean",
    ),
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
    Column(
        "committed",
        pa.string(),
        "whether these records were: known, possible, onlyIfUnclean or none",
    ),
    Column("actions", pa.list_(pa.string()), "what to do, for example A1"),
    Column("causedBy", pa.string(), "code and place of the finding that caused it"),
    Column("message", pa.string(), "the finding in a sentence"),
)


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
        "the log end that the broker sees; null: it does not start or sets the directory aside, or "
        "this depends on a setting that is not known (reason)",
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


DIVERGENCE: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("firstOffset", pa.int64(), "of the range"),
    Column("nextOffset", pa.int64(), "one past its last offset"),
    Column(
        "kind",
        pa.string(),
        "equal on all; ahead, expired, missing (no retention explains the log start of others), "
        "superseded or fork: on some; alone: one copy supplied; cleaned, damaged, hidden, "
        "uncovered, missing or conflict: a difference inside such a range; notCompared",
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

GROUP_OUTCOME: Final = (
    Column("groupId", pa.string(), "group that committed"),
    Column("committedOffset", pa.int64(), "next offset that the group reads"),
    Column("committedLeaderEpoch", pa.int32(), "of the last record read; -1: unknown"),
    Column(
        "outcome",
        pa.string(),
        "unchanged; unnoticed: it goes on at its offset, past records that it has not read; "
        "truncation-detected: by the leader epoch (Kafka 2.1 and later); reset: its offset is out "
        "of range",
    ),
    Column(
        "safeOffset",
        pa.int64(),
        "where it can go on: below it the leader has what the group has read, and nothing else",
    ),
    Column("nextOffsetIfEarliest", pa.int64(), "where it goes on with auto.offset.reset=earliest"),
    Column("recordsRereadIfEarliest", pa.int64(), "that it has read, and reads again"),
    Column("recordsSkippedIfEarliest", pa.int64(), "of the leader, that it never reads"),
    Column("nextOffsetIfLatest", pa.int64(), "where it goes on with latest, the default"),
    Column("recordsRereadIfLatest", pa.int64(), "that it has read, and reads again"),
    Column("recordsSkippedIfLatest", pa.int64(), "of the leader, that it never reads"),
    Column(
        "errorIfNone",
        pa.string(),
        "exception of its consumers with auto.offset.reset=none; null: they go on as with latest",
    ),
)
"""How one group goes on under one leader."""

GROUP_ELECTIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("topic", pa.string(), "topic"),
    Column("partition", pa.int32(), "partition"),
    Column("candidateBrokerId", pa.int32(), "node id of the assumed leader"),
    Column("candidate", pa.string(), "its name: broker 1, a label or a path"),
    Column("rank", pa.int32(), "of the candidate, as in elections; 1 is best"),
    *GROUP_OUTCOME,
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
    Column("maxLostPossiblyCommittedInDamagedBatches", pa.int64(), "of these, may be committed"),
    Column("keptApartRecords", pa.int64(), "on followers only, as the leader lacks them"),
    Column("keptApartCommittedRecords", pa.int64(), "of these, committed"),
    Column("keptApartPossiblyCommittedRecords", pa.int64(), "of these, possibly committed"),
    Column("electionKind", pa.string(), "clean, undetermined or unclean, by what the leader lacks"),
    Column(
        "cleanByMembership",
        pa.bool_(),
        "clean for Kafka: in the ISR or ELR; null: no cluster metadata supplied",
    ),
    Column("inIsr", pa.bool_(), "in the ISR according to the metadata log; null: none supplied"),
    Column("inElr", pa.bool_(), "an eligible leader replica by that log (KIP-966)"),
    Column(
        "controllerWouldElect",
        pa.bool_(),
        "the controller elects it by itself in this state, if no other replica is alive",
    ),
    Column(
        "needsUnclean",
        pa.bool_(),
        "it leads only if unclean elections are enabled, or one is held by command",
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
