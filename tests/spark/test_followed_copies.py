"""The copies that a stream reads, trigger after trigger."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from spark_datasource.source import KafkaLogDataSource
from tests.spark.test_stream import logs, read, reader, two_brokers
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    import pytest


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
