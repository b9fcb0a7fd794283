"""The metadata log read here equals the output of Kafka's own decoder for the same bytes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder.log_directory import LogDirectory
from fixtures.builder.metadata_log import PartitionState, metadata_log
from fixtures.dump import dump_log_segments
from kafkalog_reader.audits.election import metadata_log as replaying
from kafkalog_reader.audits.election.metadata_log import ClusterMetadata, read_cluster_metadata
from kafkalog_reader.audits.election.metadata_replay import MetadataReplay
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.metadata_history import MetadataRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.io.directories import PartitionDirectory


STATES = (
    "s3_2/healed",
    "s5_1/d-resynchronised",
    "s5_2/c-written",
    "s5_2/d-resynchronised",
    "s1/shrunk",
)


def _metadata(path: Path) -> ClusterMetadata:
    (metadata,) = read_cluster_metadata(discover([str(path)])).values()
    return metadata


def _said_by_kafka(captures: Path, names: Sequence[str]) -> dict[tuple[str, int], dict[str, Any]]:
    """Leader, leader epoch and ISR per capture and partition, from a replay of the tool's JSON."""
    text = dump_log_segments(captures, names, (".log",), ["--cluster-metadata-decoder"])
    found: dict[tuple[str, int], dict[str, Any]] = {}
    where = ""
    names_of: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("Dumping "):
            where = line.removeprefix("Dumping ").split("/")[0]
        match = re.search(r"payload: (\{.*\})$", line)
        if match is None:
            continue
        record = json.loads(match[1])
        data = record["data"]
        if record["type"] == "TOPIC_RECORD":
            names_of[data["topicId"]] = data["name"]
        elif record["type"] in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD"):
            key = f"{where}/{names_of[data['topicId']]}", data["partitionId"]
            state = found.setdefault(key, {"partitionEpoch": -1})
            if record["type"] == "PARTITION_CHANGE_RECORD":
                state["partitionEpoch"] += 1
                state["leaderEpoch"] += "leader" in data
            state.update(data)
    return found


def test_partitions_are_as_kafkas_decoder_and_a_replay_of_its_json_say(tmp_path: Path) -> None:
    directories = {}
    for state in STATES:
        name = state.replace("/", "-")
        directories[name] = Path(_metadata(captures.path(state)).source)
        shutil.copytree(directories[name], tmp_path / name / "0" / "__cluster_metadata-0")
        shutil.copy(directories[name].parent / "meta.properties", tmp_path / name / "0")
    expected = _said_by_kafka(tmp_path, list(directories))
    assert {name.split("/")[0] for name, _ in expected} == set(directories)
    for name in directories:
        found = _metadata(tmp_path / name).partitions
        theirs = {
            (key.split("/")[1], partition): state
            for (key, partition), state in expected.items()
            if key.startswith(f"{name}/")
        }
        assert found.keys() == theirs.keys()
        for key, state in theirs.items():
            assert _shown(found[key]) == {
                field: state[field]
                for field in (
                    "leader",
                    "leaderEpoch",
                    "partitionEpoch",
                    "isr",
                    "replicas",
                    "topicId",
                )
            } | {"elr": state.get("eligibleLeaderReplicas") or []}


def _shown(membership: PartitionMembership) -> dict[str, Any]:
    return {
        "leader": membership.leader,
        "leaderEpoch": membership.leader_epoch,
        "partitionEpoch": membership.partition_epoch,
        "isr": list(membership.isr),
        "replicas": list(membership.replicas),
        "topicId": membership.topic_id,
        "elr": list(membership.elr),
    }


def test_the_isolated_leader_is_not_in_sync() -> None:
    membership = _metadata(captures.path("s3_2/both-led")).partitions["t", 0]
    assert (membership.leader, membership.isr) == (1, (1, 2))
    assert [membership.may_lead_cleanly(broker) for broker in (0, 1, 2)] == [False, True, True]


def test_features_are_those_of_the_release() -> None:
    assert _metadata(captures.path("s1/healed")).features["metadata.version"] == 30  # 4.3-IV0


