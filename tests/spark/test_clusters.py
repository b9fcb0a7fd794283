"""Several clusters in one read: refused unless one is chosen, or each row says which it is of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import KafkaLogError
from spark_datasource.source import KafkaLogDataSource

if TYPE_CHECKING:
    from pathlib import Path

    from spark_datasource.stream import KafkaLogStreamReader

ONE, TWO = "EBESExQVFhcYGRobHB0eHw", "ICEiIyQlJicoKSorLC0uLw"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """t-0 with three records in one cluster and two in another; t-1 and u-0 in one of them."""
    for name, cluster_id, broker, described in (
        ("one", ONE, 1, [replica("0-2/e0", high_watermark=3),
                         replica("0-4/e0", partition=1, high_watermark=5)]),
        ("two", TWO, 2, [replica("0-1/e0", high_watermark=2),
                         replica("0-6/e0", topic="u", high_watermark=7)]),
    ):  # fmt: skip
        cluster(tmp_path / name, {broker: described}, cluster_id=cluster_id)
    return tmp_path


def rows(path: Path, **options: str) -> list[tuple[Any, ...]]:
    """Cluster, topic, partition and offset, as far as there are such columns, sorted."""
    source = KafkaLogDataSource({"path": str(path / "*" / "*"), **options})
    reader = source.reader(source.schema())
    names = [n for n in ("clusterId", "topic", "partition", "offset") if n in source.schema().names]
    found = [
        tuple(row[name] for name in names)
        for task in reader.partitions()
        for batch in reader.read(task)
        for row in batch.to_pylist()
    ]
    return sorted(found)


def stream(path: Path, **options: str) -> KafkaLogStreamReader:
    source = KafkaLogDataSource({"path": str(path / "*" / "*"), **options})
    return source.streamReader(source.schema())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"columns": "topic,partition,offset"},
        {"subscribe": "t"},
        {"replica": "all"},
        {"table": "batches", "columns": "topic,partition,baseOffset"},
        {"table": "partitions", "columns": "topic,partition"},
        {"table": "findings", "columns": "code,message"},
    ],
    ids=str,
)
def test_rows_that_cannot_be_told_apart_are_refused(mixed: Path, options: dict[str, str]) -> None:
    with pytest.raises(
        KafkaLogError, match=f"t-0 is in several clusters .{ONE}, {TWO}., and no col"
    ):
        rows(mixed, **options)


def test_tables_of_records_are_refused_wherever_there_are_several_clusters(mixed: Path) -> None:
    with pytest.raises(
        KafkaLogError, match=f"are of several clusters .{ONE}, {TWO}., and no column"
    ):
        rows(mixed, table="group_offsets", columns="groupId,topic,partition,committedOffset")


def test_rows_that_say_which_cluster_they_are_of_are_read(mixed: Path) -> None:
    found = rows(mixed, columns="clusterId,topic,partition,offset")
    assert found == [
        *((ONE, "t", 0, n) for n in range(3)),
        *((ONE, "t", 1, n) for n in range(5)),
        *((TWO, "t", 0, n) for n in range(2)),
        *((TWO, "u", 0, n) for n in range(7)),
    ]
    assert rows(mixed, columns="all") == found


def test_partitions_of_one_cluster_each_are_read(mixed: Path) -> None:
    assert len(rows(mixed, assign=json.dumps({"t": [1], "u": [0]}))) == 12


@pytest.mark.parametrize(("cluster_id", "count"), [(ONE, 8), (TWO, 9)])
def test_one_cluster_can_be_chosen(mixed: Path, cluster_id: str, count: int) -> None:
    found = rows(mixed, clusterId=cluster_id)
    assert len(found) == len(set(found)) == count
    shown = rows(mixed, table="replicas", clusterId=cluster_id, columns="clusterId,topic,partition")
    assert [row[0] for row in shown] == [cluster_id, cluster_id]


def test_known_plans_are_of_the_chosen_cluster(mixed: Path) -> None:
    assert [len(rows(mixed, clusterId=each)) for each in (ONE, TWO, ONE)] == [8, 9, 8]
    assert len(rows(mixed, columns="clusterId,offset")) == 17
    with pytest.raises(KafkaLogError, match="several clusters"):
        rows(mixed, columns="offset")


def test_a_topic_of_the_other_cluster_is_not_there(mixed: Path) -> None:
    with pytest.raises(KafkaLogError, match="no topic 'u' in the given paths"):
        rows(mixed, clusterId=ONE, subscribe="u")


def test_a_cluster_that_is_not_there_is_named_with_those_that_are(mixed: Path) -> None:
    with pytest.raises(
        KafkaLogError, match=f"option clusterId: no cluster 'x': .* of {ONE}, {TWO}"
    ):
        rows(mixed, clusterId="x")


def test_a_folder_without_a_cluster_id_is_of_a_third_one(mixed: Path) -> None:
    cluster(mixed / "three", {3: [replica("0-8/e0", high_watermark=9)]})
    (mixed / "three" / "broker-3" / "meta.properties").unlink()
    with pytest.raises(KafkaLogError, match=rf"\({ONE}, {TWO}, one without a known id\)"):
        rows(mixed)
    assert len(rows(mixed, clusterId=ONE)) == 8


def test_a_stream_reads_one_cluster(mixed: Path) -> None:
    for columns in ("kafka", "all"):
        with pytest.raises(
            KafkaLogError, match=r"t-0 is in several clusters.* one offset for each"
        ):
            stream(mixed, columns=columns).initialOffset()
    chosen = stream(mixed, clusterId=TWO, startingOffsets="earliest")
    assert chosen.initialOffset() == {"t": {"0": 0}, "u": {"0": 0}}
    assert chosen.latestOffset() == {"t": {"0": 2}, "u": {"0": 7}}
    assert stream(mixed, subscribe="u").initialOffset() == {"u": {"0": 7}}
