"""SQL: views, tables in the catalog, ``REFRESH TABLE`` and ``WITH``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader import registry
from spark_datasource.catalog_table import stored_options
from spark_datasource.source import KafkaLogDataSource
from tests.spark.rows import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    Create = Callable[..., None]

PROPERTIES = {"owner": "root", "provider": "kafkalog", "location": "file:/mnt/b1"}
"""Entries that Spark 4.3 adds to the options when a table is created."""


def test_the_options_of_a_created_table_travel_in_its_schema() -> None:
    options = {"path": "file:/mnt/b1", "subscribe": "t"}
    copies = {f"option.{name}": value for name, value in options.items()}
    schema = KafkaLogDataSource({**PROPERTIES, **options, **copies}).schema()
    assert stored_options(schema, {}) == {"subscribe": "t", "paths": '["/mnt/b1"]'}
    assert stored_options(schema, {"Path": "/mnt/b2"}) == {"subscribe": "t", "Path": "/mnt/b2"}
    assert stored_options(schema, {"subscribe": "u"})["subscribe"] == "u"
    plain = KafkaLogDataSource({"path": "/mnt/b1"}).schema()
    assert [field.metadata for field in plain] == [{}] * len(plain)
    assert schema.names == plain.names


@pytest.fixture
def create(spark: SparkSession, evidence: Path) -> Iterator[Create]:
    """Creates the table ``made`` of the evidence with options."""

    def made(**options: str) -> None:
        pairs = ", ".join(f"'{name}' {json.dumps(value)}" for name, value in options.items())
        spark.sql(f"CREATE TABLE made USING kafkalog OPTIONS ({pairs})")

    yield made
    spark.sql("DROP VIEW IF EXISTS made_view")
    spark.sql("DROP TABLE IF EXISTS made")


@pytest.mark.spark
def test_a_table_a_view_on_it_and_refresh_read_with_the_options(
    spark: SparkSession, evidence: Path, create: Create
) -> None:
    create(path=str(evidence), subscribe="lagging", startingOffsets="earliest")
    query = "SELECT partition, max(offset), count(*) FROM {} GROUP BY partition ORDER BY partition"
    expected = [(0, 9, 8), (1, 4, 5)]
    assert [tuple(row) for row in spark.sql(query.format("made")).collect()] == expected
    spark.sql("CREATE VIEW made_view AS SELECT partition, offset FROM made")
    spark.sql("REFRESH TABLE made")
    assert [tuple(row) for row in spark.sql(query.format("made_view")).collect()] == expected
    everything = spark.sql(
        "SELECT min(offset) FROM made WITH (logRange='all', subscribe='lagging')"
    )
    assert everything.collect()[0][0] == 0
    elsewhere = f"SELECT count(*) FROM made WITH (path={json.dumps(str(evidence / 'broker-1'))})"
    assert spark.sql(elsewhere).collect()[0][0] == 11
    until = spark.sql("SELECT count(*) FROM made WITH (endingOffsets='highWatermark')")
    assert until.collect()[0][0] == 5  # only broker 1 has a high watermark, of lagging-1


@pytest.mark.spark
def test_a_table_with_wrong_options_is_not_created(
    spark: SparkSession, evidence: Path, create: Create
) -> None:
    message = failure(lambda: create(path=str(evidence), subscrib="lagging"))
    assert message == "no option named 'subscrib'. Did you mean 'subscribe'?"
    assert not spark.catalog.tableExists("made")


@pytest.mark.spark
@pytest.mark.parametrize("table", sorted(registry.TABLES))
def test_every_table_has_a_temporary_view(spark: SparkSession, evidence: Path, table: str) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW one USING kafkalog "
        f"OPTIONS (path {json.dumps(str(evidence))}, table '{table}')"
    )
    rows = spark.sql("SELECT * FROM one")
    direct = spark.read.format("kafkalog").option("table", table).load(str(evidence))
    assert rows.schema == direct.schema
    assert rows.count() == direct.count()
