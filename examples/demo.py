"""The main job on a real capture: log directories of three brokers as Spark tables.

Run by ``make demo``: ``python examples/demo.py LOG_DIRECTORIES``.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession


def show(spark: SparkSession, capture: str) -> None:
    """Print the records, each once, and the replicas that hold them."""
    print(f'>>> spark.read.format("kafkalog").load("{capture}")')  # noqa: T201
    records = spark.read.format("kafkalog").load(capture)
    records.selectExpr(
        "key", "cast(value as string) value", "topic", "partition", "offset", "timestamp",
        "timestampType",
    ).orderBy("topic", "partition", "offset").show(truncate=False)  # fmt: skip

    print(f'>>> spark.read.format("kafkalog").option("table", "replicas").load("{capture}")')  # noqa: T201
    replicas = spark.read.format("kafkalog").option("table", "replicas").load(capture)
    replicas.where("topic = 't'").orderBy("brokerId").selectExpr(
        "brokerId broker", "topic", "partition", "logStartOffset", "logEndOffset",
        "checkpointedHighWatermark highWatermark", "lastLeaderEpoch",
    ).show()  # fmt: skip


def main(capture: str) -> None:
    """Start Spark and show the capture."""
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("kafkalog demo")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        show(spark, capture)
    finally:
        spark.stop()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/demo.py LOG_DIRECTORIES")
    main(sys.argv[1])
