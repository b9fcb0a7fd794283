"""Finds the owner of a log directory without node id from the metadata log's registrations."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.election.membership import PartitionMembership
from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
from kafkalog_reader.audits.partition import node_identity
from kafkalog_reader.audits.partition.node_identity import (
    lines_of_meta_properties,
    with_registered_nodes,
)
from kafkalog_reader.io.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

DISKS = ("AAAAAAAAAAEAAAAAAAAAEQ", "AAAAAAAAAAEAAAAAAAAAEg")
REPLICAS = {"t-0": (0, 1), "t-1": (0,), "u-0": (1,)}


def membership(replicas: tuple[int, ...]) -> PartitionMembership:
    return PartitionMembership(
        leader=replicas[0], leader_epoch=0, partition_epoch=0, replicas=replicas, isr=replicas,
        elr=(), last_known_elr=(), topic_id=None, source="", source_offset=0,
    )  # fmt: skip


METADATA = ClusterMetadata(
    source="", leader_epoch=0, last_offset=0, topic_ids={}, configs={}, features={},
    partitions={
        (name[:1], int(name[2:])): membership(replicas) for name, replicas in REPLICAS.items()
    },
    brokers={0: DISKS, 1: ("AAAAAAAAAAEAAAAAAAAAEw",)},
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_metadata_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_identity, "cluster_metadata", lambda _: {"c": METADATA})


def disk(root: Path, *partitions: str, meta: str = "") -> Path:
    root.mkdir(parents=True)
    for partition in partitions:
        (root / partition).mkdir()
    (root / "replication-offset-checkpoint").write_text("0\n0\n")
    if meta:
        (root / "meta.properties").write_text(f"version=1\ncluster.id=c\n{meta}")
    return root


def owners(*roots: Path) -> list[int | None]:
    return [root.broker_id for root in with_registered_nodes(discover(list(map(str, roots)))).roots]


def test_a_second_disk_is_of_the_broker_that_registered_two(tmp_path: Path) -> None:
    first = disk(tmp_path / "a", "t-0", meta=f"node.id=0\ndirectory.id={DISKS[0]}\n")
    second = disk(tmp_path / "b", "t-1")
    other = disk(tmp_path / "c", "u-0", meta="node.id=1\ndirectory.id=AAAAAAAAAAEAAAAAAAAAEw\n")
    evidence = with_registered_nodes(discover(list(map(str, (first, second, other)))))
    assert [root.broker_id for root in evidence.roots] == [0, 0, 1]
    assert evidence.roots[1].siblings == (str(first),)
    lines = lines_of_meta_properties(evidence.roots[1], evidence.roots, METADATA)
    assert lines == ("version=1", "cluster.id=c", "node.id=0", f"directory.id={DISKS[1]}")


def test_a_partition_is_not_on_two_disks(tmp_path: Path) -> None:
    """Broker 0 has t-0 on its other disk, so that this copy is broker 1's."""
    first = disk(tmp_path / "a", "t-0", meta=f"node.id=0\ndirectory.id={DISKS[0]}\n")
    assert owners(first, disk(tmp_path / "b", "t-0")) == [0, 1]


def test_a_partition_of_one_broker_is_its_sign(tmp_path: Path) -> None:
    given = disk(tmp_path / "a", meta=f"node.id=0\ndirectory.id={DISKS[0]}\n")
    assert owners(given, disk(tmp_path / "b", "t-1"), disk(tmp_path / "c", "t-0", "u-0")) == [
        0, 0, 1,
    ]  # fmt: skip


def test_nothing_is_guessed_between_two(tmp_path: Path) -> None:
    given = disk(tmp_path / "a", meta=f"node.id=0\ndirectory.id={DISKS[0]}\n")
    assert owners(given, disk(tmp_path / "b", "t-0")) == [0, None]
    assert owners(disk(tmp_path / "d", "t-0"), disk(tmp_path / "e", "t-0")) == [None, None]


def test_a_directory_id_that_nobody_registered_proves_nothing(tmp_path: Path) -> None:
    """A copy of the healthy cluster, whose brokers this metadata log does not know."""
    shutil.copytree(captures.path("s3_2/healed"), tmp_path / "state")
    properties = tmp_path / "state" / "broker-1" / "meta.properties"
    properties.write_text(properties.read_text().replace("node.id=1", "node.id=0"))
    found = with_registered_nodes(discover([str(tmp_path / "state")]))
    assert sorted(str(root.broker_id) for root in found.roots) == ["0", "0", "100", "2"]
