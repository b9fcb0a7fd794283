"""What a stream can no longer read: data loss, or the checkpoint of another query."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import KafkaLogError
from tests.spark.test_stream import logs, read, reader

if TYPE_CHECKING:
    from pathlib import Path


def test_a_topic_that_goes_while_a_query_runs_is_lost_data(tmp_path: Path) -> None:
    path = logs(tmp_path / "d", 2)
    stream = reader(path, subscribe="t", startingOffsets="earliest")
    begin = stream.initialOffset()
    cluster(tmp_path / "else", {1: replica("v@0/e0", topic="other", high_watermark=1)})
    shutil.rmtree(path)
    shutil.copytree(tmp_path / "else", path)
    with pytest.raises(KafkaLogError, match="t-0: no copy is left"):
        stream.latestOffset(begin)


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
