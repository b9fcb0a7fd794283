"""Which metadata log may lead: not by its epoch and end, but by the topics on the brokers' disks.

A 4.3.1 broker that followed a controller which was formatted anew renamed all of its partitions to
``-stray`` (``tests/oracle/test_younger_controllers.py`` does it again).
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

import pytest
from click.testing import CliRunner

from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.log_directory import LogDirectory
from fixtures.builder.metadata_log import METADATA_TOPIC_ID, PartitionState, metadata_records
from kafkalog_reader.audits.quorum.leading_logs import (
    HeldTopic,
    LeadingLogs,
    NamedAt,
    NamedTopics,
    leading_logs,
)
from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.audits.quorum.quorum import read_quorums
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.uuid import uuid_text
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import OFFSET_CHECKPOINTS
from kafkalog_reader.report.quorum_steps import quorum_steps
from tests.audits.quorum.controllers import audited, quorum_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fixtures.builder import Replica

OLD, NEW = "old", "new"
BROKER: Final = 9
CONTROLLER: Final = 1
OTHER_ID: Final = "OtherOtherOtherOtherOt"


def held(*names: str) -> list[HeldTopic]:
    return [HeldTopic(topic=n, topic_id=n, brokers=(BROKER,), partitions=1) for n in names]


def named(at: Mapping[str, int], *, is_whole: bool = True) -> NamedTopics:
    offsets = {topic: NamedAt(offset, offset) for topic, offset in at.items()}
    return NamedTopics(offsets=offsets, is_whole=is_whole)


def decided(one: NamedTopics, other: NamedTopics, fork: int | None, *topics: str) -> LeadingLogs:
    return leading_logs(held(*topics), {OLD: one, NEW: other}, {(OLD, NEW): fork})


def test_a_log_that_never_named_a_held_topic_is_younger() -> None:
    found = decided(named({"a": 7}), named({}), 0, "a")
    assert {path: [e.topic for e in topics] for path, topics in found.younger.items()} == {
        NEW: ["a"]
    }
    assert found.committed == {OLD: 8}
    assert not found.contested


def test_a_log_that_named_it_and_removed_it_may_lead() -> None:
    """A folder of a deleted topic is left on a broker that was stopped."""
    found = decided(named({"a": 7}), named({"a": 7}), 9, "a")
    assert not found.younger
    assert not found.unknown


@pytest.mark.parametrize(("fork", "is_younger"), [(7, True), (8, False), (None, False)])
def test_a_log_without_its_beginning_may_have_named_and_removed_it(
    fork: int | None, *, is_younger: bool
) -> None:
    """From a fork on, the records of two logs are independent; before it, they are the same."""
    found = decided(named({"a": 7}), named({}, is_whole=False), fork, "a")
    assert bool(found.younger) is is_younger


def test_two_logs_that_each_name_what_the_other_does_not_are_contested() -> None:
    found = decided(named({"a": 7}), named({"b": 7}), 0, "a", "b")
    assert {path: [e.topic for e in topics] for path, topics in found.contested.items()} == {
        OLD: ["b"],
        NEW: ["a"],
    }
    assert not found.younger


@pytest.mark.parametrize(("is_whole", "unknown"), [(True, ["a"]), (False, [])])
def test_a_topic_that_no_log_names_is_unknown_if_they_are_whole(
    *, is_whole: bool, unknown: list[str]
) -> None:
    log = named({}, is_whole=is_whole)
    found = leading_logs(held("a"), {OLD: log}, {})
    assert [each.topic for each in found.unknown] == unknown


def metadata(log: str, voters: Sequence[int]) -> Replica:
    """A copy of the metadata log: the leader epoch of each batch, which creates a topic."""
    batches = [
        data_batch(
            2 * number,
            [
                Record(offset_delta=n, value=each)
                for n, each in enumerate(metadata_records([state]))
            ],
            leader_epoch=int(epoch),
        )
        for number, epoch in enumerate(log)
        for state in [created(int(epoch), number)]
    ]
    return replica(
        batches, topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID,
        files={"quorum-state": quorum_state(voters=voters)},
    )  # fmt: skip


def created(epoch: int, number: int) -> PartitionState:
    """The topic of a batch: a topic record, and one for its partition on the broker."""
    return PartitionState(
        replicas=(BROKER,), in_sync=(BROKER,), leader=BROKER, leader_epoch=0,
        topic=f"t{epoch}-{number}", topic_id=uuid_text(bytes([1] * 14 + [epoch, number])),
    )  # fmt: skip


def topic(epoch: int, number: int) -> Replica:
    """A folder with records of the topic that a batch creates."""
    state = created(epoch, number)
    return replica("a@0/e0 b@1/e0", topic=state.topic, topic_id=state.topic_id)


def write(
    root: Path,
    logs: Mapping[int, str],
    *held_topics: Replica,
    voters: Sequence[int] = (CONTROLLER,),
) -> Path:
    """Controllers, and the broker with its copy of the metadata log and these folders."""
    nodes = {
        node: LogDirectory(
            node_id=node,
            replicas=(metadata(log, voters),),
            files=dict.fromkeys(OFFSET_CHECKPOINTS),
        )
        for node, log in logs.items()
        if node != BROKER
    }
    cluster(root, {**nodes, BROKER: [metadata(logs[BROKER], voters), *held_topics]})
    return root


def said(root: Path) -> str:
    return " ".join(CliRunner().invoke(verify_command, [str(root)]).stdout.split())


def test_epochs_and_ends_do_not_decide(tmp_path: Path) -> None:
    """The new controller's log has a later leader epoch, and is longer."""
    root = write(tmp_path, {CONTROLLER: "222222", BROKER: "1111"}, topic(1, 2))
    audit = audited(root)
    assert audit.verdict is Verdict.YOUNGER_LOG
    assert audit.source is not None
    assert audit.source.node_id == BROKER
    assert audit.committed is not None
    assert audit.committed.low >= 5  # the record at offset 4 names the topic
    steps = [*quorum_steps(audit)]
    assert "give controller 1 the __cluster_metadata-0 of node 9" in steps[0].text
    assert all(
        "broker-9/__cluster_metadata-0 " not in c.split("mv ")[-1] for c in steps[0].commands
    )
    assert "controller 1 never named topic t1-2, of which broker 9 has records" in said(root)
    plan = CliRunner().invoke(plan_command, [str(root)], standalone_mode=False).stdout
    assert "would lead with a metadata log that never named topics" in " ".join(plan.split())
    assert "broker 9 removes no record" in " ".join(plan.split())


