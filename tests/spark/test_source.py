"""``spark.read.format("kafkalog")`` on small evidence with known rows."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from fixtures.builder import EPOCH_MILLIS
from kafkalog_reader import registry
from spark_datasource.reader import KafkaLogReader
from spark_datasource.source import KafkaLogDataSource
from tests.spark.rows import EACH_RECORD_ONCE, places

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.rows import Read

pytestmark = pytest.mark.spark

# Spark's "Structured Streaming + Kafka Integration Guide", "Each row in the source has the
# following schema"; KafkaRecordToRowConverter.kafkaSchema.
KAFKA_SCHEMA = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("timestampType", IntegerType()),
    ]
)
KAFKA_HEADERS = StructField(
    "headers",
    ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())])),
)


def test_the_schema_is_that_of_sparks_kafka_source(read: Read) -> None:
    assert read().schema == KAFKA_SCHEMA
    assert read(includeHeaders="true").schema == StructType([*KAFKA_SCHEMA, KAFKA_HEADERS])


def test_each_record_shows_once_although_two_brokers_hold_it(read: Read, pushdown: bool) -> None:
    assert places(read()) == EACH_RECORD_ONCE


def test_the_copy_with_the_greatest_last_leader_epoch_is_the_best(read: Read) -> None:
    rows = read().where("topic = 'forked'").orderBy("offset").collect()
    assert [bytes(row.value) for row in rows] == [b"a", b"b", b"f", b"g"]


def test_values_and_times_are_what_was_written(read: Read) -> None:
    rows = (
        read(includeHeaders="true", subscribe="headers")
        .selectExpr("*", "unix_millis(timestamp) AS ms")
        .orderBy("offset")
        .collect()
    )
    first, second = rows
    assert (first.key, first.value, first.timestampType) == (None, b"", 0)
    assert [tuple(header) for header in first.headers] == [("h", b"1"), ("h", None), ("", b"")]
    assert (second.key, second.value, second.headers) == (b"k", None, None)
    assert [row.ms for row in rows] == [EPOCH_MILLIS, EPOCH_MILLIS + 1]


def test_all_columns_are_those_of_the_table(read: Read) -> None:
    names = [column.name for column in registry.table("records").columns]
    assert read(columns="all").columns == names
    row = read(columns="all", subscribe="forked", replica="broker:1").orderBy("offset").collect()[3]
    assert (row.brokerId, row.leaderEpoch, row.batchBaseOffset, row.codec, row.magic) == (
        1, 2, 2, "none", 2,
    )  # fmt: skip


def test_control_records_show_only_when_requested(read: Read) -> None:
    options = {"subscribe": "transactions", "columns": "offset,isControl,controlType"}
    assert sorted(read(**options).collect()) == [(0, False, None), (2, False, None)]
    assert sorted(read(**options, includeControlRecords="TRUE").collect()) == [
        (0, False, None),
        (1, True, "ABORT"),
        (2, False, None),
        (3, True, "COMMIT"),
    ]


def test_every_replica_shows_on_request(read: Read) -> None:
    frame = read(replica="all", columns="brokerId,offset", subscribe="lagging")
    assert Counter(map(tuple, frame.collect())) == Counter(
        [(0, offset) for offset in range(2, 10)]
        + [(1, offset) for offset in range(6)]
        + [(1, offset) for offset in range(5)]
    )


def test_read_committed_leaves_aborted_transactions_out(read: Read, pushdown: bool) -> None:
    options = {"subscribe": "transactions", "kafka.bootstrap.servers": "b:9092"}
    for level, offsets in (("read_uncommitted", [0, 2]), ("read_committed", [2])):
        frame = read(**options, **{"kafka.isolation.level": level})
        assert [row.offset for row in frame.sort("offset").collect()] == offsets


def test_one_brokers_copies_show_on_request(read: Read) -> None:
    frame = read(replica="broker:1", subscribe="forked,lagging")
    assert places(frame) == Counter(
        [("forked", 0, offset) for offset in range(4)]
        + [("lagging", 0, offset) for offset in range(6)]
        + [("lagging", 1, offset) for offset in range(5)]
    )


@pytest.mark.parametrize(
    "options",
    [
        {"subscribe": "__cluster_metadata"},
        {"assign": '{"__cluster_metadata": [0]}'},
    ],
    ids=["subscribe", "assign"],
)
def test_the_quorums_log_shows_when_it_is_named(read: Read, options: dict[str, str]) -> None:
    assert places(read(**options)) == Counter(
        [("__cluster_metadata", 0, 0), ("__cluster_metadata", 0, 1)]
    )


def test_the_quorums_log_shows_when_its_folder_is_named(read: Read, evidence: Path) -> None:
    folders = [str(evidence / "broker-1" / each) for each in ("__cluster_metadata-0", "lagging-1")]
    metadata = [("__cluster_metadata", 0, 0), ("__cluster_metadata", 0, 1)]
    assert places(read(folders[0])) == Counter(metadata)
    assert places(read(folders)) == Counter(
        metadata + [("lagging", 1, offset) for offset in range(5)]
    )


def test_a_pattern_that_matches_the_quorums_log_does_not_show_it(read: Read) -> None:
    assert places(read(subscribePattern=".*")) == EACH_RECORD_ONCE


def test_other_tables_show_all_their_columns_and_all_replicas(read: Read, pushdown: bool) -> None:
    frame = read(table="segments")
    assert frame.columns == [column.name for column in registry.table("segments").columns]
    rows = frame.where("topic = 'lagging'").select("brokerId", "partition", "records").collect()
    assert Counter(map(tuple, rows)) == Counter(
        [(0, 0, 4), (0, 0, 2), (0, 0, 4), (1, 0, 6), (1, 1, 5)]
    )


@pytest.mark.parametrize("table", sorted(registry.TABLES))
def test_every_table_reads_through_spark_with_its_own_schema(read: Read, table: str) -> None:
    frame = read(table=table, columns="all")
    assert frame.columns == registry.table(table).schema.names
    assert frame.count() == len(frame.collect())


def test_a_reader_and_its_tasks_survive_pickling(evidence: Path) -> None:
    source = KafkaLogDataSource({"path": str(evidence), "subscribe": "lagging"})
    reader = source.reader(source.schema())
    assert type(reader) is KafkaLogReader
    there: KafkaLogReader = pickle.loads(pickle.dumps(reader))
    tasks = pickle.loads(pickle.dumps(list(reader.partitions())))
    rows = [row for task in tasks for rows in there.read(task) for row in rows.to_pylist()]
    assert Counter(row["offset"] for row in rows) == Counter([*range(2, 10), *range(5)])


def test_small_tasks_read_the_same_rows(read: Read) -> None:
    frame = read(maxPartitionBytes="1")
    assert frame.rdd.getNumPartitions() > 5
    assert places(frame) == EACH_RECORD_ONCE
    assert read(maxPartitionBytes="1 GiB").rdd.getNumPartitions() == 1


def test_nothing_to_read_is_an_empty_frame(read: Read, tmp_path: Path, pushdown: bool) -> None:
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    assert read(str(tmp_path)).collect() == []
    assert read(subscribePattern="nothing-.*").count() == 0


def test_sql_reads_through_a_view(spark: SparkSession, evidence: Path) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW lagging USING kafkalog "
        f"OPTIONS (path {json.dumps(str(evidence))}, subscribe 'lagging')"
    )
    assert spark.sql("SELECT max(offset) FROM lagging").collect()[0][0] == 9
    spark.catalog.dropTempView("lagging")
