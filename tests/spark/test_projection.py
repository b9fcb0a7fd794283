"""Which columns a read shows: options and ``.schema(...)``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from kafkalog_reader import registry
from kafkalog_reader.errors import UsageError
from spark_datasource.projection import parse_columns, projected_columns, spark_schema
from tests.spark.rows import EACH_RECORD_ONCE, failure

if TYPE_CHECKING:
    from tests.spark.rows import Read


@pytest.mark.spark
@pytest.mark.parametrize(
    "schema",
    [
        "offset bigint, topic string",
        "timestampType int, value binary, timestamp timestamp",
        "headers array<struct<key: string, value: binary>>, brokerId int, isControl boolean",
        StructType([StructField("producerEpoch", ShortType())]),
    ],
    ids=["two", "kafka", "evidence", "struct"],
)
def test_a_schema_is_a_projection_in_any_order(read: Read, schema: Any, pushdown: bool) -> None:
    frame = read(schema=schema)
    names = frame.columns
    expected = read(columns="all").select(*names).collect()
    assert Counter(map(repr, frame.collect())) == Counter(map(repr, expected))


@pytest.mark.spark
def test_no_column_at_all_still_counts(read: Read) -> None:
    nothing = read(schema=StructType([]))
    if pyspark.__version__.startswith("4.0."):  # would return 0
        assert failure(nothing.count).startswith("schema: names no column")
    else:
        assert nothing.count() == EACH_RECORD_ONCE.total()
    assert read().count() == EACH_RECORD_ONCE.total()
    assert read().limit(3).count() == 3


@pytest.mark.spark
def test_a_list_of_columns_is_shown_in_its_order(read: Read) -> None:
    assert read(columns="offset, topic").columns == ["offset", "topic"]
    assert read(columns="offset", table="checkpoints").columns == ["offset"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            "topics string",
            "schema: table records has no column 'topics'. Did you mean 'topic'?",
        ),
        ("Offset bigint", "schema: table records has no column 'Offset'. Did you mean 'offset'?"),
        ("offset int", "schema: column 'offset' is bigint, not int"),
        ("timestamp timestamp_ntz", "schema: column 'timestamp' is timestamp, not timestamp_ntz"),
        (
            "headers array<struct<key: string, value: string>>",
            "schema: column 'headers' is array<struct<key:string,value:binary>>, "
            "not array<struct<key:string,value:string>>",
        ),
        ("key binary NOT NULL", "schema: column 'key' is nullable: leave out NOT NULL"),
        (
            "headers array<struct<key: string NOT NULL, value: binary>>",
            "schema: everything inside column 'headers' is nullable: "
            "array<struct<key:string,value:binary>>",
        ),
    ],
    ids=["unknown", "case", "type", "timestamp_ntz", "nested", "not_null", "nested_not_null"],
)
def test_a_schema_that_the_table_does_not_have_is_refused(
    read: Read, schema: str, message: str, pushdown: bool
) -> None:
    assert failure(read(schema=schema).collect) == message


@pytest.mark.spark
def test_two_projections_that_disagree_are_refused(read: Read) -> None:
    assert read(schema="topic string", columns="topic").count() == EACH_RECORD_ONCE.total()
    assert failure(read(schema="topic string", columns="offset").collect) == (
        "option columns and .schema(...) name different columns: give one of them"
    )


def test_only_spark_4_0_needs_a_column_to_count_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = registry.table("records")
    one = StructType([StructField("offset", LongType())])
    for version, is_refused in (("4.0.1", True), ("4.1.0", False), ("4.3.0", False)):
        monkeypatch.setattr(pyspark, "__version__", version)
        assert projected_columns(table, one) == ("offset",)
        if is_refused:
            with pytest.raises(UsageError, match=r"Spark 4\.0 would count 0 rows"):
                projected_columns(table, StructType([]))
        else:
            assert projected_columns(table, StructType([])) == ()


HEADERS = "array<struct<key:string,value:binary>>"


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        (StructField("offset", ShortType()), "column 'offset' is bigint, not smallint"),
        (StructField("offset", LongType(), nullable=False), "'offset' is nullable: leave out NOT"),
        (StructField("ofset", LongType()), "has no column 'ofset'. Did you mean 'offset'?"),
        (
            StructField("headers", ArrayType(StructType([
                StructField("key", StringType(), nullable=False),
                StructField("value", BinaryType()),
            ]))),
            f"everything inside column 'headers' is nullable: {HEADERS}",
        ),
    ],
    ids=["type", "not null", "unknown", "nested not null"],
)  # fmt: skip
def test_a_schema_of_other_types_is_refused(field: StructField, problem: str) -> None:
    table = registry.table("records")
    with pytest.raises(UsageError) as caught:
        projected_columns(table, StructType([StructField("topic", StringType()), field]))
    assert problem in str(caught.value)
    assert projected_columns(table, StructType([StructField("topic", StringType())])) == ("topic",)


KAFKA = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
"""What Spark's own Kafka source shows, in its order."""


@pytest.mark.parametrize(
    ("text", "table", "with_headers", "columns"),
    [
        (None, "records", False, KAFKA),
        (None, "records", True, (*KAFKA, "headers")),
        (" Kafka ", "records", False, KAFKA),
        ("kafka", "records", True, (*KAFKA, "headers")),
        ("ALL", "records", False, None),
        ("all", "records", True, None),
        (None, "batches", False, None),
        ("offset", "records", False, ("offset",)),
        (" offset , topic", "records", False, ("offset", "topic")),
        ("headers,offset", "records", True, ("headers", "offset")),
        ("baseOffset", "batches", False, ("baseOffset",)),
    ],
)
def test_columns_are_those_of_kafka_all_or_a_list(
    text: str | None, table: str, with_headers: bool, columns: tuple[str, ...] | None
) -> None:
    found = parse_columns(text, registry.table(table), with_headers=with_headers)
    assert found == columns


@pytest.mark.parametrize(
    ("text", "table", "with_headers", "problem"),
    [
        ("kafka", "batches", False, "only table records has these columns"),
        ("", "records", False, "write kafka, all, or names separated by commas"),
        ("offset,,topic", "records", False, "write kafka, all, or names separated by commas"),
        ("offset, topic, offset", "records", False, "a column is named twice"),
        ("offset", "records", True, "option includeHeaders adds to columns=kafka"),
        ("offsets", "records", False, "Did you mean 'offset'?"),
    ],
)
def test_columns_that_make_no_sense_are_refused(
    text: str, table: str, with_headers: bool, problem: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parse_columns(text, registry.table(table), with_headers=with_headers)
    assert problem in str(caught.value)


def test_a_schema_may_name_columns_in_any_order_but_none_twice() -> None:
    table = registry.table("records")
    known = spark_schema(table, ("topic", "offset"))
    assert known.names == ["topic", "offset"]
    assert projected_columns(table, StructType([*reversed(known.fields)])) == ("offset", "topic")
    with pytest.raises(UsageError, match="topic, offset, topic: a column is named twice"):
        projected_columns(table, StructType([*known.fields, known.fields[0]]))


def test_a_star_is_every_column() -> None:
    """As in SQL."""
    table = registry.table("records")
    assert parse_columns("*", table) is parse_columns("all", table) is None