def test_snapshot_stands_for_the_log_before_it(tmp_path: Path) -> None:
    """The beginning of the log is missing; the broker's bootstrap.checkpoint is a real snapshot."""
    state = captures.path("s1/healed")
    root = tmp_path / "0"
    shutil.copytree(state / "broker-0" / "__cluster_metadata-0", root / "__cluster_metadata-0")
    shutil.copy(state / "broker-0" / "meta.properties", root)
    log = root / "__cluster_metadata-0" / f"{0:020d}.log"
    moved = log.with_name(f"{5000:020d}.log")
    log.rename(moved)
    for index in (root / "__cluster_metadata-0").glob("*index"):
        index.unlink()
    assert read_cluster_metadata(discover([str(tmp_path)])) == {}
    moved.write_bytes(b"")
    snapshot = root / "__cluster_metadata-0" / f"{5000:020d}-{3:010d}.checkpoint"
    shutil.copy(state / "broker-0" / "bootstrap.checkpoint", snapshot)
    metadata = _metadata(tmp_path)
    assert metadata.features["metadata.version"] == 30
    assert metadata.last_offset == 4999
    # Without its footer it is incomplete and allows no conclusion.
    snapshot.write_bytes(snapshot.read_bytes()[:-75])
    assert read_cluster_metadata(discover([str(tmp_path)])) == {}


def test_damaged_copy_is_left_to_a_whole_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for broker in ("broker-0", "broker-1"):
        source = captures.path("s5_1/d-resynchronised") / broker
        shutil.copytree(source, tmp_path / broker)
    whole = _metadata(tmp_path)
    log = tmp_path / "broker-0" / "__cluster_metadata-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[-10] ^= 1  # in the last batch, where its CRC covers it
    log.write_bytes(content)
    found = _metadata(tmp_path)
    assert "broker-1" in found.source
    assert found.partitions.keys() == whole.partitions.keys()
    assert "this copy of the metadata log is not used" in caplog.text


