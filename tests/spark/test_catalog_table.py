"""SQL: views, tables in the catalog, ``REFRESH TABLE`` and ``WITH``."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import LongType, StructField, StructType

from fixtures.builder import cluster, replica
from kafkalog_reader import registry
from kafkalog_reader.errors import KafkaLogError, UsageError
from spark_datasource.catalog_table import is_being_created, stored_options
from spark_datasource.options import parse_options
from spark_datasource.source import KafkaLogDataSource
from tests.spark.rows import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    Create = Callable[..., None]

PROPERTIES = {
    "owner": "root", "provider": "kafkalog", "location": "file:/mnt/b1", "path": "file:/mnt/b1",
    "comment": "orders of the shop", "team": "shop",
}  # fmt: skip
"""What Spark 4.3 passes besides the options when a table is created; TBLPROPERTIES are in it."""


def created(**options: str) -> StructType:
    """The schema of a table that Spark creates with these options and its path in OPTIONS."""
    copies = {f"option.{name}": value for name, value in options.items()}
    return KafkaLogDataSource({**PROPERTIES, **options, **copies}).schema()


def test_a_table_without_other_properties_is_being_created_too() -> None:
    assert is_being_created({"Owner": "root", "provider": "kafkalog"})
    assert is_being_created(PROPERTIES)
    assert not is_being_created({"provider": "kafkalog", "path": "/mnt/b1"})


def test_the_options_of_a_created_table_travel_in_its_schema() -> None:
    schema = created(subscribe="t")
    assert stored_options(schema, {}) == {"subscribe": "t", "paths": '["/mnt/b1"]'}
    assert stored_options(schema, {"Path": "/mnt/b2"}) == {"subscribe": "t", "Path": "/mnt/b2"}
    assert stored_options(schema, {"subscribe": "u"})["subscribe"] == "u"
    plain = KafkaLogDataSource({"path": "/mnt/b1"}).schema()
    assert [field.metadata for field in plain] == [{}] * len(plain)
    assert schema.names == plain.names


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ({"subscribe": "t"}, {"assign": '{"t": [1]}'}),
        ({"startingTimestamp": "5"}, {"startingOffsets": "earliest"}),
        ({"until": "highWatermark"}, {"endingOffsets": "latest"}),
        ({"endingOffsets": "highWatermark"}, {"UNTIL": "logEnd"}),
    ],
    ids=str,
)
def test_an_option_of_a_query_replaces_those_with_the_same_purpose(
    stored: dict[str, str], given: dict[str, str]
) -> None:
    left = stored_options(created(**stored, mode="PERMISSIVE"), given)
    assert left == {"paths": '["/mnt/b1"]', "mode": "PERMISSIVE", **given}


@pytest.mark.parametrize(("name", "value"), [("table", "gaps"), ("Columns", "offset")])
def test_a_query_cannot_change_the_columns_of_a_table(name: str, value: str) -> None:
    with pytest.raises(UsageError, match="give it when the table is created"):
        stored_options(created(subscribe="t"), {name: value})
    schema = created(**{name: value})
    assert stored_options(schema, {name: value})[name] == value


def test_only_the_names_of_options_about_brokers_are_kept() -> None:
    schema = created(**{"kafka.sasl.jaas.config": "password=secret", "mode": "PERMISSIVE"})
    assert "secret" not in schema.json()
    assert parse_options(stored_options(schema, {})).unused == ("kafka.sasl.jaas.config",)


def test_a_table_with_a_list_of_columns_says_why_it_has_no_options() -> None:
    schema = StructType([StructField("offset", LongType())])
    with pytest.raises(KafkaLogError, match="created with a list of columns has no options"):
        KafkaLogDataSource({"subscribe": "t"}).reader(schema)


def test_nothing_is_written() -> None:
    source = KafkaLogDataSource({"path": "/mnt/b1"})
    for write in (source.writer, source.streamWriter):
        with pytest.raises(KafkaLogError, match="kafkalog only reads: write to another format"):
            write(source.schema(), overwrite=True)


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
    one = spark.sql("SELECT count(*) FROM made WITH (assign='{\"lagging\": [1]}')")
    assert one.collect()[0][0] == 5
    until = spark.sql("SELECT count(*) FROM made WITH (endingOffsets='highWatermark')")
    assert until.collect()[0][0] == 5  # only broker 1 has a high watermark, of lagging-1


@pytest.mark.spark
def test_a_table_is_planned_for_each_query_and_a_load_once(
    spark: SparkSession, tmp_path: Path, create: Create
) -> None:
    """Spark keeps the plan of a Python source with the relation: PythonDataSourceV2, readInfo."""
    path = tmp_path / "d"
    cluster(path, {1: replica("v@0/e0", high_watermark=1)})
    create(path=str(path))
    view = f"VIEW grown USING kafkalog OPTIONS (path '{path}')"
    spark.sql(f"CREATE TEMPORARY {view}")
    loaded, of_table = spark.read.format("kafkalog").load(str(path)), spark.table("made")

    def counts() -> list[int]:
        queries = [spark.sql("SELECT * FROM made"), spark.table("grown"), loaded, of_table]
        return [each.count() for each in queries]

    assert counts() == [1, 1, 1, 1]
    shutil.rmtree(path)
    cluster(path, {1: replica("v@0/e0 v@1/e0", high_watermark=2)})
    spark.sql("REFRESH TABLE grown")
    assert counts()[:1] == [2]
    assert [loaded.count(), of_table.count(), spark.table("grown").count()] == [1, 1, 1]
    assert spark.table("made").count() == 2
    spark.sql(f"CREATE OR REPLACE TEMPORARY {view}")
    assert spark.table("grown").count() == 2


@pytest.mark.spark
def test_a_table_with_wrong_options_is_not_created(
    spark: SparkSession, evidence: Path, create: Create
) -> None:
    message = failure(lambda: create(path=str(evidence), subscrib="lagging"))
    assert message == "no option named 'subscrib'. Did you mean 'subscribe'?"
    assert not spark.catalog.tableExists("made")


@pytest.mark.spark
def test_writing_into_a_table_is_refused_in_one_sentence(
    spark: SparkSession, evidence: Path, create: Create
) -> None:
    create(path=str(evidence), subscribe="lagging")
    message = failure(lambda: spark.sql("INSERT INTO made SELECT * FROM made"))
    assert message == "kafkalog only reads: write to another format, such as parquet"


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
