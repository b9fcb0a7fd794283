"""Columns of what is in ``__share_group_state``."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.decode.arrow_types import TIMESTAMP
from kafkalog_reader.tables.table import Column

SHARE_GROUPS: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("groupId", pa.string(), "of the share group; null: the record cannot be read"),
    Column("topic", pa.string(), "null: no topic with this id was supplied"),
    Column("topicId", pa.string(), "of the topic that the group reads"),
    Column("partition", pa.int32(), "of the topic that the group reads"),
    Column("startOffset", pa.int64(), "records below it are done; null: not initialized"),
    Column("deliveryCompleteCount", pa.int32(), "done from there on; null: not written before 4.2"),
    Column(
        "batches",
        pa.list_(
            pa.struct(
                [
                    ("firstOffset", pa.int64()),
                    ("lastOffset", pa.int64()),
                    ("deliveryState", pa.string()),
                    ("deliveryCount", pa.int16()),
                ]
            )
        ),
        "what was delivered from startOffset on: available (again), acknowledged or archived",
    ),
    Column("leaderEpoch", pa.int32(), "of the partition's leader that wrote last; null: none"),
    Column("stateEpoch", pa.int32(), "rises when the offset is initialized or reset"),
    Column("snapshotEpoch", pa.int32(), "of the snapshot; rises with each"),
    Column("createTime", TIMESTAMP, "when the snapshot was made; null: not written before 4.1"),
    Column("writeTime", TIMESTAMP, "when it was last written; null: not written before 4.1"),
    Column("updates", pa.int64(), "records applied to the snapshot"),
    Column("brokerId", pa.int32(), "of the copy of __share_group_state that was read"),
    Column("statePartition", pa.int32(), "partition of __share_group_state"),
    Column("recordOffset", pa.int64(), "offset of the newest record there"),
    Column("recordTimestamp", TIMESTAMP, "timestamp of that record"),
    Column("valueVersion", pa.int16(), "version of the record's value; null: unknown"),
    Column("unknownTags", pa.string(), "tagged fields of later releases: JSON, number to hex"),
    Column("problem", pa.string(), "why the record cannot be read; else null"),
    Column("key", pa.binary(), "as stored, where the record cannot be read"),
    Column("value", pa.binary(), "as stored, where the record cannot be read"),
)
