"""Replicas summed up by topic and by broker."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.cli.replica_groups import group_lines, groups_of

KEPT = ("replicas", "partitions", "brokers", "segments", "sizeInBytes", "filesSizeInBytes")


def replica(topic: str, partition: int, broker: int | None, **changes: Any) -> dict[str, Any]:
    return {
        "clusterId": "c", "brokerId": broker, "brokerLabel": None, "topic": topic,
        "partition": partition, "segments": 2, "sizeInBytes": 100, "filesSizeInBytes": 1000,
    } | changes  # fmt: skip


ROWS = [
    replica("a", 0, 1), replica("a", 0, 2), replica("a", 1, 1), replica("b", 0, 2, sizeInBytes=900),
]  # fmt: skip


def test_topics_are_summed_up() -> None:
    groups = groups_of(ROWS, "topic", "name")
    assert [group["topic"] for group in groups] == ["a", "b"]
    assert [tuple(group[name] for name in KEPT) for group in groups] == [
        (3, 2, 2, 6, 300, 3000),
        (1, 1, 1, 2, 900, 1000),
    ]


def test_brokers_are_summed_up() -> None:
    groups = groups_of(ROWS, "broker", "name")
    assert [group["brokerId"] for group in groups] == [1, 2]
    assert [tuple(group[name] for name in KEPT) for group in groups] == [
        (2, 2, 1, 4, 200, 2000),
        (2, 2, 1, 4, 1000, 2000),
    ]


@pytest.mark.parametrize(("sort", "topics"), [("size", "ba"), ("files", "ab"), ("segments", "ab")])
def test_greatest_group_is_first(sort: str, topics: str) -> None:
    assert "".join(group["topic"] for group in groups_of(ROWS, "topic", sort)) == topics


def test_totals_leave_out_what_could_not_be_read() -> None:
    (group,) = groups_of([*ROWS[:1], replica("a", 1, 1, sizeInBytes=None)], "topic", "name")
    assert (group["sizeInBytes"], group["segments"]) == (100, 4)


def test_groups_of_several_clusters_are_apart() -> None:
    groups = groups_of([ROWS[0], replica("a", 0, 1, clusterId="d")], "topic", "name")
    assert [(group["clusterId"], group["replicas"]) for group in groups] == [("c", 1), ("d", 1)]
    heading, *_ = group_lines(groups, "topic", None)
    assert heading.split()[0] == "CLUSTER"


def test_unknown_broker_is_last_and_labels_are_names() -> None:
    rows = [replica("a", 0, None), replica("a", 0, 7), replica("a", 0, None, brokerLabel="east")]
    groups = groups_of(rows, "broker", "name")
    _, *lines = group_lines(groups, "broker", None)
    assert [line.split()[0] for line in lines] == ["7", "east", "?"]


def test_each_kind_of_group_has_its_counts() -> None:
    heading, line, _ = group_lines(groups_of(ROWS, "topic", "name"), "topic", None)
    assert heading.split() == [
        "TOPIC", "PARTITIONS", "BROKERS", "REPLICAS", "SEGMENTS", "SIZE", "ALL", "FILES",
    ]  # fmt: skip
    assert line.split() == ["a", "2", "2", "3", "6", "300", "B", "2.9", "KiB"]
    heading, line, _ = group_lines(groups_of(ROWS, "broker", "name"), "broker", None)
    assert heading.split()[:3] == ["BROKER", "PARTITIONS", "REPLICAS"]
    assert line.split() == ["1", "2", "2", "4", "200", "B", "2.0", "KiB"]
