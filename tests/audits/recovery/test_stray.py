"""When a start sets a directory aside, according to other brokers' copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata
from kafkalog_reader.audits.recovery.stray import why_stray
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

OURS = "AAAAAAAAAAAAAAAAAAAAAQ"


@pytest.mark.parametrize(
    ("peers", "is_stray"),
    [
        pytest.param(0, False, id="nobody_to_ask"),
        pytest.param(1, False, id="one_against_one_decides_nothing"),
        pytest.param(2, True, id="two_agree_against_it"),
    ],
)
def test_two_other_brokers_must_agree_on_another_topic_id(
    tmp_path: Path, peers: int, is_stray: bool
) -> None:
    cluster(tmp_path, {broker: replica([]) for broker in range(1, peers + 2)})
    first, *others = sorted(
        discover([str(tmp_path)]).partition_directories(ReadRequest()),
        key=lambda each: each.log_directory.broker_id or 0,
    )
    assert len(others) == peers
    assert bool(why_stray(first, OURS, None, others)) == is_stray


@pytest.mark.parametrize(
    ("directory", "is_stray"),
    [
        pytest.param("t-0", False, id="as_assigned"),
        pytest.param("u-0", False, id="renamed_to_an_unknown_topic"),
        pytest.param("t-1", True, id="renamed_to_another_partition"),
        pytest.param("u-1", True, id="renamed_to_both"),
    ],
)
def test_a_replica_is_looked_up_by_topic_id_and_partition(
    tmp_path: Path, directory: str, is_stray: bool
) -> None:
    """BrokerMetadataPublisher asks for ``partitionReplicas(topicId, partition)``; seen on 4.4.0."""
    topic, _, number = directory.partition("-")
    copy = replica("0-3/e0", topic=topic, partition=int(number), topic_id=OURS)
    state = PartitionState(replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0, topic_id=OURS)
    cluster(tmp_path, {0: [copy, metadata_log([state])]})
    rows = kafkalog_reader.open(str(tmp_path)).table("recoveries").to_arrow().to_pylist()
    (outcome,) = (row["outcome"] for row in rows if row["topic"] == topic)
    assert (outcome == "stray") == is_stray
    (metadata,) = read_cluster_metadata(discover([str(tmp_path)])).values()
    assert metadata.topic_ids == {"t": OURS}
