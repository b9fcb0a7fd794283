"""Columns of what is in ``__transaction_state``."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import TIMESTAMP
from kafkalog_reader.tables.table import Column

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

OPEN_TRANSACTIONS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("topic", pa.string(), "topic, from the directory name"),
    Column("partition", pa.int32(), "partition, from the directory name"),
    Column(
        "producerId", pa.int64(), "of the producer that wrote in the transaction; null: log-damaged"
    ),
    Column("producerEpoch", pa.int16(), "of the first batch; null: that batch is gone"),
    Column("firstOffset", pa.int64(), "of the transaction in this partition; null: log-damaged"),
    Column("firstTimestamp", TIMESTAMP, "of the first batch; null: unknown"),
    Column("holdsLastStableOffset", pa.bool_(), "read_committed consumers stop at this one"),
    Column("lastStableOffset", pa.int64(), "read_committed consumers stop here"),
    Column("logEndOffset", pa.int64(), "of the copy that was read"),
    Column(
        "status",
        pa.string(),
        "ongoing: its coordinator will end it; hanging: the coordinator has ended it, or does not "
        "have this partition in it, and the log went on for longer than any transaction may take; "
        "maybe-hanging: the same, but it is younger, or compacted; no-coordinator: no supplied "
        "__transaction_state has it; coordinator-damaged: __transaction_state is damaged where it "
        "may be, or ends below its high watermark; log-damaged: damage in this partition may hide "
        "open transactions",
    ),
    Column("transactionalId", pa.string(), "by the coordinator; null: unknown"),
    Column("state", pa.string(), "of the transactional id; null: unknown"),
    Column("coordinatorEpoch", pa.int16(), "producer epoch that the coordinator has"),
    Column("startTime", TIMESTAMP, "when the coordinator's transaction began; null: unknown"),
    Column("timeoutMs", pa.int32(), "the coordinator aborts the transaction after it", "ms"),
    Column("brokerId", pa.int32(), "of the copy that was read"),
    Column("statePartition", pa.int32(), "partition of __transaction_state"),
    Column("recordOffset", pa.int64(), "offset of the newest record there"),
)
