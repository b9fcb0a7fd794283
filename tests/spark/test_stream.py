"""``readStream``: logs that grow, roll, are truncated and vanish while a query runs."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import KafkaLogError
from spark_datasource import stream as stream_module
from spark_datasource.source import KafkaLogDataSource
from spark_datasource.stream import HAS_LIMITS, KafkaLogStreamReader
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def test_a_query_begins_with_a_warning_where_no_high_watermark_is_known(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster(tmp_path, {1: replica("v@0/e0 v@1/e0")})
    for options in ({}, {"kafka.isolation.level": "read_committed"}):
        stream = reader(tmp_path, startingOffsets="earliest", **options)
        for _ in range(2):
            assert stream.latestOffset() == {"t": {"0": 0}}
        (warning,) = caplog.messages
        assert "t-0: replication-offset-checkpoint has no high watermark of t-0" in warning
        caplog.clear()
    everything = reader(tmp_path, until="logEnd")
    assert everything.latestOffset() == {"t": {"0": 2}}
    assert caplog.messages == []


def test_a_query_begins_with_a_warning_where_a_high_watermark_is_above_all_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Only a warning: copies that are made again and again may get the records later."""
    stream = reader(Path(two_brokers(tmp_path / "lost", 7, 5)), startingOffsets="earliest")
    assert stream.latestOffset() == {"t": {"0": 5}}
    (warning,) = caplog.messages
    assert "offsets 5 to 6 are missing" in warning
    assert "of broker 0 has 7 as high watermark" in warning
    stream.latestOffset()
    assert len(caplog.messages) == 1, "once"
    caplog.clear()
    reader(Path(two_brokers(tmp_path / "sound", 3, 5))).latestOffset()
    silent = {"mode": "DROPMALFORMED"}
    reader(tmp_path / "lost", **silent).latestOffset()
    assert caplog.messages == []


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


def test_new_partitions_are_read_from_their_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = logs(tmp_path / "d", 2)
    stream = reader(path)
    begin = stream.initialOffset()
    logs(path, 2, 3)
    end = stream.latestOffset()
    assert end == stream.latestOffset(begin) == {"t": {"0": 2, "1": 3}}
    caplog.set_level("INFO")
    assert read(stream, begin, end) == ["1:0", "1:1", "1:2"]
    assert [each for each in caplog.messages if "new" in each] == ["t-1 is new"]


def test_only_assigned_partitions_are_read(tmp_path: Path) -> None:
    stream = reader(logs(tmp_path / "d", 2, 3), assign='{"t": [1]}', startingOffsets="earliest")
    begin = stream.initialOffset()
    assert begin == {"t": {"1": 0}}
    logs(tmp_path / "d", 2, 4, 1)
    end = stream.latestOffset(begin)
    assert end == {"t": {"1": 4}}
    assert read(stream, begin, end) == ["1:0", "1:1", "1:2", "1:3"]


def test_a_topic_that_is_not_there_is_refused_when_a_query_begins(tmp_path: Path) -> None:
    with pytest.raises(KafkaLogError, match="payments"):
        reader(logs(tmp_path / "d", 2), subscribe="t,payments").initialOffset()


def test_a_topic_that_goes_while_a_query_runs_is_lost_data(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 2)
    stream = reader(path, subscribe="t", startingOffsets="earliest")
    begin = stream.initialOffset()
    cluster(tmp_path / "else", {1: replica("v@0/e0", topic="other", high_watermark=1)})
    shutil.rmtree(path)
    shutil.copytree(tmp_path / "else", path)
    with pytest.raises(KafkaLogError, match="t-0: no copy is left"):
        stream.latestOffset(begin)


def test_the_quorums_log_is_not_read_unless_it_is_named(tmp_path: Path) -> None:
    quorum = replica("v@0/e0", topic="__cluster_metadata", high_watermark=1)
    cluster(tmp_path, {1: [replica("v@0/e0 v@1/e0", high_watermark=2), quorum]})
    assert reader(tmp_path).initialOffset() == {"t": {"0": 2}}
    named = reader(tmp_path, subscribe="__cluster_metadata", until="logEnd")
    assert named.initialOffset() == {"__cluster_metadata": {"0": 1}}


