"""A new stream that reads nothing says so, once, and how it reads what is there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from spark_datasource import quiet_start
from tests.spark.test_stream import logs, reader

if TYPE_CHECKING:
    from pathlib import Path

    from spark_datasource.stream import KafkaLogStreamReader

AT_THE_END = (
    "this query reads nothing: it began at the end of the logs, where Trigger.AvailableNow ends. "
    "Streams begin there unless startingOffsets says otherwise: startingOffsets=earliest reads "
    "what these logs hold, 7 offsets"
)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of quiet starts: its last value is the time."""
    times = [0.0]
    monkeypatch.setattr(quiet_start, "time", SimpleNamespace(monotonic=lambda: times[-1]))
    return times


def available_now(stream: KafkaLogStreamReader) -> None:
    """What Spark 4.3 asks for one trigger; without a batch, twice. Source: MicroBatchExecution."""
    stream.prepareForTriggerAvailableNow()
    for _ in range(2):
        stream.latestOffset(stream.initialOffset(), stream.getDefaultReadLimit())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, [AT_THE_END]),
        ({"startingOffsets": '{"t": {"0": 5, "1": -1}}'}, [AT_THE_END]),
        ({"startingOffsets": "earliest"}, []),
        ({"startingOffsets": '{"t": {"0": 5, "1": 1}}'}, []),
        ({"startingTimestamp": "0"}, []),
    ],
    ids=str,
)
def test_a_query_that_ends_where_it_begins(
    tmp_path: Path, options: dict[str, str], said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    available_now(reader(logs(tmp_path / "d", 5, 2), **options))
    assert caplog.messages == said


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("highWatermark", "has a record below its high watermark: until=logEnd reads all there"),
        ("lastStableOffset", "has a record below its last stable offset"),
    ],
)
def test_a_log_without_committed_records(
    tmp_path: Path, until: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = logs(tmp_path / "d", 3, committed=0)
    available_now(reader(path, until=until, startingOffsets="earliest"))
    (warning,) = caplog.messages
    assert warning.startswith("this query reads nothing: no selected log ")
    assert said in warning


def test_a_query_that_waits_for_logs_that_do_not_grow(
    tmp_path: Path, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    stream = reader(logs(tmp_path / "d", 5, 2))
    begun = stream.initialOffset()
    said = []
    for seconds in (1.0, 29.0, 31.0, 90.0):
        now.append(seconds)
        assert stream.latestOffset(begun) == begun
        said.append(len(caplog.messages))
    assert said == [0, 0, 1, 1]
    (warning,) = caplog.messages
    assert "has read nothing for 31 seconds: it began at the end of the logs, and they" in warning
    assert "startingOffsets=earliest reads what these logs hold, 7 offsets" in warning


def test_a_query_that_got_something_is_not_warned_of(
    tmp_path: Path, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    path = logs(tmp_path / "d", 5)
    stream = reader(path)
    begun = stream.initialOffset()
    logs(path, 6)
    stream.latestOffset(begun)
    now.append(60.0)
    stream.latestOffset({"t": {"0": 6}})
    assert caplog.messages == []


def test_a_query_that_continues_is_not_warned_of(
    tmp_path: Path, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    """Its checkpoint says where it is: that nothing is new is as usual."""
    stream = reader(logs(tmp_path / "d", 5))
    stream.prepareForTriggerAvailableNow()
    now.append(60.0)
    assert stream.latestOffset({"t": {"0": 5}}) == {"t": {"0": 5}}
    assert caplog.messages == []


def test_a_log_that_grows_before_the_query_begins_at_its_end_has_lost_nothing(
    tmp_path: Path,
) -> None:
    """Spark asks for the end of the trigger first, and then where the query begins."""
    path = logs(tmp_path / "d", 3)
    stream = reader(path)
    stream.prepareForTriggerAvailableNow()
    logs(path, 5)
    begun = stream.initialOffset()
    end = stream.latestOffset(begun, stream.getDefaultReadLimit())
    assert begun == end == {"t": {"0": 5}}
    assert stream.partitions(begun, end) == []