def test_a_controller_from_a_backup_older_than_a_topic_must_not_lead(tmp_path: Path) -> None:
    """It was elected again since, in a later leader epoch, from the offset of the backup on."""
    audit = audited(write(tmp_path, {CONTROLLER: "11222", BROKER: "1111"}, topic(1, 3)))
    assert audit.verdict is Verdict.YOUNGER_LOG
    older = audited(write(tmp_path / "older", {CONTROLLER: "11222", BROKER: "1111"}, topic(1, 1)))
    assert older.verdict is Verdict.ELECTABLE  # a later leader wrote over what was not committed


def test_voters_that_name_the_topics_elect_a_leader_without_the_younger_one(
    tmp_path: Path,
) -> None:
    root = write(
        tmp_path, {1: "1111", 2: "1111", 3: "2222", BROKER: "1111"}, topic(1, 2), voters=(1, 2, 3)
    )
    audit = audited(root)
    assert audit.verdict is Verdict.YOUNGER_LOG
    texts = [each.text for each in quorum_steps(audit)]
    assert texts[0].startswith("Start nodes 1 and 2, and nothing else")
    assert texts[1].startswith("While node 3 is stopped, move __cluster_metadata-0 there aside")


def test_where_each_log_names_topics_of_its_own_nothing_is_started(tmp_path: Path) -> None:
    root = write(tmp_path, {CONTROLLER: "2222", BROKER: "1111"}, topic(1, 2), topic(2, 1))
    audit = audited(root)
    assert audit.verdict is Verdict.CONTRADICTED
    (step,) = quorum_steps(audit)
    assert step.text.startswith("Start no node.")
    assert not step.commands


def test_a_topic_that_no_log_ever_named_was_created_after_the_backup(tmp_path: Path) -> None:
    audit = audited(write(tmp_path, {CONTROLLER: "11", BROKER: "11"}, topic(1, 3)))
    assert audit.verdict is Verdict.MAY_LOSE
    assert "broker 9 has records of topic t1-3" in audit.quorum.rolled_back.lost_end


def test_a_controller_of_another_cluster_is_not_given_to_the_brokers(tmp_path: Path) -> None:
    root = write(tmp_path, {CONTROLLER: "2222", BROKER: "1111"}, topic(1, 2))
    path = root / f"broker-{CONTROLLER}" / "meta.properties"
    lines = path.read_text().splitlines()
    kept = [each for each in lines if not each.startswith("cluster.id=")]
    path.write_text("\n".join([*kept, f"cluster.id={OTHER_ID}", ""]))
    assert "KL-008 HIGH" in said(root)
    assert "do not write its cluster.id into meta.properties" in said(root)
    quorums = {each.cluster_id: each for each in read_quorums(discover([str(root)]))}
    assert [each.node_id for each in quorums.pop(OTHER_ID).strangers] == []
    (own,) = quorums.values()
    assert [each.node_id for each in own.strangers] == [CONTROLLER]
    shutil.rmtree(path.parent)
    assert "KL-008" not in said(root)
