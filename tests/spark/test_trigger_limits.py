"""How much one trigger of a stream reads."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import pytest

from spark_datasource import trigger_limits
from spark_datasource.trigger_limits import HAS_LIMITS
from tests.spark.test_stream import logs, reader
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


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
    monkeypatch.setattr(trigger_limits, "HAS_LIMITS", has_limits)
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
