"""One DataFrame in several places of a query: no filter of one place reaches another."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.datasource import DataSourceReader

from spark_datasource.source import KafkaLogDataSource

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.rows import Read

pytestmark = pytest.mark.spark
PUSHDOWN_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"
ROWS = {"forked": 4, "lagging": 13, "transactions": 2, "headers": 2}
"""Number of records by topic in the best copies of ``evidence``, from its docstring."""


def topics(frame: DataFrame) -> Counter[str]:
    return Counter(row.topic for row in frame.select("topic").collect())


def test_two_filters_of_one_load_stay_apart(read: Read, pushdown: bool) -> None:
    frame = read()
    forked, headers = frame.where("topic = 'forked'"), frame.where("topic = 'headers'")
    assert topics(forked.union(headers)) == {"forked": 4, "headers": 2}
    assert topics(forked) == {"forked": 4}
    assert topics(frame) == ROWS
    assert frame.count() == sum(ROWS.values())


def test_a_filtered_side_of_a_join_leaves_the_other_whole(read: Read, pushdown: bool) -> None:
    frame = read().select("topic", "partition", "offset")
    late = frame.where("offset >= 3").select("partition", "offset").distinct()
    joined = frame.join(late, ["partition", "offset"], "left_anti")
    # offsets 3 and above exist in partition 0 (forked, lagging) and in partition 1 (lagging)
    assert {row.offset for row in joined.collect()} == {0, 1, 2}
    assert {row.offset for row in frame.collect()} == set(range(10))


def test_a_view_with_a_filter_leaves_the_view_below_it_whole(
    read: Read, spark: SparkSession, pushdown: bool
) -> None:
    read().createOrReplaceTempView("shared_plan")
    spark.sql("SELECT * FROM shared_plan WHERE topic = 'headers'").createOrReplaceTempView("narrow")
    counts = spark.sql(
        "SELECT (SELECT count(*) FROM narrow) AS few, (SELECT count(*) FROM shared_plan) AS all, "
        "(SELECT count(*) FROM shared_plan WHERE partition = 1) AS other"
    ).collect()
    assert counts == [(2, sum(ROWS.values()), 5)]


def test_a_subquery_has_filters_of_its_own(read: Read, spark: SparkSession, pushdown: bool) -> None:
    read().createOrReplaceTempView("shared_plan")
    rows = spark.sql(
        "SELECT topic, offset FROM shared_plan WHERE topic = 'headers' AND offset IN "
        "(SELECT offset FROM shared_plan WHERE topic = 'forked' AND offset > 0)"
    ).collect()
    assert rows == [("headers", 1)]


def test_only_a_spark_without_the_fault_is_given_a_reader_that_takes_filters(
    evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPARK-58551 separates the plans of scans, and came together with ``pushLimit``."""
    source: Any = KafkaLogDataSource({"path": str(evidence)})
    monkeypatch.setitem(sys.modules, PUSHDOWN_WORKER, sys)
    monkeypatch.delattr(DataSourceReader, "pushLimit", raising=False)
    assert type(source.reader(source.schema())).__name__ == "KafkaLogReader"
    monkeypatch.setattr(DataSourceReader, "pushLimit", lambda *_: False, raising=False)
    assert type(source.reader(source.schema())).__name__ == "FilteringReader"
