"""A stream that stays with a copy that no longer grows says so."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.scan import log_tail
from spark_datasource import stale_copies
from tests.spark.test_stream import reader

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.scan.log_tail import LogTail
    from spark_datasource.stream import KafkaLogStreamReader

DEAD = "0-2/e0"


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Each call of the clock is half a minute later, on a host that has just started."""
    seconds = [0.0]

    def monotonic() -> float:
        seconds.append(seconds[-1] + 30.0)
        return seconds[-2]

    monkeypatch.setattr(stale_copies, "time", SimpleNamespace(monotonic=monotonic))
    return seconds


def running(root: Path, **options: str) -> KafkaLogStreamReader:
    """A query that reads broker 0, the only copy so far."""
    cluster(root, {0: replica(DEAD, high_watermark=3)})
    stream = reader(root, startingOffsets="earliest", **options)
    assert stream.latestOffset() == {"t": {"0": 3}}
    return stream


@pytest.mark.parametrize(
    ("other", "said"),
    [
        pytest.param("0-2/e0 3-6/e1", "ends at 7 under the newer leader epoch 1. ", id="newer"),
        pytest.param("0-2/e0 3-6/e0", "that of broker 1 ends at 7. ", id="longer"),
        pytest.param("0-1/e0 2-2/e1", "ends at 3 under the newer leader epoch 1. ", id="fork"),
        pytest.param("0-1/e0", "", id="shorter"),
        pytest.param("0-0/e0 1-2/e0", "", id="equal"),
    ],
)
def test_another_copy_that_has_more_is_named_once(
    other: str, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stream = running(tmp_path)
    cluster(tmp_path, {1: replica(other, high_watermark=1)})
    assert stream.latestOffset() == stream.latestOffset() == {"t": {"0": 3}}
    stream.latestOffset()
    if not said:
        assert caplog.messages == []
        return
    (warning,) = caplog.messages
    assert "t-0: this query reads broker 0, whose log still ends at offset 3; " in warning
    assert said in warning


def test_a_copy_that_grows_only_lags(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And if it stops later, that is said again."""
    stream = running(tmp_path)
    cluster(tmp_path, {1: replica("0-9/e0 10-19/e0", high_watermark=20)})
    log = tmp_path / "broker-0" / "t-0" / f"{0:020}.log"
    for end in (4, 5, 6):
        grown = tmp_path / f"grown-{end}"
        cluster(grown, {0: replica(f"0-{end - 1}/e0", high_watermark=end)})
        log.write_bytes((grown / "broker-0" / "t-0" / log.name).read_bytes())
        stream.latestOffset()
        assert caplog.messages == []
    stream.latestOffset()
    (warning,) = caplog.messages
    assert "still ends at offset 6; that of broker 1 ends at 20. " in warning


def test_a_copy_of_another_topic_of_this_name_has_nothing_for_the_query(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stream = running(tmp_path)
    other = replica("0-9/e4", high_watermark=10, topic_id="AAAAAAAAAAAAAAAAAAAAAQ")
    cluster(tmp_path, {1: other})
    stream.latestOffset()
    stream.latestOffset()
    assert caplog.messages == []


def test_looks_are_half_a_minute_apart(
    tmp_path: Path, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    """Followers may lag as long as that without leaving the ISR: replica.lag.time.max.ms."""
    stream = running(tmp_path)
    cluster(tmp_path, {1: replica("0-2/e0 3-6/e0", high_watermark=7)})
    warned = []
    for second in (1000, 1001, 1029.9, 1030, 1031, 1060):
        now[:] = [second]
        stream.latestOffset()
        warned.append(len(caplog.messages))
    assert warned == [0, 0, 0, 1, 1, 1]


def test_a_copy_without_records_has_an_older_epoch_than_any(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster(tmp_path, {0: replica("", high_watermark=0)})
    stream = reader(tmp_path)
    stream.latestOffset()
    cluster(tmp_path, {1: replica("0-0/e0", high_watermark=0)})
    stream.latestOffset()
    stream.latestOffset()
    (warning,) = caplog.messages
    assert "at offset 0; that of broker 1 ends at 1 under the newer leader epoch 0. " in warning


def test_a_copy_grows_in_its_last_segment(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for end in (4, 5, 6):
        log = " ".join(f"{n}-{n}/e0" for n in range(end))
        shutil.rmtree(tmp_path / "broker-0", ignore_errors=True)
        cluster(tmp_path, {0: replica(log, high_watermark=end, segment_bytes=300)})
        if end == 4:
            stream = reader(tmp_path)
            stream.latestOffset()
            cluster(tmp_path, {1: replica("0-9/e0 10-19/e0", high_watermark=20)})
        stream.latestOffset()
    assert len([*(tmp_path / "broker-0" / "t-0").glob("*.log")]) > 1
    assert [each for each in caplog.messages if "this query reads" in each] == []


def test_copies_that_look_alike_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster may have a hundred thousand partitions in which nothing happens."""
    stream = running(tmp_path)
    cluster(tmp_path, {1: replica(DEAD, high_watermark=3), 2: replica("0-1/e0", high_watermark=1)})
    opened = []

    def scan_tail(directory: PartitionDirectory) -> LogTail:
        opened.append(directory.log_directory.broker_id)
        return log_tail.scan_tail(directory)

    monkeypatch.setattr(stale_copies, "scan_tail", scan_tail)
    stream.latestOffset()
    assert opened == []  # the first look only remembers
    stream.latestOffset()
    assert 2 in opened
    assert 1 not in opened
