"""When a start sets a directory aside, according to other brokers' copies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata
from kafkalog_reader.audits.recovery.node_releases import NodeReleases
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.audits.recovery.stray import Stray, why_stray
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.evidence import PartitionDirectory

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


THEIRS, OTHER = "AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAw"
ASIDE = "the directory is renamed -stray and the partition starts empty"
OF_3_3 = NodeReleases(finalised=7, supported={1: 7})
TOPICS = ClusterTopics(
    topic_ids={"t": THEIRS, "u": OTHER},
    configs={},
    replicas={("t", 0): (1, 2), ("u", 0): (2, 3)},
)


@pytest.mark.parametrize(
    ("directory_id", "releases", "deletes"),
    [
        pytest.param(None, OF_3_3, True, id="3.3"),
        pytest.param("AAAAAAAAAAEAAAAAAAAABQ", OF_3_3, False, id="upgraded_since"),
        pytest.param(None, NodeReleases(finalised=15, supported={1: 15}), False, id="3.7"),
        pytest.param(None, NodeReleases(), False, id="unknown"),
    ],
)
def test_kraft_before_3_7_deletes_what_later_releases_set_aside(
    directory_id: str | None, releases: NodeReleases, deletes: bool, tmp_path: Path
) -> None:
    """3.3.2 renamed such folders to -delete, and removed them 60 s later."""
    cluster(tmp_path, {1: replica([])})
    (directory,) = discover([str(tmp_path)]).partition_directories(ReadRequest())
    root = replace(directory.log_directory, directory_id=directory_id)  # which came with 3.7
    directory = replace(directory, log_directory=root)
    stray = why_stray(directory, OURS, replace(TOPICS, releases=releases), ())
    assert stray is not None
    deleted = "the directory is renamed -delete, and deleted a minute later"
    assert (deleted in stray.reason) is deletes
    assert ("is renamed -stray" in stray.reason) is not deletes


@pytest.mark.parametrize(
    ("topic_id", "topics", "why", "known"),
    [
        pytest.param(THEIRS, TOPICS, None, None, id="the_clusters"),
        pytest.param(
            OURS, TOPICS, f"topic id {OURS}, and the cluster has {THEIRS}", THEIRS, id="another"
        ),
        pytest.param(
            OURS,
            replace(TOPICS, topic_ids={"u": OTHER}),
            f"topic id {OURS}, and the cluster has no such topic",
            None,
            id="no_such_topic",
        ),
        pytest.param(
            None, TOPICS, "no topic id: partition.metadata is missing", THEIRS, id="no_id"
        ),
        pytest.param(
            OTHER,
            TOPICS,
            "the metadata log assigns the partition to brokers 2, 3, not to 1",
            None,
            id="assigned_to_others",
        ),
        pytest.param(
            THEIRS,
            replace(TOPICS, replicas={("t", 1): (1,)}),
            "the metadata log has no partition 0 of the topic",
            None,
            id="no_such_partition",
        ),
        pytest.param(
            THEIRS, replace(TOPICS, replicas=None), None, None, id="no_assignment_is_known"
        ),
    ],
)
def test_the_metadata_log_says_why_a_directory_is_set_aside(
    tmp_path: Path, topic_id: str | None, topics: ClusterTopics, why: str | None, known: str | None
) -> None:
    cluster(tmp_path, {1: replica([])})
    (directory,) = discover([str(tmp_path)]).partition_directories(ReadRequest())
    stray = why_stray(directory, topic_id, topics, ())
    if why is None:
        assert stray is None
        return
    effect = ASIDE if known else ASIDE.removesuffix(" and the partition starts empty")
    assert stray == Stray(
        reason=f"{why}: {effect}", has_topic_id=topic_id is not None, topic_id=known
    )


def test_the_only_assigned_broker_has_no_other_to_copy_from(tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica([])})
    (directory,) = discover([str(tmp_path)]).partition_directories(ReadRequest())
    alone = replace(TOPICS, replicas={("t", 0): (1,)})
    for topics, is_only in (
        (TOPICS, False),
        (alone, True),
        (replace(TOPICS, replicas=None), False),
    ):
        stray = why_stray(directory, OURS, topics, ())
        assert stray is not None
        assert stray.is_only_replica is is_only


def copies_of(root: Path, *topic_ids: str) -> list[PartitionDirectory]:
    """A copy of t-0 of brokers 1, 2, ..., with these topic ids."""
    held = {number: replica([], topic_id=each) for number, each in enumerate(topic_ids, 1)}
    cluster(root, held)
    return sorted(
        discover([str(root)]).partition_directories(ReadRequest()),
        key=lambda each: each.log_directory.broker_id or 0,
    )


def test_other_brokers_that_disagree_decide_nothing(tmp_path: Path) -> None:
    first, *others = copies_of(tmp_path, OURS, THEIRS, OTHER)
    assert why_stray(first, OURS, None, others) is None


def test_a_broker_that_uses_zookeeper_keeps_every_directory(tmp_path: Path) -> None:
    first, *others = copies_of(tmp_path, OURS, THEIRS, THEIRS)
    assert why_stray(first, OURS, None, others) is not None
    root = replace(first.log_directory, directory_id=None)
    assert why_stray(replace(first, log_directory=root), OURS, None, others) is None


def test_without_its_id_a_broker_is_not_held_against_an_assignment(tmp_path: Path) -> None:
    (directory,) = copies_of(tmp_path, OTHER)
    assert why_stray(directory, OTHER, TOPICS, ()) is not None
    root = replace(directory.log_directory, broker_id=None)
    assert why_stray(replace(directory, log_directory=root), OTHER, TOPICS, ()) is None


def test_one_assigned_broker_is_named_in_the_singular(tmp_path: Path) -> None:
    (directory,) = copies_of(tmp_path, OTHER)
    stray = why_stray(directory, OTHER, replace(TOPICS, replicas={("u", 0): (2,)}), ())
    assert stray is not None
    assert "assigns the partition to broker 2, not to 1" in stray.reason
