"""``kafkalog timeline`` tells what the scenarios did: who led when, who was in sync."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.metadata_log import (
    METADATA_TOPIC_ID,
    PartitionState,
    metadata_records,
    topic_removal,
)
from kafkalog_reader.cli.timeline_list import events_of
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.format.record import Record
from tests.tables.metadata_logs import write_metadata

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def events(run: Run, path: Path, *options: str) -> list[dict[str, Any]]:
    answer = run("timeline", path, "--topic", "t", *options, "--format", "json")
    assert answer.status == 0
    return [json.loads(line) for line in answer.out.splitlines()]


def offsets(event: dict[str, Any]) -> dict[int, tuple[int, int]]:
    return {
        each["brokerId"]: (each["startOffset"], each["nextOffset"])
        for each in event["offsetsByBroker"]
    }


def test_an_unclean_election_and_both_sides_of_its_fork(run: Run) -> None:
    """S5.2: broker 1 fell behind, broker 0 crashed, and 1 was elected without its last record."""
    found = events(run, captures.path("s5_2/c-written"))
    assert [(each["leader"], each["isr"], each["what"]) for each in found] == [
        (0, [0, 1], "created: broker 0 leads"),
        (0, [0], "broker 1 left the ISR"),
        (-1, [], "no leader; broker 0 left the ISR"),
        (1, [1], "broker 1 was elected UNCLEANLY: it was not in the ISR"),
    ]
    assert [offsets(each) for each in found] == [{0: (0, 3), 1: (0, 2)}, {}, {}, {1: (2, 3)}]
    times = [each["timestamp"] for each in found]
    assert times == sorted(times)


def test_a_clean_election_and_a_return(run: Run) -> None:
    """S3.2: the leader was cut off; 1 was elected from the ISR, and 0 came back."""
    found = events(run, captures.path("s3_2/healed"))
    assert [each["what"] for each in found] == [
        "created: broker 0 leads",
        "broker 1 was elected; broker 0 left the ISR",
        "broker 0 joined the ISR",
    ]
    assert [each["leaderEpoch"] for each in found] == [0, 1, 1]


def test_the_text_shows_offsets_by_broker_where_copies_differ(run: Run) -> None:
    out = run("timeline", captures.path("s3_2/both-led"), "--topic", "t").out
    assert out.startswith("t-0, topic id TGxWM6OWTXe2I-Pmq2q5rQ, replicas 0,1,2\n\nTIME (UTC)")
    assert "0–4 on broker 0; 0–1 on brokers 1,2" in out
    assert "In the files: broker 0: log end 5, high watermark at least 2; broker 1: log end" in out


def test_a_fork_names_both_sides(run: Run) -> None:
    """S5.2: broker 0 holds the record at offset 2 that broker 1 lacked when it was elected."""
    lines = run("timeline", captures.path("s5_2/c-written"), "--topic", "t").out.splitlines()
    (line,) = [each for each in lines if "A FORK" in each]
    assert "  2 on broker 1  " in line
    assert line.endswith("; A FORK at offset 2: broker 0 holds other records from there")


def test_copies_that_only_lag_are_no_fork(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path, {1: replica("0-2/e0 3-4/e2"), 2: replica("0-2/e0"), 3: replica("0-1/e0")})
    out = run("timeline", tmp_path).out
    assert "0–2 on brokers 1,2; 0–1 on broker 3" in out
    assert "3–4 on broker 1" in out
    assert "FORK" not in out


def test_a_high_watermark_above_the_log_end_is_explained(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path, {1: replica("0-2/e0", high_watermark=9)})
    out = " ".join(run("timeline", tmp_path).out.split())
    assert out.endswith("log end 3, high watermark 9, ABOVE THE LOG END: records are missing")


def test_leaders_of_the_metadata_quorum_are_from_its_control_records(
    tmp_path: Path, run: Run
) -> None:
    """LeaderChangeMessage of version 0: leader 7, and neither voters nor tagged fields."""
    change = Record(
        offset_delta=0, key=struct.pack(">hh", 0, 2), value=struct.pack(">hi", 0, 7) + b"\1\1\0"
    )
    log = [
        data_batch(0, [Record(offset_delta=0, value=b"")], leader_epoch=1),
        data_batch(1, [change], leader_epoch=3, flags=CONTROL_BIT, base_timestamp=5000),
    ]
    metadata = replica(log, topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID)
    cluster(tmp_path, {1: [metadata]})
    answer = run("timeline", tmp_path, "--format", "json")
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert [
        (each["leaderEpoch"], each["leader"], each["offset"], each["timestamp"]) for each in found
    ] == [(1, None, None, None), (3, 7, 1, "1970-01-01T00:00:05.000Z")]
    assert found[1]["what"] == "node 7 was elected by the metadata quorum"


def test_a_deleted_topic_has_no_epoch(tmp_path: Path, run: Run) -> None:
    created = PartitionState(replicas=(1,), in_sync=(1,), leader=1, leader_epoch=4)
    write_metadata(tmp_path, [*metadata_records([created]), topic_removal()])
    lines = run("timeline", tmp_path, "--topic", "t").out.splitlines()
    (line,) = [each for each in lines if "the topic was deleted" in each]
    assert line.split(maxsplit=1)[1] == "the topic was deleted"


def test_without_a_metadata_log_epochs_and_offsets_remain(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path / "b", {1: replica("0-2/e0 3-4/e2"), 2: replica("0-2/e0")})
    found = events(run, tmp_path / "b")
    assert [(each["leaderEpoch"], each["timestamp"], each["leader"]) for each in found] == [
        (0, None, None), (2, None, None),
    ]  # fmt: skip
    assert [offsets(each) for each in found] == [{1: (0, 3), 2: (0, 3)}, {1: (3, 5)}]
    out = run("timeline", tmp_path / "b").out
    assert "when, and which broker led, is not in these files" in out
    assert "LEADER" not in out


def test_an_unknown_topic_is_an_error(run: Run) -> None:
    answer = run("timeline", captures.path("s3_2/healed"), "--topic", "nothing")
    assert answer.status == 2
    assert "no topic 'nothing' in the given paths, nor in a metadata log" in answer.err
    answer = run("timeline", captures.path("s3_2/healed"), "--topic", "tt")
    assert "Did you mean 't'?" in answer.err
    answer = run("timeline", captures.path("s3_2/healed"), "--topic", "t", "--partition", "9")
    assert "no partition 9 of topic t in the given paths, nor in a metadata log" in answer.err


def state(topic_id: str, offset: int, **changed: Any) -> dict[str, Any]:
    return {
        "clusterId": "c", "topic": "t", "partition": 0, "topicId": topic_id, "offset": offset,
        "timestamp": offset, "change": "changed", "snapshotEndOffset": None, "leader": 1,
        "leaderEpoch": 0, "isRecovering": False, "replicas": [1, 2], "isr": [1, 2],
        "addingReplicas": [], "removingReplicas": [],
        "eligibleLeaderReplicas": [], **changed,
    }  # fmt: skip


def test_a_topic_that_was_created_again_has_two_histories() -> None:
    """The copies' leader epochs belong to the newer one."""
    states = [
        state("old", 1, change="created"),
        state("old", 2, change="removed"),
        state("new", 3, change="created", leader=2),
    ]
    epoch = {
        "clusterId": "c", "topic": "t", "partition": 0, "brokerId": 1, "source": "batches",
        "leaderEpoch": 0, "startOffset": 0, "nextOffset": 9,
    }  # fmt: skip
    found = events_of(states, [epoch])
    assert {key[3]: [each["what"] for each in rows] for key, rows in found.items()} == {
        "old": ["created: broker 1 leads", "the topic was deleted"],
        "new": ["created: broker 2 leads"],
    }
    assert [each.get("offsetsByBroker") for each in found["c", "t", 0, "new"]] == [{1: (0, 9)}]
    assert all("offsetsByBroker" not in each for each in found["c", "t", 0, "old"])


