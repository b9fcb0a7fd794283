"""KL-806: commits of partitions that the metadata log does not have, and of a deleted topic."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from fixtures.builder.replica import TOPIC_ID
from fixtures.synthetic.consumer_groups import OFFSETS_TOPIC
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.uuid import uuid_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch, Replica

OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAg"
OFFSETS_ID = "AAAAAAAAAAAAAAAAAAAAAw"
LOG = replica("0-9/e0", high_watermark=10)


def commit(offset: int, group: str, partition: int = 0, topic_id: str | None = None) -> Batch:
    """Of topic t at offset 5: OffsetCommitValue version 3, or 4 with a topic id (Kafka 4.4)."""
    key = struct.pack(">hh", 1, len(group)) + group.encode() + struct.pack(">h1si", 1, b"t", 0)
    key = key[:-4] + struct.pack(">i", partition)
    value = struct.pack(">hqihq", 3, 5, 0, 0, EPOCH_MILLIS)
    if topic_id is not None:
        value = struct.pack(">hqibq", 4, 5, 0, 1, EPOCH_MILLIS)
        value += bytes([1, 0, 16]) + uuid_bytes(topic_id)
    return data_batch(offset, [Record(offset_delta=0, key=key, value=value)])


def findings(root: Path, *logs: Replica, batches: list[Batch]) -> list[dict[str, Any]]:
    offsets = replica(batches, topic=OFFSETS_TOPIC, topic_id=OFFSETS_ID, high_watermark=9)
    cluster(root, {0: [*logs, offsets]}, clean=[0])
    rows = kafkalog_reader.open(str(root)).table("findings").to_arrow().to_pylist()
    return [row for row in rows if row["code"].startswith("KL-80")]


def metadata(*partitions: int) -> Replica:
    led: dict[str, Any] = {"replicas": (0,), "in_sync": (0,), "leader": 0, "leader_epoch": 0}
    of_topic = [PartitionState(partition=number, **led) for number in partitions]
    offsets = PartitionState(topic=OFFSETS_TOPIC, topic_id=OFFSETS_ID, **led)
    return metadata_log([*of_topic, offsets])


def test_a_partition_that_the_cluster_does_not_have(tmp_path: Path) -> None:
    batches = [commit(0, "g"), commit(1, "g", partition=7), commit(2, "h", partition=8)]
    (row,) = findings(tmp_path, LOG, metadata(0), batches=batches)
    assert (row["code"], row["topic"], row["partition"]) == ("KL-806", OFFSETS_TOPIC, 0)
    evidence = {each["name"]: each["value"] for each in row["evidence"]}
    assert evidence == {"commits": "g has offset 5 of t-7; h has offset 5 of t-8", "count": "2"}


def test_a_partition_on_a_broker_that_was_not_supplied_is_known(tmp_path: Path) -> None:
    assert findings(tmp_path, LOG, metadata(0, 7), batches=[commit(0, "g", partition=7)]) == []


def test_without_the_metadata_log_nothing_is_known(tmp_path: Path) -> None:
    assert findings(tmp_path, LOG, batches=[commit(0, "g", partition=7)]) == []


def test_a_removed_commit_is_none(tmp_path: Path) -> None:
    stored = commit(0, "g", partition=7)
    (record,) = stored.records
    removal = data_batch(1, [Record(offset_delta=0, key=record.key, value=None)])
    assert findings(tmp_path, LOG, metadata(0), batches=[stored, removal]) == []


def test_a_topic_that_was_deleted_and_created_again(tmp_path: Path) -> None:
    batches = [commit(0, "g", topic_id=OTHER_ID), commit(1, "h", topic_id=TOPIC_ID), commit(2, "i")]
    (row,) = findings(tmp_path, LOG, metadata(0), batches=batches)
    assert (row["code"], row["topic"], row["partition"]) == ("KL-806", "t", 0)
    evidence = {each["name"]: each["value"] for each in row["evidence"]}
    assert evidence["commits"] == "g@5"
    assert (evidence["topicId"], evidence["committedTopicIds"]) == (TOPIC_ID, OTHER_ID)


@pytest.mark.parametrize("state", ["everything/stopped", "everything/killed", "everything/running"])
def test_offsets_of_a_broker_are_of_its_partitions(state: str) -> None:
    rows = kafkalog_reader.open(str(captures.path(state))).table("findings").to_arrow().to_pylist()
    assert [row["message"] for row in rows if row["code"] == "KL-806"] == []