def test_a_log_of_no_known_topic_is_left_out(tmp_path: Path) -> None:
    """Offsets of a query have topics and partitions as their keys."""
    path = logs(tmp_path / "d", 2)
    for folder in ("a folder", "z folder"):
        write_segment(tmp_path / folder, [batch(0)])
    paths = json.dumps([str(tmp_path / name) for name in ("a folder", "d", "z folder")])
    source = KafkaLogDataSource({"paths": paths})
    assert source.streamReader(source.schema()).initialOffset() == {"t": {"0": 2}}
    assert path


def test_the_copy_is_kept_while_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "d"
    path.mkdir()
    cluster(
        path,
        {1: replica("v@0/e0 v@1/e0", high_watermark=2), 2: replica("v@0/e0", high_watermark=1)},
    )
    stream = reader(path)
    assert stream.initialOffset() == {"t": {"0": 2}}
    longer = "v@0/e0 v@1/e0 v@2/e0"
    cluster(tmp_path / "later", {2: replica(longer, high_watermark=3)})
    shutil.rmtree(path / "broker-2")
    shutil.copytree(tmp_path / "later" / "broker-2", path / "broker-2")
    assert stream.latestOffset() == {"t": {"0": 2}}  # the other copy is longer now
    shutil.rmtree(path / "broker-1")
    assert stream.latestOffset() == {"t": {"0": 3}}