def test_of_equal_copies_one_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster has a copy for each controller, with at least one record per partition."""
    replayed: list[str] = []
    real = replaying.read_metadata_log

    def counting(directory: PartitionDirectory) -> ClusterMetadata | None:
        replayed.append(directory.path)
        return real(directory)

    source = captures.path("s5_1/d-resynchronised/broker-0")
    for broker in ("one", "two", "three"):
        shutil.copytree(source, tmp_path / broker)
    monkeypatch.setattr(replaying, "read_metadata_log", counting)
    whole = _metadata(tmp_path)
    assert replayed == [whole.source]
    # The copy that ends last is damaged before its end: the next one is taken.
    log = tmp_path / "one" / "__cluster_metadata-0" / f"{0:020d}.log"
    for other in ("two", "three"):
        shorter = tmp_path / other / "__cluster_metadata-0" / log.name
        shorter.write_bytes(shorter.read_bytes()[: _last_batch(shorter)])
    content = bytearray(log.read_bytes())
    content[100] ^= 1
    log.write_bytes(content)
    replayed.clear()
    assert "two" in _metadata(tmp_path).source or "three" in _metadata(tmp_path).source
    assert len(replayed) == 4  # two of each look
    assert str(log.parent) in replayed


def test_of_copies_that_end_alike_the_first_is_named_whatever_the_order(tmp_path: Path) -> None:
    """Without records the end of a copy is known only after its snapshot was replayed."""
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        assert _segments_at(root, 5000, snapshot=5000)
    for supplied in (roots, roots[::-1]):
        (found,) = read_cluster_metadata(discover([str(root) for root in supplied])).values()
        assert found.last_offset == 4999
        assert found.source == str(tmp_path / "one" / "0" / "__cluster_metadata-0")


def _last_batch(log: Path) -> int:
    """Position of the last batch, by the lengths in the headers."""
    content, position, last = log.read_bytes(), 0, 0
    while position < len(content):
        last = position
        position += 12 + int.from_bytes(content[position + 8 : position + 12], "big")
    return last


def test_eligible_leader_replicas_may_lead(tmp_path: Path) -> None:
    state = PartitionState(replicas=(0, 1, 2), in_sync=(), leader=-1, leader_epoch=4, eligible=(2,))
    LogDirectory(node_id=0, replicas=(metadata_log([state]),)).write(tmp_path / "0")
    membership = _metadata(tmp_path).partitions["t", 0]
    assert (membership.leader, membership.elr) == (-1, (2,))
    assert [membership.may_lead_cleanly(broker) for broker in (0, 1, 2)] == [False, False, True]


def _segments_at(root: Path, *bases: int, snapshot: int | None = None) -> bool:
    """Whether a log of empty segments after its first is replayed."""
    state = captures.path("s1/healed") / "broker-0"
    log = root / "0" / "__cluster_metadata-0"
    log.mkdir(parents=True)
    shutil.copy(state / "meta.properties", root / "0")
    first, *later = bases
    content = b"" if first else (state / "__cluster_metadata-0" / f"{0:020d}.log").read_bytes()
    (log / f"{first:020d}.log").write_bytes(content)
    for base in later:
        (log / f"{base:020d}.log").write_bytes(b"")
    if snapshot is not None:
        name = f"{snapshot:020d}-{3:010d}.checkpoint"
        shutil.copy(state / "bootstrap.checkpoint", log / name)
    return bool(read_cluster_metadata(discover([str(root)])))


@pytest.mark.parametrize(
    ("bases", "snapshot", "is_replayed"),
    [
        ((0,), None, True),
        ((0, 6000), None, True),
        ((5000,), None, False),
        ((5000, 6000), None, False),
        ((5000,), 5000, True),
        ((5000, 6000), 5000, True),
        ((5000,), 5001, True),
        ((5000,), 4999, False),
        ((4000, 6000), 4999, True),
    ],
)
def test_a_replay_begins_with_the_log_or_with_a_snapshot_that_leads_to_it(
    bases: tuple[int, ...], snapshot: int | None, is_replayed: bool, tmp_path: Path
) -> None:
    """Between the end of a snapshot and the first segment no record may be missing."""
    assert _segments_at(tmp_path, *bases, snapshot=snapshot) is is_replayed


def test_a_metadata_log_without_records_has_reached_no_epoch(tmp_path: Path) -> None:
    """Offset 0 and leader epoch 0 are those of a first record."""
    state = captures.path("s1/healed") / "broker-0"
    log = tmp_path / "0" / "__cluster_metadata-0"
    log.mkdir(parents=True)
    shutil.copy(state / "meta.properties", tmp_path / "0")
    (log / f"{0:020d}.log").write_bytes(b"")
    found = _metadata(tmp_path)
    assert (found.leader_epoch, found.last_offset, found.partitions) == (-1, -1, {})


PARTITION = {
    "topicId": "T", "partitionId": 0, "leader": 1, "leaderEpoch": 4, "partitionEpoch": 7,
    "replicas": [1, 2], "isr": [1, 2], "eligibleLeaderReplicas": [3], "lastKnownElr": [2],
}  # fmt: skip
UNCHANGED = {"topicId": "T", "partitionId": 0, "leader": -2}


def replayed(*records: tuple[str, dict[str, Any]]) -> ClusterMetadata:
    """After the topic t with one partition, these records: names and fields as in Kafka's JSON."""
    replay = MetadataReplay()
    for name, fields in (
        ("TopicRecord", {"topicId": "T", "name": "t"}),
        ("PartitionRecord", PARTITION),
        *records,
    ):
        replay._take(MetadataRecord({"offset": 0}, name, fields))
    return replaying._result(replay, "")


def config(value: str | None, *, name: str = "t", kind: int = 2) -> tuple[str, dict[str, Any]]:
    """ConfigResource.Type: TOPIC is 2, BROKER 4; null is a removed setting (KIP-631)."""
    fields = {"resourceType": kind, "resourceName": name, "name": "k", "value": value}
    return "ConfigRecord", fields


@pytest.mark.parametrize(
    ("records", "configs"),
    [
        ([config("1")], {"t": {"k": "1"}}),
        ([config("1"), config("2")], {"t": {"k": "2"}}),
        ([config("1"), config(None)], {}),
        ([config(None)], {}),
        ([config("1"), config("1", name="u"), config(None)], {"u": {"k": "1"}}),
        ([config("1", kind=4)], {}),
        ([config("1"), ("RemoveTopicRecord", {"topicId": "T"})], {}),
        ([config("1"), ("RemoveTopicRecord", {"topicId": "U"})], {"t": {"k": "1"}}),
    ],
)
def test_settings_of_topics_are_replayed(
    records: list[tuple[str, dict[str, Any]]], configs: dict[str, dict[str, str]]
) -> None:
    assert replayed(*records).configs == configs


