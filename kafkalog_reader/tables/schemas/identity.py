"""Columns that say which partition directory a row is about; they occur in many tables."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kafkalog_reader.tables.table import Column

IDENTITY: Final = (
    Column("clusterId", pa.string(), "cluster.id in meta.properties"),
    Column("brokerId", pa.int32(), "node.id or broker.id in meta.properties, or the N of N=PATH"),
    Column("brokerLabel", pa.string(), "the NAME of NAME=PATH, if it is not a number"),
    Column("logDirectory", pa.string(), "path of the log directory, as given"),
    Column("topic", pa.string(), "topic, from the directory name"),
    Column("partition", pa.int32(), "partition, from the directory name"),
)
