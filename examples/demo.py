"""The main job on a real capture: log directories of three brokers as Spark tables.

Run by ``make demo``: ``python examples/demo.py LOG_DIRECTORIES``.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession


def main(capture: str) -> None:
    """Show the records, each once, and the replicas that hold them."""
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("kafkalog demo")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    sys.stdout.write(f'>>> spark.read.format("kafkalog").load("{capture}")\n')
    records = spark.read.format("kafkalog").load(capture)
    text = records.selectExpr(
        "cast(key as string) key", "cast(value as string) value",
        "topic", "partition", "offset", "timestamp", "timestampType",
    )  # fmt: skip
    text.orderBy("topic", "partition", "offset").show(truncate=False)

    sys.stdout.write('>>> ....option("table", "replicas").load(...)\n')
    replicas = spark.read.format("kafkalog").option("table", "replicas").load(capture)
    replicas.select(
        "brokerId", "topic", "partition", "logStartOffset", "logEndOffset",
        "checkpointedHighWatermark", "lastLeaderEpoch", "cleanShutdown",
    ).where("topic = 't'").orderBy("brokerId").show()  # fmt: skip
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/demo.py LOG_DIRECTORIES")
    main(sys.argv[1])
