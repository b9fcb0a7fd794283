"""The rows that read with Spark: local[2], default settings, a noop sink takes all columns."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.answer import require_same
from benchmarks.live_broker import live_broker
from benchmarks.ready_source import SCHEMA, ReadySource
from benchmarks.rounds import alternate
from benchmarks.row import Bench, Figure, Row, Target, speed_figure
from benchmarks.segments import RECORDS_PER_BATCH, TOPIC, Segments
from fixtures.both_sources.connector import connector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COLUMNS: Final = ("partition", "offset", "timestamp", "key", "value")
DEFAULT_TASKS: Final = 10
"""Tasks of the ready source if our side, whose number it otherwise uses, is not run."""


def partition_of_five_segments(bench: Bench) -> Segments:
    batches = 1_000 if bench.quick else 14_000
    return Segments(segments=5, records_per_segment=batches * RECORDS_PER_BATCH)


def against_ready_batches(bench: Bench) -> Figure:
    segments = partition_of_five_segments(bench)
    with spark_session() as spark:
        spark.dataSource.register(ReadySource)
        ours = None if bench.peers_only else _our_records(spark, segments.partition_directory())
        tasks = ours.rdd.getNumPartitions() if ours is not None else DEFAULT_TASKS
        ready = (
            spark.read.format("ready")
            .option("rows", segments.records)
            .option("tasks", tasks)
            .load()
        )
        if ours is not None:
            require_same(TOPIC, ours.count(), segments.records)
        return _compare(ours, ready, segments.records, bench)


def partition_of_one_record_batches(bench: Bench) -> Segments:
    return Segments(
        records_per_batch=1, segments=5, records_per_segment=20_000 if bench.quick else 400_000
    )


def against_kafka_source(input_of: Callable[[Bench], Segments], bench: Bench) -> Figure:
    segments = input_of(bench)
    with live_broker(segments) as (address, partition), spark_session() as spark:
        ours = None if bench.peers_only else _our_records(spark, partition)
        kafka = (
            spark.read.format("kafka")
            .option("kafka.bootstrap.servers", address)
            .option("subscribe", TOPIC)
            .load()
            .select(*COLUMNS)
        )
        if ours is not None:
            require_same(TOPIC, _sums(ours), _sums(kafka))
        return _compare(ours, kafka, segments.records, bench)


def count_against_full_read(bench: Bench) -> Figure:
    """Milliseconds that tasks ran, for a count of offsets and for all columns of zstd batches."""
    if bench.peers_only:
        return Figure(ours="–", peer="–", value=None)
    batches = 1_000 if bench.quick else 14_000
    segments = Segments(codec="zstd", segments=5, records_per_segment=batches * RECORDS_PER_BATCH)
    directory = str(segments.partition_directory())
    with spark_session() as spark:
        offsets = spark.read.format("kafkalog").schema("offset bigint").load(directory)
        records = _our_records(spark, segments.partition_directory())
        require_same(TOPIC, offsets.count(), segments.records)
        _consume(records)
        rounds = alternate(
            lambda: _task_seconds(spark, offsets.count),
            lambda: _task_seconds(spark, lambda: _consume(records)),
            2 if bench.quick else 5,
        )
    return speed_figure(rounds, segments.records, "rows")


def _task_seconds(spark: SparkSession, query: Callable[[], object]) -> float:
    """The seconds that all tasks of a query took together."""
    before = _all_task_seconds(spark)
    query()
    deadline = time.monotonic() + 5
    while (taken := _all_task_seconds(spark) - before) == 0 and time.monotonic() < deadline:
        time.sleep(0.05)  # the status is updated later
    time.sleep(0.2)
    return _all_task_seconds(spark) - before if taken else taken


def _all_task_seconds(spark: SparkSession) -> float:
    context = spark.sparkContext._jsc.sc()  # of the driver's JVM
    executors = context.statusStore().executorList(False)
    milliseconds = sum(executors.apply(each).totalDuration() for each in range(executors.size()))
    return float(milliseconds) / 1000


def first_row(bench: Bench) -> Figure:
    """Seconds until the first row of a small input, in a session that ran the query before."""
    if bench.peers_only:
        return Figure(ours="–", peer="–", value=None)
    segments = Segments(records_per_segment=1_000)
    seconds = []
    with spark_session() as spark:
        for _ in range(4 if bench.quick else 12):
            start = time.perf_counter()
            rows = spark.read.format("kafkalog").load(str(segments.partition_directory())).take(1)
            seconds.append(time.perf_counter() - start)
            require_same(TOPIC, len(rows), 1)
    warm = seconds[2:]
    return Figure(
        ours=f"{median(warm):.2f} s", peer="–", value=median(warm), spread=(min(warm), max(warm))
    )


def _our_records(spark: SparkSession, directory: Path) -> DataFrame:
    return spark.read.format("kafkalog").schema(SCHEMA).load(str(directory))


def _compare(ours: DataFrame | None, peer: DataFrame, rows: int, bench: Bench) -> Figure:
    _consume(peer)
    rounds = alternate(
        None if ours is None else lambda: _consume(ours),
        lambda: _consume(peer),
        2 if bench.quick else 5,
    )
    return speed_figure(rounds, rows, "rows")


def _consume(rows: DataFrame) -> float:
    start = time.perf_counter()
    rows.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def _sums(rows: DataFrame) -> int:
    """One number from each column; it must be equal for both sources."""
    hashed = rows.agg(f.sum(f.xxhash64(*COLUMNS).cast("decimal(38,0)"))).first()
    assert hashed is not None
    return int(hashed[0])


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """A session on two cores with default settings; it ends with the block."""
    _, jars = connector()  # all sessions of this process share the class path of the first
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("kafkalog benchmarks")
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.jars", ",".join(map(str, jars)))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


SPARK_ROWS: Final = (
    Row(
        name="spark-ready",
        work="Spark `records`: partition, offset, timestamp, key, value",
        against="a source that yields ready batches",
        target=Target(0.9),
        measure=against_ready_batches,
    ),
    Row(
        name="spark-kafka",
        work="the same, one topic partition",
        against='Spark\'s `format("kafka")`, live broker',
        target=Target(5),
        measure=partial(against_kafka_source, partition_of_five_segments),
    ),
    Row(
        name="spark-kafka-one-record",
        work="the same, one-record batches",
        against='Spark\'s `format("kafka")`, live broker',
        target=Target(6),
        measure=partial(against_kafka_source, partition_of_one_record_batches),
    ),
    Row(
        name="spark-count",
        work='`count()` with `.schema("offset bigint")`, zstd, time of all tasks',
        against="our read of the five columns",
        target=None,
        measure=count_against_full_read,
    ),
    Row(
        name="spark-first-row",
        work="first row of a small input with Spark, warm",
        against="–",
        target=Target(0.5, "s"),
        measure=first_row,
    ),
)
