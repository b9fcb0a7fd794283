"""Which records a controller refuses, by the replay methods of Kafka's control managers.

A 4.3.1 controller ended at the second TopicRecord of a name ("Found duplicate TopicRecord"), one of
4.3.1 and of 4.4.0 at a BrokerRegistrationChangeRecord ("no broker registration found for that id").
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.audits.election.metadata_replay import MetadataReplay
from kafkalog_reader.tables.metadata_history import MetadataRecord

TOPIC = ("TopicRecord", {"topicId": "T", "name": "t"})
PARTITION = ("PartitionRecord", {"topicId": "T", "partitionId": 0})
REGISTERED = (
    "RegisterBrokerRecord", {"brokerId": 1, "brokerEpoch": 12, "features": [], "logDirs": []},
)  # fmt: skip
BEGIN, END, ABORT = (
    (f"{name}TransactionRecord", dict[str, Any]()) for name in ("Begin", "End", "Abort")
)


def changed(partition: int = 0, topic: str = "T") -> tuple[str, dict[str, Any]]:
    fields = {"topicId": topic, "partitionId": partition, "leader": -2}
    return "PartitionChangeRecord", fields


def of_broker(broker_id: int, epoch: int, **levels: int) -> tuple[str, dict[str, Any]]:
    fields = {"brokerId": broker_id, "brokerEpoch": epoch, **levels}
    return "BrokerRegistrationChangeRecord", fields


def replay(*records: tuple[str, dict[str, Any]], in_snapshot: bool = False) -> MetadataReplay:
    found = MetadataReplay(in_snapshot=in_snapshot)
    for offset, (name, fields) in enumerate(records):
        found.replay(MetadataRecord({"offset": offset}, name, fields))
    return found


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([TOPIC, ("TopicRecord", {"topicId": "U", "name": "t"})], "has another id, T"),
        ([TOPIC, TOPIC], "has the same id, T"),
        ([PARTITION], "no topic has the id T"),
        ([TOPIC, changed(topic="U")], "no topic has the id U"),
        ([TOPIC, changed()], "topic t has no partition 0"),
        ([("RemoveTopicRecord", {"topicId": "T"})], "no topic has the id T"),
        ([of_broker(1, 12)], "broker 1 is not registered"),
        ([REGISTERED, of_broker(1, 11)], "registered with epoch 12, not 11"),
        ([REGISTERED, of_broker(1, 12, fenced=3)], "the value 3 of fenced is unknown"),
        ([("UnfenceBrokerRecord", {"id": 1, "epoch": 2})], "broker 1 is not registered"),
        ([("UnregisterBrokerRecord", {"brokerId": 1, "brokerEpoch": 2})], "not registered"),
        ([("RemoveAccessControlEntryRecord", {"id": "A"})], "no access control entry has the id A"),
        (
            [("RemoveUserScramCredentialRecord", {"name": "u", "mechanism": 1})],
            "user u has no such credential",
        ),
        ([BEGIN, BEGIN], "the transaction before it was not closed"),
        ([END], "no transaction is open"),
        ([ABORT], "no transaction is open"),
    ],
)
def test_the_first_record_that_contradicts_is_named(
    records: list[tuple[str, dict[str, Any]]], reason: str
) -> None:
    refused = replay(*records, ("NoOpRecord", {})).refused
    assert refused is not None
    assert (refused.offset, refused.name) == (len(records) - 1, records[-1][0])
    assert reason in refused.text


@pytest.mark.parametrize(
    "records",
    [
        [TOPIC, ("RemoveTopicRecord", {"topicId": "T"}), TOPIC],
        [TOPIC, PARTITION, PARTITION, ("NoOpRecord", {})],
        [REGISTERED, of_broker(1, 12, fenced=-1), REGISTERED],
        [BEGIN, TOPIC, END, BEGIN, ABORT],
        [BEGIN, TOPIC],  # the next leader aborts it
        [TOPIC, BEGIN, ("RemoveTopicRecord", {"topicId": "T"}), ABORT, PARTITION],
    ],
)
def test_what_controllers_write_is_replayed(records: list[tuple[str, dict[str, Any]]]) -> None:
    assert replay(*records).refused is None


@pytest.mark.parametrize("end", [[], [END], [ABORT]], ids=["open", "ended", "aborted"])
def test_a_record_in_a_transaction_is_refused_at_its_place(
    end: list[tuple[str, dict[str, Any]]],
) -> None:
    """Controllers of 3.6.2, 3.9.1 and 4.4.0 ended at it, before they knew how that one ends."""
    refused = replay(TOPIC, BEGIN, ("TopicRecord", {"topicId": "U", "name": "t"}), *end).refused
    assert refused is not None
    assert (refused.offset, refused.name) == (2, "TopicRecord")


def test_an_aborted_transaction_leaves_the_state_before_it() -> None:
    removed = ("RemoveTopicRecord", {"topicId": "T"})
    found = replay(REGISTERED, TOPIC, PARTITION, BEGIN, removed, ABORT)
    assert (found.names, [*found.partitions["T"]], found.refused) == ({"T": "t"}, [0], None)
    assert replay(TOPIC, PARTITION, BEGIN, removed, END).names == {}


@pytest.mark.parametrize(("offset", "is_refused"), [(7, True), (8, False)])
def test_a_transaction_may_not_begin_where_the_snapshot_ends(offset: int, is_refused: bool) -> None:
    """Controllers of 3.6.2, 3.9.1 and 4.4.0 ended.

    "Can't create a new in-memory snapshot at epoch 6 because there is already ... epoch 7".
    """
    found = MetadataReplay(snapshot_end=7)
    found.replay(MetadataRecord({"offset": offset}, *BEGIN))
    assert (found.refused is not None) is is_refused


@pytest.mark.parametrize(("version", "is_refused"), [(4, False), (11, False), (12, True)])
def test_only_since_3_6_a_second_topic_of_a_name_is_refused(version: int, is_refused: bool) -> None:
    """A controller of 3.3.2 went on, and the directories of the first one were loaded."""
    features = [{"name": "metadata.version", "minSupportedVersion": 1,
                 "maxSupportedVersion": version}]  # fmt: skip
    registered = ("RegisterBrokerRecord", {**REGISTERED[1], "features": features})
    found = replay(registered, TOPIC, ("TopicRecord", {"topicId": "U", "name": "t"}))
    assert (found.refused is not None) is is_refused


def test_a_snapshot_has_no_transaction() -> None:
    assert replay(BEGIN, in_snapshot=True).refused is not None