def test_a_copy_of_the_topic_before_is_in_the_history_of_that_topic(
    run: Run, tmp_path: Path
) -> None:
    """Broker 2 was down while the topic was deleted and created again."""
    old, new = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
    before, after = (
        PartitionState(replicas=(1, 2), in_sync=(1, 2), leader=1, leader_epoch=0, topic_id=each)
        for each in (old, new)
    )
    cluster(
        tmp_path,
        {1: replica("0-1/e0", topic_id=new), 2: replica("0-8/e0", topic_id=old)},
    )
    write_metadata(
        tmp_path, [*metadata_records([before]), topic_removal(old), *metadata_records([after])]
    )
    found = events(run, tmp_path)
    held = {each["topicId"]: offsets(each) for each in found if each["offsetsByBroker"]}
    assert held == {old: {2: (0, 9)}, new: {1: (0, 2)}}
    of_old, _, of_new = run("timeline", tmp_path, "--topic", "t").out.partition(new)
    assert "broker 2: log end 9" in of_old
    assert "broker 1" in of_new
    assert "broker 2: log end" not in of_new


def test_other_changes_are_named() -> None:
    states = [
        state("id", 1, snapshotEndOffset=1),
        state("id", 2, leaderEpoch=1),
        state("id", 3, leaderEpoch=1, replicas=[1, 3], isr=[1, 3], isRecovering=True),
        state("id", 4, leaderEpoch=1, replicas=[1, 3], isr=[1, 3]),
        state(
            "id", 5, leaderEpoch=2, leader=3, replicas=[1, 3], isr=[], eligibleLeaderReplicas=[3]
        ),
    ]
    ((_, rows),) = events_of(states, []).items()
    assert [each["what"] for each in rows] == [
        "by the oldest snapshot, broker 1 leads",
        "a new leader epoch of the same leader",
        "broker 2 left the ISR; broker 3 joined the ISR; replicas are now 1,3",
        "the leader has recovered from its unclean election",
        "broker 3 was elected; brokers 1,3 left the ISR",
    ]


def test_copies_from_before_leader_epochs_are_in_the_inputs(run: Run) -> None:
    """Kafka 0.10.2.2 wrote them: no leader epoch, and no metadata log."""
    answer = run("timeline", captures.path("s5_2_0.10.2.2") / "d-diverged", "--topic", "t")
    assert answer.status == 0
    assert answer.out.splitlines() == [
        "t-0",
        "",
        "No leader epochs: the batches are from before Kafka 0.11.",
        "",
        "In the files: broker 0: log end 3, high watermark 3; broker 1: log end 3, high watermark "
        "3",
    ]
