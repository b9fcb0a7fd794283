"""Which records a read shows: options, pushed filters and paths."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.datasource import DataSourceReader

from tests.spark.rows import EACH_RECORD_ONCE, places

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.rows import Read

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"subscribe": "forked, headers"}, {("forked", 0): range(4), ("headers", 0): range(2)}),
        ({"subscribePattern": "lag.*"}, {("lagging", 0): range(2, 10), ("lagging", 1): range(5)}),
        ({"assign": '{"lagging": [1]}'}, {("lagging", 1): range(5)}),
        (
            {
                "subscribe": "lagging",
                "startingOffsets": '{"lagging": {"0": 5, "1": -2}}',
                "endingOffsets": '{"lagging": {"0": 8, "1": -1}}',
            },
            {("lagging", 0): range(5, 8), ("lagging", 1): range(5)},
        ),
        (
            {"subscribe": "lagging", "endingOffsets": '{"lagging": {"0": 3, "1": 0}}'},
            {("lagging", 0): range(2, 3)},
        ),
    ],
    ids=["subscribe", "pattern", "assign", "offsets", "end_before_the_start"],
)
def test_options_of_the_kafka_source_choose_the_same_part(
    read: Read, options: dict[str, str], expected: dict[tuple[str, int], range]
) -> None:
    assert places(read(**options)) == Counter(
        (topic, partition, offset)
        for (topic, partition), offsets in expected.items()
        for offset in offsets
    )


def test_option_names_are_compared_as_spark_does(spark: SparkSession, evidence: Path) -> None:
    reader = spark.read.format("KAFKALOG").option("SUBSCRIBE", "headers").option("TABLE", "records")
    assert reader.load(str(evidence)).count() == 2


FILTERS = [
    "topic = 'lagging'",
    "topic IN ('forked', 'headers', NULL) AND partition = 0",
    "topic <=> 'forked' AND offset > 1",
    "topic = 'lagging' AND topic = 'forked'",
    "partition IN (1, 7)",
    "offset >= 3 AND offset < 6",
    "offset = 5 OR offset = 0",
    "offset > 9223372036854775806",
    "offset < -1",
    "timestamp >= timestamp_millis(1700000003000)",
    "timestamp > timestamp_millis(1700000003000)",
    "timestamp <= timestamp_micros(1700000003000999) AND timestamp > '2000-01-01'",
    "timestamp < timestamp_micros(1700000003000001)",
    "timestamp = timestamp_millis(1700000003000)",
    "timestamp IS NULL",
    "NOT topic = 'lagging'",
    "topic LIKE 'f%'",
    "leaderEpoch >= 1",
    "leaderEpoch < 2 AND brokerId = 1",
    "brokerId <> 1",
    "brokerId IN (0, 1, 2) AND topic = 'forked'",
]


COMPARED = "topic,partition,offset,timestamp,leaderEpoch,brokerId"


@pytest.fixture(scope="module", params=["best", "all"])
def unfiltered(
    request: pytest.FixtureRequest, spark: SparkSession, evidence: Path
) -> tuple[str, DataFrame]:
    """All rows of one read, detached from the source, so that no filter is pushed down."""
    reader = spark.read.format("kafkalog").option("replica", request.param)
    return request.param, reader.option("columns", COMPARED).load(str(evidence)).localCheckpoint()


@pytest.mark.parametrize("condition", FILTERS)
def test_a_filter_gives_the_same_rows_pushed_down_or_not(
    read: Read, pushdown: bool, condition: str, unfiltered: tuple[str, DataFrame]
) -> None:
    replica, everything = unfiltered
    filtered = read(replica=replica, columns=COMPARED).where(condition)
    assert Counter(filtered.collect()) == Counter(everything.where(condition).collect())


def test_a_pushed_topic_is_not_asked_again(read: Read, spark: SparkSession) -> None:
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        plan = read().where("topic = 'forked' AND offset > 1")._jdf.queryExecution().toString()
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    physical = plan[plan.index("== Physical Plan ==") :]
    assert "(offset" in physical
    assert "topic#" in physical
    is_pushed = "= forked" not in physical.split("BatchScan")[0]
    assert is_pushed == hasattr(DataSourceReader, "pushLimit")  # see test_shared_plan.py


def test_several_paths_are_read_together(read: Read, evidence: Path) -> None:
    paths = [str(evidence / "broker-0"), str(evidence / "broker-1")]
    assert places(read(paths)) == EACH_RECORD_ONCE
    assert places(read(str(evidence / "broker-*"))) == EACH_RECORD_ONCE
    assert places(read(f"file:{evidence}")) == EACH_RECORD_ONCE


def test_a_partition_directory_and_a_segment_are_paths_too(read: Read, evidence: Path) -> None:
    partition = evidence / "broker-0" / "lagging-0"
    assert {row.offset for row in read(str(partition)).collect()} == set(range(2, 10))
    segment = partition / f"{4:020d}.log"
    assert {row.offset for row in read(str(segment)).collect()} == {4, 5}


def test_a_lone_segment_of_no_known_topic_is_read(
    read: Read, evidence: Path, tmp_path: Path
) -> None:
    shutil.copy(evidence / "broker-1" / "lagging-1" / f"{0:020d}.log", tmp_path)
    rows = read(str(tmp_path / f"{0:020d}.log")).collect()
    assert [(row.topic, row.partition, row.offset) for row in rows] == [
        (None, None, offset) for offset in range(5)
    ]


def test_a_number_before_a_path_is_the_node_id(read: Read, evidence: Path, tmp_path: Path) -> None:
    shutil.copytree(evidence / "broker-1", tmp_path / "copied")
    (tmp_path / "copied" / "meta.properties").unlink()
    frame = read(f"17={tmp_path}/copied", columns="brokerId,offset", subscribe="forked")
    assert {row.brokerId for row in frame.collect()} == {17}
