"""Columns of what commands print that are not rows of one table."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import TIMESTAMP
from kafkalog_reader.tables.schemas.groups import GROUP_OFFSETS
from kafkalog_reader.tables.schemas.transactions import OPEN_TRANSACTIONS, TRANSACTIONS
from kafkalog_reader.tables.table import Column

_CLUSTER: Final = Column("clusterId", pa.string(), "cluster.id in meta.properties")
_TOPIC: Final = Column("topic", pa.string(), "topic")
_PARTITION: Final = Column("partition", pa.int32(), "partition")
NOT_KNOWN: Final = Column(
    "notKnown", pa.list_(pa.string()), "what damage or loss hides from this object; empty: nothing"
)
"""The last column of commands that answer from the records of internal topics."""

GROUP_PARTITIONS: Final = (
    *(
        Column(
            "status",
            pa.string(),
            f"{each.doc}; no-commit: assigned, but nothing committed; pending-commit: only in an "
            "open transaction; removed: a tombstone removed it",
        )
        if each.name == "status"
        else each
        for each in GROUP_OFFSETS
    ),
    Column("pendingOffset", pa.int64(), "that an open transaction commits; null: none"),
    Column("removedOffset", pa.int64(), "the last commit before its tombstone; null: none is left"),
    Column("removedTime", TIMESTAMP, "of the tombstone that removed the offset; null: none"),
    Column("memberId", pa.string(), "of the last member that had the partition; null: none"),
    Column("clientHost", pa.string(), "of that member"),
    Column("clientId", pa.string(), "of that member"),
    NOT_KNOWN,
)

GROUP_TOTALS: Final = (
    _CLUSTER,
    Column("groupId", pa.string(), "of the group"),
    Column("type", pa.string(), "classic, consumer (KIP-848), share or streams"),
    Column(
        "state", pa.string(), "as after the coordinator has loaded the group; Dead: it was removed"
    ),
    Column("assignmentStrategy", pa.string(), "assignor that the group uses; null: none"),
    Column("members", pa.int64(), "number of members"),
    Column("partitions", pa.int64(), "with a committed offset, or assigned"),
    Column("mostAssigned", pa.int64(), "partitions of the member with most; null: none or shared"),
    Column("leastAssigned", pa.int64(), "by the member with the fewest; null: as above"),
    Column("lag", pa.int64(), "of all partitions whose lag is known; null: of none", "offsets"),
    Column("unknownLags", pa.int64(), "partitions whose lag is unknown"),
    Column("brokenCommits", pa.int64(), "committed offsets that are not in the log"),
    Column("pendingCommits", pa.int64(), "partitions with an offset in an open transaction"),
    Column("lastCommitTime", TIMESTAMP, "of the newest commit"),
    Column("removedTime", TIMESTAMP, "of the tombstone that removed the group; null: none"),
    NOT_KNOWN,
)

TIMELINE: Final = (
    _CLUSTER,
    _TOPIC,
    _PARTITION,
    Column("topicId", pa.string(), "null: not in a metadata log"),
    Column(
        "offset", pa.int64(), "of the record in the metadata log; null: only the epoch is known"
    ),
    Column("timestamp", TIMESTAMP, "of that record"),
    Column("change", pa.string(), "created, changed, elrCleared or removed"),
    Column("leader", pa.int32(), "node id; -1: none; null: unknown"),
    Column("leaderEpoch", pa.int32(), "of the partition"),
    Column("partitionEpoch", pa.int32(), "rises with each change"),
    Column("isRecovering", pa.bool_(), "the leader was elected uncleanly and has not recovered"),
    Column("replicas", pa.list_(pa.int32()), "assigned brokers"),
    Column("isr", pa.list_(pa.int32()), "in-sync replicas"),
    Column("eligibleLeaderReplicas", pa.list_(pa.int32()), "of KIP-966"),
    Column(
        "offsetsByBroker",
        pa.list_(
            pa.struct(
                [
                    ("brokerId", pa.int32()),
                    ("startOffset", pa.int64()),
                    ("nextOffset", pa.int64()),
                ]
            )
        ),
        "what each copy has of the leader epoch that began here; empty: none began",
    ),
    Column("what", pa.string(), "the differences to the state before, in words"),
    NOT_KNOWN,
)

OPEN_TRANSACTION_LINES: Final = (*OPEN_TRANSACTIONS, NOT_KNOWN)
TRANSACTION_LINES: Final = (*TRANSACTIONS, NOT_KNOWN)

CENSUS: Final = (
    _CLUSTER,
    _TOPIC,
    Column("producerId", pa.int64(), "with --by producer; -1: not idempotent; otherwise null"),
    Column("codec", pa.string(), "none, gzip, snappy, lz4 or zstd"),
    Column("magic", pa.int8(), "record format"),
    Column("batches", pa.int64(), "without those of control records"),
    Column("records", pa.int64(), "null: compressed, format 0 or 1"),
    Column("sizeInBytes", pa.int64(), "of the batches, headers included", "bytes"),
    Column("oneRecordBatches", pa.int64(), "batches with a single record; null: unknown"),
    Column("recordsPerBatch", pa.float64(), "null: unknown"),
    Column("bytesPerRecord", pa.float64(), "headers included; null: unknown", "bytes"),
    Column("headerBytes", pa.int64(), "in batch headers; null: format 0 or 1", "bytes"),
    Column("savedBytes", pa.int64(), "that full batches would save; null: unknown", "bytes"),
)

_CAUSE: Final = (
    "retry: sent again without idempotence; retry-to-next-leader: the same under a later leader "
    "epoch; same-sequence: a broker accepted an idempotent batch twice; sent-again: by the "
    "application; null: merely equal"
)

DUPLICATES: Final = (
    _CLUSTER,
    Column("brokerId", pa.int32(), "of the copy that was read"),
    _TOPIC,
    _PARTITION,
    Column("records", pa.int64(), "records that were compared"),
    Column("duplicates", pa.int64(), "copies after the first one of each record"),
    Column("duplicateBytes", pa.int64(), "keys and values of the duplicates", "bytes"),
    Column("firstOffset", pa.int64(), "of the first record that is there again"),
    Column("nextOffset", pa.int64(), "one past the last duplicate"),
    Column(
        "histogram",
        pa.list_(pa.struct([("times", pa.int32()), ("records", pa.int64())])),
        "how many different records are there how often; 1000 is 1000 or more",
    ),
    Column("retry", pa.int64(), "duplicates that were sent again without idempotence"),
    Column("retryToNextLeader", pa.int64(), "the same, under a later leader epoch"),
    Column(
        "sameSequence", pa.int64(), "duplicates of idempotent batches: a broker took them twice"
    ),
    Column("sentAgain", pa.int64(), "duplicates with a new sequence or from another producer"),
    Column("suggestedRetries", pa.int32(), "retries of the producer, if nearly all fit; or null"),
    Column(
        "inOtherPartitions",
        pa.int64(),
        "records that an earlier partition of the topic has, too; null: not asked",
    ),
    Column("equalRecords", pa.int64(), "other records that equal one in a batch before"),
    Column("brokerTimes", pa.int64(), "records with LogAppendTime: one time a batch is compared"),
    Column("notCompared", pa.int64(), "records without a timestamp (format 0)"),
)

KEYS: Final = (
    _CLUSTER,
    _TOPIC,
    Column("partitions", pa.int32(), "by the highest folder that was supplied"),
    Column("records", pa.int64(), "in the supplied partitions"),
    Column("nullKeys", pa.int64(), "records without a key"),
    Column("longestNullRun", pa.int64(), "of records without a key, one after another"),
    Column("keys", pa.int64(), "distinct keys that were compared"),
    Column("oneIn", pa.int64(), "which part of all keys that is: 1 for every one"),
    Column(
        "partitioner",
        pa.string(),
        "murmur2 (Java), crc32 (librdkafka consistent), fnv1a (Sarama), java-hash, "
        "java-hash-masked; null: none explains the keys, or there are too few",
    ),
    Column("keysOutside", pa.int64(), "compared keys that it puts into another partition"),
    Column("keysInSeveral", pa.int64(), "compared keys that are in more than one partition"),
    Column(
        "earlierPartitions",
        pa.int32(),
        "number of partitions that explains most keys outside, which were written before the topic "
        "got more; null: none does",
    ),
    Column("keysOfEarlier", pa.int64(), "keys outside that this number explains"),
    Column("raisedAt", TIMESTAMP, "of the first record in a later partition; null: unknown"),
    Column("exampleKey", pa.binary(), "one of the keys outside; null: none"),
    Column("examplePartition", pa.int32(), "where it is"),
    Column("expectedPartition", pa.int32(), "where the partitioner puts it"),
    Column("largestPartition", pa.int32(), "partition with the most records"),
    Column("largestShare", pa.float64(), "of all records of the topic"),
)

DUPLICATE_RECORDS: Final = (
    _CLUSTER,
    _TOPIC,
    _PARTITION,
    Column("offset", pa.int64(), "of the duplicate"),
    Column("previousOffset", pa.int64(), "of the copy before it"),
    Column("copy", pa.int32(), "2 for the second copy, and so on"),
    Column("cause", pa.string(), _CAUSE),
    Column("timestamp", TIMESTAMP, "of the duplicate"),
    Column("key", pa.binary(), "key; null and empty are different"),
)

FOUND_RECORDS: Final = (
    _CLUSTER,
    Column("brokerId", pa.int32(), "node.id or broker.id in meta.properties"),
    Column("topic", pa.string(), "topic, from the directory name"),
    Column("partition", pa.int32(), "partition, from the directory name"),
    Column("offset", pa.int64(), "offset of the record in its partition"),
    Column("timestamp", TIMESTAMP, "of the record"),
    Column(
        "state",
        pa.string(),
        "live; aborted or open: of such a transaction, not seen by read_committed; superseded: a "
        "later record of the copy, neither aborted nor open, has the same key, and the topic is "
        "compacted, or its cleanup.policy is unknown; undecided: live or superseded, too many were "
        "found to know; below-log-start; deleted-segment, cleaned-segment, swap-segment, "
        "delete-directory, stray-directory, future-directory",
    ),
    Column("key", pa.binary(), "key; null and empty are different"),
    Column("value", pa.binary(), "value; null is a tombstone"),
    Column("file", pa.string(), "path of the segment file"),
    Column("position", pa.int64(), "of the record's batch in the file", "bytes"),
)
