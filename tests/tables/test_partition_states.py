"""States of partitions over time, from the metadata log."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder.metadata_log import (
    PartitionState,
    elr_clearing,
    metadata_records,
    partition_change,
    topic_removal,
    transaction_begin,
    transaction_end,
)
from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata
from kafkalog_reader.errors import OptionError
from kafkalog_reader.io.discovery import discover
from tests.tables.metadata_logs import rows_of, write_metadata

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = "__cluster_metadata"
STATES = [each for each in captures.states() if list(captures.path(each).glob(f"*/{TOPIC}-0"))]
CREATED = list(
    metadata_records([PartitionState(replicas=(0, 1), in_sync=(0, 1), leader=0, leader_epoch=0)])
)
FOOTER = 75
"""Bytes of the control batch that ends a snapshot."""


def states_of(path: Path, *columns: str, **options: Any) -> list[tuple[Any, ...]]:
    rows = rows_of(path, "partition_states", columns=columns, **options)
    return [tuple(row[name] for name in columns) for row in rows]


def test_an_unclean_election_is_reported_step_by_step() -> None:
    """Capture s5_2: broker 1 crashes, then broker 0; broker 1 comes back and is elected."""
    path = captures.path("s5_2/c-written")
    assert states_of(path, "change", "leader", "leaderEpoch", "isr", "isRecovering", topic="t") == [
        ("created", 0, 0, [0, 1], False),
        ("changed", 0, 0, [0], False),
        ("changed", -1, 1, [], False),
        ("changed", 1, 2, [1], True),
    ]


def test_the_newest_state_is_what_the_brokers_said() -> None:
    path = captures.path("s3_2")
    expected = json.loads((path / "expected.json").read_text())
    for name, capture in expected["captures"].items():
        newest = states_of(path / name, "leader", "isr", "endOffset", topic="t")[-1]
        assert newest[0] == capture["leader"]
        assert newest[2] is None


@pytest.mark.parametrize("state", STATES)
def test_the_newest_states_are_those_that_audits_replay(state: str) -> None:
    path = captures.path(state)
    found = {
        (cluster_id, topic, number): rest
        for cluster_id, topic, number, end, change, *rest in states_of(
            path, "clusterId", "topic", "partition", "endOffset", "change",
            "leader", "leaderEpoch", "partitionEpoch", "replicas", "isr", "topicId",
            "eligibleLeaderReplicas", "lastKnownElr",
        )
        if end is None and change != "removed"
    }  # fmt: skip
    replayed = {
        (cluster_id, topic, number): [
            each.leader, each.leader_epoch, each.partition_epoch, list(each.replicas),
            list(each.isr), each.topic_id, list(each.elr), list(each.last_known_elr),
        ]
        for cluster_id, metadata in read_cluster_metadata(discover([str(path)])).items()
        for (topic, number), each in metadata.partitions.items()
    }  # fmt: skip
    assert found == replayed
    assert found


def test_each_state_ends_where_the_next_begins(tmp_path: Path) -> None:
    changes = [partition_change(in_sync=(0,)), partition_change(leader=1, in_sync=(1,))]
    write_metadata(tmp_path, [*CREATED, *changes])
    rows = rows_of(tmp_path, "partition_states")
    assert [(row["offset"], row["endOffset"]) for row in rows] == [(1, 2), (2, 3), (3, None)]
    assert [row["endTime"] for row in rows] == [*(row["timestamp"] for row in rows[1:]), None]


def test_setting_the_same_leader_again_raises_the_leader_epoch(tmp_path: Path) -> None:
    write_metadata(tmp_path, [*CREATED, partition_change(leader=0), partition_change(in_sync=(0,))])
    assert states_of(tmp_path, "leaderEpoch", "partitionEpoch") == [(0, 0), (1, 1), (1, 2)]


def test_a_topic_that_is_deleted_and_created_again_has_another_id(tmp_path: Path) -> None:
    again = PartitionState(
        replicas=(2,), in_sync=(2,), leader=2, leader_epoch=0, topic_id="B" * 21 + "A"
    )
    write_metadata(tmp_path, [*CREATED, topic_removal(), *metadata_records([again])])
    rows = rows_of(tmp_path, "partition_states")
    assert [(row["topic"], row["change"], row["leader"], row["endOffset"]) for row in rows] == [
        ("t", "created", 0, 2),
        ("t", "removed", None, None),
        ("t", "created", 2, None),
    ]
    assert rows[0]["topicId"] == rows[1]["topicId"] != rows[2]["topicId"]


def test_eligible_leader_replicas_are_cleared_where_there_are_any(tmp_path: Path) -> None:
    shrunk = partition_change(in_sync=(), leader=-1, eligible=(0,))
    write_metadata(tmp_path, [*CREATED, elr_clearing(), shrunk, elr_clearing("t")])
    assert states_of(tmp_path, "offset", "change", "eligibleLeaderReplicas") == [
        (1, "created", []),
        (3, "changed", [0]),
        (4, "elrCleared", []),
    ]


def test_records_of_a_transaction_count_once_it_has_ended(tmp_path: Path) -> None:
    change = partition_change(in_sync=(0,))
    write_metadata(tmp_path / "open", [*CREATED, transaction_begin(), change])
    write_metadata(
        tmp_path / "aborted",
        [*CREATED, transaction_begin(), change, transaction_end(is_aborted=True)],
    )
    write_metadata(tmp_path / "ended", [*CREATED, transaction_begin(), change, transaction_end()])
    for name, isr in (("open", [0, 1]), ("aborted", [0, 1]), ("ended", [0])):
        assert states_of(tmp_path / name, "isr")[-1] == (isr,)


def test_a_change_of_an_unknown_partition_is_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_metadata(tmp_path, [partition_change(7, leader=1)], first_offset=100)
    assert states_of(tmp_path, "topic", "partition", "leader", "leaderEpoch", "isr") == [
        (None, 7, 1, None, None)
    ]
    assert "begins at offset 100" in caplog.text


def test_the_state_before_the_log_comes_from_a_snapshot(tmp_path: Path) -> None:
    """The bootstrap.checkpoint of a broker is a real snapshot, without partitions."""
    directory = write_metadata(tmp_path, CREATED, first_offset=5000)
    source = captures.path("s1/healed") / "broker-0" / "bootstrap.checkpoint"
    shutil.copy(source, directory / f"{5000:020d}-{3:010d}.checkpoint")
    assert states_of(tmp_path, "snapshotEndOffset", "offset", "leader") == [(None, 5001, 0)]
    with pytest.raises(OptionError, match="a snapshot of the offsets below 5,000"):
        states_of(tmp_path, "offset", as_of="offset:4000")


def test_a_snapshot_without_its_end_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The records that it still has are no whole state; those of the log are all shown."""
    directory = write_metadata(tmp_path, CREATED, first_offset=5000)
    whole = (captures.path("s1/healed") / "broker-0" / "bootstrap.checkpoint").read_bytes()
    snapshot = directory / f"{5000:020d}-{3:010d}.checkpoint"
    for size in (len(whole) - FOOTER, len(whole) - 1, len(whole) // 2, 1, 0):
        snapshot.write_bytes(whole[:size])
        caplog.clear()
        assert states_of(tmp_path, "snapshotEndOffset", "offset", "leader", mode="PERMISSIVE") == [
            (None, 5001, 0)
        ]
        assert "without its footer, not used" in caplog.text
        assert "no complete snapshot has the state before it" in caplog.text


def test_as_of_ends_the_log_there(tmp_path: Path) -> None:
    changes = [partition_change(in_sync=(0,)), partition_change(leader=1, in_sync=(1,))]
    write_metadata(tmp_path, [*CREATED, *changes])
    times = [row["timestamp"] for row in rows_of(tmp_path, "partition_states")]
    for as_of in ("offset:2", times[1], times[1].isoformat()):
        found = states_of(tmp_path, "leader", "isr", "endOffset", as_of=as_of)
        assert found == [(0, [0, 1], 2), (0, [0], None)]


def test_topics_and_partitions_select_states(tmp_path: Path) -> None:
    write_metadata(tmp_path, CREATED)
    assert states_of(tmp_path, "topic", topic="other") == []
    assert states_of(tmp_path, "topic", topic="t", partition=0) == [("t",)]
