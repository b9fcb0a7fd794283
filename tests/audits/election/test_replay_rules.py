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
    ],
)
def test_what_controllers_write_is_replayed(records: list[tuple[str, dict[str, Any]]]) -> None:
    assert replay(*records).refused is None


def test_a_snapshot_has_no_transaction() -> None:
    assert replay(BEGIN, in_snapshot=True).refused is not None
