"""``readStream``: logs that grow, roll, are truncated and vanish while a query runs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import KafkaLogError
from spark_datasource.source import KafkaLogDataSource
from spark_datasource.trigger_limits import HAS_LIMITS

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark_datasource.stream import KafkaLogStreamReader


def logs(path: Path, *records: int, committed: int | None = None, **options: Any) -> Path:
    """Partitions of topic t on one broker with these numbers of committed one-record batches."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    described = [
        replica(
            " ".join(f"v@{n}/e0" for n in range(count)),
            partition=number,
            high_watermark=count if committed is None else committed,
            **options,
        )
        for number, count in enumerate(records)
    ]
    cluster(path, {1: described})
    for checkpoint in path.rglob("*-checkpoint"):
        checkpoint.touch()  # built files all have the same time, which a cache compares
    return path


def reader(path: Path, **options: str) -> KafkaLogStreamReader:
    source = KafkaLogDataSource({"path": str(path), **options})
    return source.streamReader(source.schema())


def read(stream: KafkaLogStreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[str]:
    """The records between two offsets, as ``partition:offset``."""
    return sorted(
        f"{row['partition']}:{row['offset']}"
        for task in stream.partitions(start, end)
        for rows in stream.read(task)
        for row in rows.to_pylist()
    )


def test_a_stream_begins_at_the_end_unless_the_options_say_otherwise(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 5, 2)
    assert reader(path).initialOffset() == {"t": {"0": 5, "1": 2}}
    assert reader(path, startingOffsets="earliest").initialOffset() == {"t": {"0": 0, "1": 0}}
    for zero, one in ((3, 2), (0, 1)):
        asked = f'{{"t": {{"0": {zero}, "1": {one}}}}}'
        assert reader(path, startingOffsets=asked).initialOffset() == {"t": {"0": zero, "1": one}}
    asked = '{"t": {"0": -2, "1": -1}}'
    assert reader(path, startingOffsets=asked).initialOffset() == {"t": {"0": 0, "1": 2}}
    assert reader(path, startingTimestamp="0").initialOffset() == {"t": {"0": 0, "1": 0}}


def test_each_trigger_reads_what_is_new_and_committed(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 3)
    stream = reader(path, startingOffsets="earliest")
    begin = stream.initialOffset()
    first = stream.latestOffset()
    assert read(stream, begin, first) == ["0:0", "0:1", "0:2"]
    logs(path, 9, committed=7, segment_bytes=200)
    second = stream.latestOffset()
    assert second == {"t": {"0": 7}}
    assert read(stream, first, second) == ["0:3", "0:4", "0:5", "0:6"]
    assert read(stream, second, second) == []
    assert reader(path, until="logEnd").initialOffset() == {"t": {"0": 9}}


def two_brokers(root: Path, *marks: int) -> str:
    """Broker 0 has offsets 0 to 2, broker 1 also 3 and 4; each with its high watermark."""
    described = [replica(log, high_watermark=mark) for log, mark in zip(LOGS, marks, strict=True)]
    cluster(root, dict(enumerate(described)))
    return str(root)


LOGS = ("0-2/e0", "0-2/e0 3-4/e0")


def test_a_batch_fails_where_a_high_watermark_is_above_all_logs(
    tmp_path: Path, spark: SparkSession
) -> None:
    lost = spark.read.format("kafkalog").load(two_brokers(tmp_path, 7, 5))
    with pytest.raises(Exception, match="offsets 5 to 6 are missing"):
        lost.count()
    rest = spark.read.format("kafkalog").option("mode", "PERMISSIVE").load(str(tmp_path))
    assert rest.count() == 5


def test_a_torn_tail_is_not_read_before_it_is_whole(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 3)
    (segment,) = path.glob("*/t-0/*.log")
    segment.write_bytes(segment.read_bytes()[:-1])
    assert reader(path, until="logEnd").initialOffset() == {"t": {"0": 2}}


def test_a_topic_that_is_not_there_is_refused_when_a_query_begins(tmp_path: Path) -> None:
    with pytest.raises(KafkaLogError, match="payments"):
        reader(logs(tmp_path / "d", 2), subscribe="t,payments").initialOffset()


@pytest.mark.parametrize(
    ("options", "tasks"),
    [
        ({}, 1),
        ({"maxRecordsPerPartition": "2"}, 6),
        ({"minPartitions": "2"}, 2),
    ],
    ids=str,
)
def test_triggers_are_cut_into_tasks_as_batches_are(
    tmp_path: Path, options: dict[str, str], tasks: int
) -> None:
    """Two partitions with five new records each; the Kafka source has both options in streams."""
    begin, end = {"t": {"0": 1, "1": 1}}, {"t": {"0": 6, "1": 6}}
    path = logs(tmp_path / "d", 6, 6)
    stream = reader(path, **options)
    assert len(stream.partitions(begin, end)) == tasks
    assert read(stream, begin, end) == [f"{n}:{offset}" for n in (0, 1) for offset in range(1, 6)]


def test_available_now_ends_with_what_was_there(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 3)
    stream = reader(path, startingOffsets="earliest")
    stream.prepareForTriggerAvailableNow()
    logs(path, 5, 5)
    assert stream.latestOffset() == {"t": {"0": 3}}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"endingOffsets": "latest"}, "option endingOffsets: a stream has no end"),
        ({"endingTimestamp": "1"}, "option endingTimestamp: a stream has no end"),
        ({"table": "segments"}, "table segments cannot be streamed: only records can"),
        (
            {"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"},
            "option minOffsetsPerTrigger: it is above maxOffsetsPerTrigger",
        ),
        ({"maxTriggerDelay": "soon"}, "option maxTriggerDelay: 'soon' is not a time"),
        (
            {"maxBytesPerTrigger": "1m", "maxOffsetsPerTrigger": "8"},
            "options maxOffsetsPerTrigger and maxBytesPerTrigger exclude each other: give one of",
        ),
        ({"replica": "all"}, "option replica: a stream reads one copy of each partition, not all"),
        ({"last": "5"}, "option last: a stream has no end to count from: read a batch"),
        (
            {"leftovers": "true"},
            "option leftovers: a stream follows logs, of which they are no part",
        ),
        ({"maxOffsetPerTrigger": "1"}, "Did you mean 'maxOffsetsPerTrigger'"),
    ],
    ids=str,
)
def test_options_of_streams_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, str], problem: str
) -> None:
    path = logs(tmp_path / "d", 1)
    source = KafkaLogDataSource({"path": str(path), **options})
    with pytest.raises(KafkaLogError) as caught:
        source.streamReader(KafkaLogDataSource({"path": str(path)}).schema())
    assert problem in str(caught.value)