@pytest.mark.parametrize(
    ("change", "leader", "epochs", "isr", "elr"),
    [
        ({}, 1, (4, 8), (1, 2), (3,)),
        ({"leader": 1}, 1, (5, 8), (1, 2), (3,)),
        ({"leader": -1, "isr": []}, -1, (5, 8), (), (3,)),
        ({"isr": [2], "eligibleLeaderReplicas": []}, 1, (4, 8), (2,), ()),
        ({"partitionId": 1, "leader": 2}, 1, (4, 7), (1, 2), (3,)),
    ],
)
def test_a_change_keeps_what_it_does_not_name(
    change: dict[str, Any], leader: int, epochs: tuple[int, int], isr: object, elr: object
) -> None:
    """Kafka 4.0, PartitionRegistration#merge: -2 is NO_LEADER_CHANGE, and null is no change."""
    found = replayed(("PartitionChangeRecord", {**UNCHANGED, **change})).partitions
    assert [*found] == [("t", 0)]
    state = found["t", 0]
    assert (state.leader, state.leader_epoch, state.partition_epoch) == (leader, *epochs)
    assert (state.isr, state.elr, state.last_known_elr) == (isr, elr, (2,))


@pytest.mark.parametrize(
    ("leaders", "unclean"),
    [
        ((2,), None),  # in the ISR
        ((3,), None),  # in the ELR
        ((-1,), None),
        ((4,), 5),
        ((-1, 4, 1), 6),
        ((2, 4, 5), 7),
    ],
)
def test_elections_from_outside_the_isr_and_the_elr_are_unclean(
    leaders: tuple[int, ...], unclean: int | None
) -> None:
    """Kafka 4.4, PartitionChangeBuilder#electAnyLeader; the leader epoch is 4 before."""
    changes: list[tuple[str, dict[str, Any]]] = [
        ("PartitionChangeRecord", {**UNCHANGED, "leader": leader}) for leader in leaders
    ]
    assert replayed(*changes).partitions["t", 0].unclean_epoch == unclean


@pytest.mark.parametrize(("topic", "elr"), [("", ()), ("t", ()), ("u", (3,))])
def test_eligible_leader_replicas_of_one_or_all_topics_are_cleared(
    topic: str, elr: tuple[int, ...]
) -> None:
    """ClearElrRecord: an empty name is all topics."""
    assert replayed(("ClearElrRecord", {"topicName": topic})).partitions["t", 0].elr == elr


def test_nodes_come_and_go() -> None:
    records: list[tuple[str, dict[str, Any]]] = [
        ("RegisterBrokerRecord", {"brokerId": 1, "brokerEpoch": 11, "logDirs": ["a"]}),
        ("RegisterBrokerRecord", {"brokerId": 2, "brokerEpoch": 12}),
        ("RegisterBrokerRecord", {"brokerId": 3, "brokerEpoch": 13}),
        (
            "BrokerRegistrationChangeRecord",
            {"brokerId": 1, "brokerEpoch": 11, "logDirs": ["b", "c"]},
        ),
        ("BrokerRegistrationChangeRecord", {"brokerId": 1, "brokerEpoch": 11, "logDirs": []}),
        ("UnregisterBrokerRecord", {"brokerId": 3, "brokerEpoch": 13}),
        ("RegisterControllerRecord", {"controllerId": 7}),
        ("RegisterControllerRecord", {"controllerId": 8}),
        ("UnregisterControllerRecord", {"controllerId": 7}),
    ]
    found = replayed(*records)
    assert found.brokers == {1: ("b", "c"), 2: ()}
    assert found.controllers == {8}


def test_a_topic_that_was_removed_has_no_partitions() -> None:
    found = replayed(("RemoveTopicRecord", {"topicId": "T"}))
    assert (found.partitions, found.topic_ids) == ({}, {})
