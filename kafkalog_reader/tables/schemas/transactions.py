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
