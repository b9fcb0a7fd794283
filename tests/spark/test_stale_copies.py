"""A stream that stays with a copy that no longer grows says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from spark_datasource import stale_copies
from tests.spark.test_stream import reader

if TYPE_CHECKING:
    from pathlib import Path

    from spark_datasource.stream import KafkaLogStreamReader

DEAD = "0-2/e0"


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale_copies, "SECONDS", 0.0)


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Followers may lag as long as that without leaving the ISR."""
    monkeypatch.setattr(stale_copies, "SECONDS", 30.0)
    now = [1000.0]
    monkeypatch.setattr(stale_copies.time, "monotonic", lambda: now[0])
    stream = running(tmp_path)
    cluster(tmp_path, {1: replica("0-2/e0 3-6/e0", high_watermark=7)})
    warned = []
    for second in (0, 1, 29, 30, 31, 60):
        now[0] = 1000.0 + second
        stream.latestOffset()
        warned.append(len(caplog.messages))
    assert warned == [0, 0, 0, 1, 1, 1]
