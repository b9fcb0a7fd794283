"""The recipes and the SQL of docs/spark.md, run as they stand there; only the paths are others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGE = (Path(__file__).parent.parent.parent / "docs" / "spark.md").read_text()
BLOCK = re.compile("^```(python|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
THREE_O_CLOCK = 1_795_489_200_000
"""2026-11-24T03:00:00Z."""


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The topic ``orders``: brokers 0 and 1 share offsets 0 to 4, and each has an offset 5.

    Partition 1, with one record, is on broker 0 only.
    """
    root = tmp_path_factory.mktemp("orders")
    shared = [
        order(0, "customer-7", "new", -50),
        order(1, "customer-8", "new", -40),
        order(2, "customer-9", "new", -30),
        order(3, "customer-9", None, -20),
        order(4, "customer-7", "paid", -1),
    ]
    old, new = order(5, "customer-7", "sent", 0), order(5, "customer-8", "paid", 0, leader_epoch=1)
    cluster(
        root,
        {
            0: [
                replica([*shared, old], topic="orders", high_watermark=6),
                replica([order(0, "customer-1", "new", -9)], topic="orders", partition=1),
            ],
            1: replica([*shared, new], topic="orders", high_watermark=6, log_start=1),
        },
    )
    return root


def order(
    offset: int, key: str, value: str | None, milliseconds: int, *, leader_epoch: int = 0
) -> Batch:
    """A record with a timestamp that is the given number of milliseconds after 03:00."""
    record = Record(
        offset_delta=0, key=key.encode(), value=None if value is None else value.encode()
    )
    when = THREE_O_CLOCK + milliseconds
    return data_batch(offset, [record], base_timestamp=when, leader_epoch=leader_epoch)


def section(title: str) -> list[str]:
    """The blocks of code below a heading."""
    (text,) = re.findall(f"^#+ {re.escape(title)}\n(.*?)(?=^#|\\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return [code for _, code in BLOCK.findall(text)]


def run(code: str, spark: SparkSession, orders: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"spark": spark}
    exec(code.replace("/mnt/b*/kafka-logs", f"{orders}/broker-*"), names)
    return names


def test_every_recipe_is_tested() -> None:
    recipes = PAGE.partition("## Recipes\n")[2].partition("\n## ")[0]
    assert re.findall("^### (.*)$", recipes, re.MULTILINE) == [
        "Load a topic into Delta Lake or Iceberg",
        "The offsets of one key",
        "The state of a topic at 03:00",
        "Records that only one replica has",
    ]


def test_a_topic_is_loaded(spark: SparkSession, orders: Path, tmp_path: Path) -> None:
    load, _ = section("Load a topic into Delta Lake or Iceberg")
    assert '.format("delta")' in load  # another package: Parquet stands in for it
    run(load.replace("delta", "parquet").replace("/lake", str(tmp_path)), spark, orders)
    loaded = spark.read.parquet(f"{tmp_path}/orders")
    assert loaded.columns[-1] == "headers"
    places = sorted((row.partition, row.offset) for row in loaded.collect())
    assert places == [*((0, offset) for offset in range(1, 6)), (1, 0)]


def test_the_offsets_of_one_key(spark: SparkSession, orders: Path) -> None:
    (code,) = section("The offsets of one key")
    frame = run(code.replace("customer-7", "customer-9"), spark, orders)["offsets"]
    assert [(row.partition, row.offset) for row in frame.collect()] == [(0, 2), (0, 3)]


def test_the_state_of_a_topic(spark: SparkSession, orders: Path) -> None:
    (code,) = section("The state of a topic at 03:00")
    rows = run(code, spark, orders)["state"].collect()
    assert {bytes(row.key): (row.partition, row.offset, bytes(row.value)) for row in rows} == {
        b"customer-1": (1, 0, b"new"),
        b"customer-7": (0, 4, b"paid"),
        b"customer-8": (0, 1, b"new"),
    }


def test_records_that_one_replica_has(spark: SparkSession, orders: Path) -> None:
    (code,) = section("Records that only one replica has")
    rows = run(code, spark, orders)["alone"].collect()
    found = {(row.partition, row.offset, row.leaderEpoch, *row.brokers) for row in rows}
    assert found == {(0, 0, 0, 0), (0, 5, 0, 0), (0, 5, 1, 1), (1, 0, 0, 0)}


@pytest.fixture
def catalog(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark
    for statement in (
        "VIEW IF EXISTS order_offsets",
        "TABLE IF EXISTS orders",
        "VIEW IF EXISTS missing",
    ):
        spark.sql(f"DROP {statement}")


def test_the_statements_of_the_page(catalog: SparkSession, orders: Path) -> None:
    (statements,) = section("SQL")
    paths = (("/mnt/b*/kafka-logs", f"{orders}/broker-*"), ("/evidence/b2", f"{orders}/broker-0"))
    for given, there in paths:
        statements = statements.replace(given, there)
    results = [catalog.sql(each).collect() for each in statements.split(";") if each.strip()]
    assert [rows[0][0] for rows in results if rows] == [7, 7]  # the last two count
    assert catalog.sql("SELECT count(*) FROM order_offsets").collect()[0][0] == 6
    gaps = catalog.sql("SELECT reason, firstOffset, nextOffset FROM missing").collect()
    assert [tuple(row) for row in gaps] == [("belowLogStart", 0, 1)]