@pytest.mark.parametrize(
    ("after", "problem"),
    [
        pytest.param((2,), "t-0: the log end moved back from offset 4 to 2", id="cut_back"),
        pytest.param((), "t-0: no copy is left", id="gone"),
    ],
)
def test_what_is_gone_is_an_error_unless_it_may_be(
    tmp_path: Path, after: tuple[int, ...], problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = logs(tmp_path / "d", 4)
    strict = reader(path)
    lenient = reader(path, failOnDataLoss="false")
    begin = strict.initialOffset()
    assert lenient.initialOffset() == begin
    logs(path, *after)
    if not after:
        cluster(path, {1: replica("v@0/e0", topic="other", high_watermark=1)})
    end = strict.latestOffset()
    end.pop("other", None)
    refused = rf"\[KAFKALOG.MISSING_RECORDS\] {problem}"
    with pytest.raises(KafkaLogError, match=refused):
        strict.partitions(begin, end)
    with pytest.raises(KafkaLogError, match=refused):
        strict.latestOffset(begin, None)
    lenient.latestOffset(begin, None)
    assert problem not in caplog.text
    assert read(lenient, begin, end) == []
    assert problem in caplog.text


def test_records_deleted_before_they_were_read_are_data_loss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = logs(tmp_path / "d", 6)
    begin, end = {"t": {"0": 1}}, {"t": {"0": 6}}
    logs(path, 6, log_start=4)
    problem = "t-0: offsets 1 to 3 were deleted before this query read them"
    refused = rf"\[KAFKALOG.MISSING_RECORDS\] {problem}"
    with pytest.raises(KafkaLogError, match=refused):
        reader(path).partitions(begin, end)
    with pytest.raises(KafkaLogError, match=refused):
        reader(path).latestOffset(begin, None)
    lenient = reader(path, failOnDataLoss="false")
    assert lenient.latestOffset(begin, None) == end
    assert read(lenient, begin, end) == ["0:4", "0:5"]
    assert problem in caplog.text
    assert "startingOffsets" not in caplog.text


def test_a_log_cut_below_the_end_of_a_trigger_is_data_loss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A trigger that runs again after a restart has its end from the checkpoint."""
    path = logs(tmp_path / "d", 3)
    begin, end = {"t": {"0": 1}}, {"t": {"0": 6}}
    problem = "t-0: the log end moved back from offset 6 to 3"
    with pytest.raises(KafkaLogError, match=rf"\[KAFKALOG.MISSING_RECORDS\] {problem}"):
        reader(path).partitions(begin, end)
    assert read(reader(path, failOnDataLoss="false"), begin, end) == ["0:1", "0:2"]
    assert problem in caplog.text
    assert "endingOffsets" not in caplog.text


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


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.2 and later ask for limits")
def test_limits_are_shared_among_partitions(tmp_path: Path) -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

    path = logs(tmp_path / "d", 30, 10)
    stream = reader(path, startingOffsets="earliest", maxOffsetsPerTrigger="8")
    limit = stream.getDefaultReadLimit()
    assert limit == ReadMaxRows(8)
    begin = stream.initialOffset()
    assert stream.latestOffset(begin, limit) == {"t": {"0": 6, "1": 2}}
    assert stream.latestOffset(begin, ReadAllAvailable()) == {"t": {"0": 30, "1": 10}}
    offsets, triggers = begin, 0
    while (after := stream.latestOffset(offsets, limit)) != offsets:
        offsets, triggers = after, triggers + 1
    assert offsets == {"t": {"0": 30, "1": 10}}
    assert triggers == 5

    waiting = reader(path, minOffsetsPerTrigger="50", maxTriggerDelay="1h")
    assert waiting.getDefaultReadLimit() == ReadMinRows(50)
    assert waiting.latestOffset(begin, ReadMinRows(50)) == begin
    enough = reader(path, minOffsetsPerTrigger="40", maxTriggerDelay="1h")
    assert enough.latestOffset(begin, ReadMinRows(40)) == {"t": {"0": 30, "1": 10}}

    both = reader(path, minOffsetsPerTrigger="4", maxOffsetsPerTrigger="8", maxTriggerDelay="1h")
    limit = both.getDefaultReadLimit()
    almost, everything = {"t": {"0": 28, "1": 9}}, {"t": {"0": 30, "1": 10}}
    assert both.latestOffset(almost, limit) == almost
    assert both.latestOffset(begin, limit) == {"t": {"0": 6, "1": 2}}
    assert both.latestOffset(almost, ReadAllAvailable()) == everything
    both.prepareForTriggerAvailableNow()  # nothing will follow for which it could wait
    assert both.latestOffset(almost, limit) == everything

    assert waiting.latestOffset(begin, None) == everything  # Spark 4.1 and earlier
    assert waiting.latestOffset(None, ReadMinRows(50)) == everything
    assert reader(path).getDefaultReadLimit() == ReadAllAvailable()

    in_bytes = reader(path, startingOffsets="earliest", maxBytesPerTrigger="1k")
    size = sum(log.stat().st_size for log in path.glob("*/t-*/*.log"))
    taken = in_bytes.latestOffset(begin, in_bytes.getDefaultReadLimit())["t"]
    assert sum(taken.values()) == pytest.approx(40 * 1024 / size, abs=2)


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.2 and later ask for limits")
def test_bytes_are_estimated_from_the_mean_of_all_segments(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 20)
    (folder,) = path.glob("*/t-0")
    for first in (0, 10):
        batches = [batch(n, 1) for n in range(first, first + 10)]
        size = write_segment(folder, batches, base_offset=first).stat().st_size
    stream = reader(path, startingOffsets="earliest", maxBytesPerTrigger=str(size))
    taken = stream.latestOffset(stream.initialOffset(), stream.getDefaultReadLimit())
    assert taken == {"t": {"0": 10}}


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.2 and later ask for limits")
def test_bytes_of_the_shortest_log_count_too(tmp_path: Path) -> None:
    """Eleven equal records; a limit of 5.3 of them takes 48 %, of ten less than five."""
    path = logs(tmp_path / "d", 1, 10)
    (single,) = path.glob("*/t-0/*.log")
    limit = round(5.3 * single.stat().st_size)
    stream = reader(path, startingOffsets="earliest", maxBytesPerTrigger=str(limit))
    begin = stream.initialOffset()
    limited = stream.getDefaultReadLimit()
    assert stream.latestOffset(begin, limited) == {"t": {"0": 1, "1": 4}}


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.2 and later ask for limits")
def test_a_log_without_a_whole_batch_has_no_bytes_to_wait_for(tmp_path: Path) -> None:
    """All was deleted, and the first batch after it is unfinished."""
    path = logs(tmp_path / "d", 2)
    (folder,) = path.glob("*/t-0")
    shutil.rmtree(folder)
    segment = write_segment(folder, [batch(7, 1)], base_offset=7)
    segment.write_bytes(segment.read_bytes()[:-1])
    options = {"failOnDataLoss": "false", "until": "logEnd", "maxBytesPerTrigger": "1"}
    stream = reader(path, **options)
    limit = stream.getDefaultReadLimit()
    assert stream.latestOffset({"t": {"0": 1}}, limit) == {"t": {"0": 2}}
    segment.write_bytes(b"")
    assert stream.latestOffset({"t": {"0": 1}}, limit) == {"t": {"0": 7}}


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.2 and later ask for limits")
def test_a_log_that_was_cut_has_no_share_of_a_limit(tmp_path: Path) -> None:
    from pyspark.sql.streaming.datasource import ReadMaxRows

    stream = reader(logs(tmp_path / "d", 3, 9), failOnDataLoss="false")
    begun = {"t": {"0": 5, "1": 5}}
    assert stream.latestOffset(begun, ReadMaxRows(3)) == {"t": {"0": 3, "1": 8}}
    assert stream.latestOffset(begun, ReadMaxRows(4)) == {"t": {"0": 3, "1": 9}}


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.2 and later ask for limits")
def test_a_query_waits_no_longer_than_its_delay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins to wait again with each trigger. Source: Spark 4.0, #delayBatch."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    path = logs(tmp_path / "d", 3)
    stream = reader(path, minOffsetsPerTrigger="5", maxTriggerDelay="30s")
    limit, begun = stream.getDefaultReadLimit(), {"t": {"0": 1}}
    read = []
    for second in (0, 29.9, 30, 59.9, 60):
        now[0] = 1000.0 + second
        read.append(stream.latestOffset(begun, limit) != begun)
    assert read == [False, False, True, False, True]


@pytest.mark.parametrize("has_limits", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"maxOffsetsPerTrigger": "9"},
        {"maxBytesPerTrigger": "1k"},
        {"minOffsetsPerTrigger": "9"},
    ],
    ids=str,
)
def test_limits_that_spark_does_not_ask_for_are_named_when_a_query_begins(
    options: dict[str, str],
    has_limits: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(stream_module, "HAS_LIMITS", has_limits)
    reader(logs(tmp_path / "d", 1), **options).initialOffset()
    told = ["limits per trigger need Spark 4.2: each trigger reads all new records"]
    assert caplog.messages == (told if options and not has_limits else [])


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.2 and later ask for limits")
@pytest.mark.parametrize(
    ("backlogs", "limit", "taken"),
    [
        pytest.param((3, 3), 3, (1, 1), id="1.5 is 1"),
        pytest.param((9, 1), 5, (4, 1), id="4.5 is 4, and 0.5 is 1"),
        pytest.param((6, 2), 4, (3, 1), id="1 is 1"),
        pytest.param((4, 0), 3, (3, 0), id="nothing new in one"),
        pytest.param((4, 4), 8, (4, 4), id="exactly all"),
        pytest.param((4, 4), 9, (4, 4), id="more than there is"),
        pytest.param((0, 0), 3, (0, 0), id="nothing at all"),
    ],
)
def test_a_share_is_rounded_as_by_the_kafka_source(
    tmp_path: Path, backlogs: tuple[int, int], limit: int, taken: tuple[int, int]
) -> None:
    """Below one it is rounded up, else down. Source: Spark 4.0, KafkaMicroBatchStream#rateLimit."""
    from pyspark.sql.streaming.datasource import ReadMaxRows

    stream = reader(logs(tmp_path / "d", *(5 + each for each in backlogs)))
    begun = {"t": {"0": 5, "1": 5}}
    ends = {"t": {str(number): 5 + each for number, each in enumerate(taken)}}
    assert stream.latestOffset(begun, ReadMaxRows(limit)) == ends


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


def test_a_checkpoint_of_another_query_is_refused(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 2)
    end = {"t": {"0": 2}}
    lenient = reader(path, subscribe="t", failOnDataLoss="false")
    with pytest.raises(KafkaLogError, match="holds offsets of other-0, which its options do not"):
        lenient.partitions({"other": {"0": 1}}, end)
    with pytest.raises(KafkaLogError, match="holds offsets of other-0, which its options do not"):
        lenient.latestOffset({"other": {"0": 1}}, None)
    start = {"other": {"0": 1}, "t": {"0": 1}}
    with pytest.raises(KafkaLogError, match="holds offsets of other-0, which its options do not"):
        reader(path, subscribe="t").partitions(start, end)
    assert read(lenient, start, end) == ["0:1"]  # one topic fewer is a choice
    with pytest.raises(KafkaLogError, match="holds offsets of other-0, which its options do not"):
        lenient.partitions({"t": {"0": 0}}, {"other": {"0": 1}})  # planned, but never finished


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