def test_a_stream_of_the_folder_of_the_quorums_log_shows_it(tmp_path: Path) -> None:
    path = tmp_path / "d"
    cluster(path, {1: replica("v@0/e0 v@1/e0", topic="__cluster_metadata", high_watermark=2)})
    options = {"startingOffsets": "earliest", "until": "logEnd"}
    stream = reader(path / "broker-1" / "__cluster_metadata-0", **options)
    begin = stream.initialOffset()
    assert begin == {"__cluster_metadata": {"0": 0}}
    assert read(stream, begin, stream.latestOffset(begin)) == ["0:0", "0:1"]


def test_a_checkpoint_of_another_source_is_named_as_that(tmp_path: Path) -> None:
    stream = reader(logs(tmp_path / "d", 1))
    with pytest.raises(KafkaLogError, match="holds offsets of another source"):
        stream.partitions({"index": 3}, {"t": {"0": 1}})


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"endingOffsets": "latest"}, "option endingOffsets: a stream has no end"),
        ({"table": "batches"}, "table batches cannot be streamed: only records can"),
    ],
    ids=str,
)
@pytest.mark.parametrize("available_now", [True, False])
def test_a_query_fails_with_the_sentence_about_its_options(
    spark: SparkSession,
    tmp_path: Path,
    options: dict[str, str],
    problem: str,
    available_now: bool,
) -> None:
    """Spark's own error would be that of the cleaning up after it."""
    stream = spark.readStream.format("kafkalog").options(**options).load(str(logs(tmp_path, 1)))
    writer = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c"))
    writer = writer.trigger(availableNow=True) if available_now else writer
    query = writer.start()
    with pytest.raises(StreamingQueryException) as caught:
        query.awaitTermination(60)
    assert f"[KAFKALOG.INVALID_REQUEST] {problem}" in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert "UnboundLocalError" not in str(caught.value)


@pytest.mark.spark
@pytest.mark.skipif(not HAS_LIMITS, reason="earlier releases do not say where a trigger begins")
def test_a_checkpoint_survives_another_query(spark: SparkSession, tmp_path: Path) -> None:
    """Spark writes the end of a trigger before it plans the trigger."""
    path = logs(tmp_path / "d", 3)
    cluster(tmp_path / "else", {1: replica("v@0/e0", topic="other", high_watermark=1)})

    def run(folder: Path, topic: str) -> int:
        query = (
            spark.readStream.format("kafkalog")
            .options(startingOffsets="earliest", subscribe=topic)
            .load(str(folder))
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"))
        )
        query.awaitTermination(60)
        return spark.read.parquet(str(tmp_path / "out")).count()

    assert run(path, "t") == 3
    with pytest.raises(StreamingQueryException, match="holds offsets of t-0"):
        run(tmp_path / "else", "other")
    logs(path, 5)
    assert run(path, "t") == 5


@pytest.mark.spark
def test_a_query_writes_every_record_once_over_restarts(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = logs(tmp_path / "d", 4, 1)

    def run() -> None:
        stream = (
            spark.readStream.format("kafkalog")
            .option("startingOffsets", "earliest")
            .load(str(path))
            .selectExpr("partition", "offset", "cast(value as string) as value")
        )
        query = (
            stream.writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"))
        )
        query.awaitTermination()

    run()
    logs(path, 9, 3, segment_bytes=150)
    run()
    run()
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    expected = [(0, n) for n in range(9)] + [(1, n) for n in range(3)]
    assert sorted((row.partition, row.offset) for row in rows) == expected
