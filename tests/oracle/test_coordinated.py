"""The tables of internal topics equal what the admin client answered before the broker stopped."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import live
from fixtures.scenarios.coordinated import ANSWERS, FILES, LEFT, READ

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.log import Log

pytestmark = pytest.mark.oracle

Answers = dict[str, list[list[str]]]
NONE = "-1"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four assignors of classic groups, two of consumer groups, a share and a streams group."""
    return live.run("coordinated", tmp_path_factory.mktemp("coordinated") / "output")


@pytest.fixture(scope="module")
def answers(output: Path) -> Answers:
    found: Answers = {}
    for line in (output / ANSWERS).read_text().splitlines():
        kind, *fields = line.split("\t")
        found.setdefault(kind, []).append(fields)
    return found


@pytest.fixture(scope="module")
def log(output: Path) -> Log:
    return kafkalog_reader.open(str(output / FILES))


def rows(log: Log, table: str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = log.table(table, **options).to_arrow().to_pylist()
    return found


def test_groups_have_their_state_and_assignor(log: Log, answers: Answers) -> None:
    found = {row["groupId"]: row for row in rows(log, "groups")}
    asked = {group: fields for group, *fields in answers["group"]}
    assert found.keys() == asked.keys()
    assert Counter(kind for kind, *_ in asked.values()) == {
        "classic": 5, "consumer": 3, "share": 1, "streams": 1,
    }  # fmt: skip
    for group, (kind, state, assignor, epoch) in asked.items():
        row = found[group]
        assert (row["type"], row["state"]) == (kind, state), group
        if state != "Empty":  # a broker names its default assignor for a group without members
            assert (row["protocol"] or "") == assignor, group
        if epoch != NONE:
            assert row["generation"] == int(epoch), group


def test_members_have_what_they_were_assigned(log: Log, answers: Answers) -> None:
    found = {
        (row["groupId"], row["memberId"]): (
            row["instanceId"] or "", row["clientId"], row["clientHost"],
            str(NONE if row["memberEpoch"] is None else row["memberEpoch"]),
            ",".join(sorted(row["assignment"])),
        )
        for row in rows(log, "group_members")
    }  # fmt: skip
    assert found == {(group, member): tuple(rest) for group, member, *rest in answers["member"]}
    assert {row["memberState"] for row in rows(log, "group_members")} == {None, "stable"}


def test_offsets_are_those_that_were_committed(log: Log, answers: Answers) -> None:
    ends = {(topic, partition): int(high) for topic, partition, _, high, _ in answers["end"]}
    found = {
        (row["groupId"], row["topic"], str(row["partition"])): (
            row["committedOffset"], row["lag"], str(row["committedLeaderEpoch"]), row["metadata"],
        )
        for row in rows(log, "group_offsets")
    }  # fmt: skip
    assert found == {
        (group, topic, partition): (
            int(offset), ends[topic, partition] - int(offset), epoch, metadata,
        )
        for group, topic, partition, offset, epoch, metadata in answers["offset"]
    }  # fmt: skip


def test_share_groups_have_their_start_and_lag(log: Log, answers: Answers) -> None:
    """Lag of KIP-1226: up to the high watermark, without what is done from the start on."""
    ends = {(topic, partition): int(high) for topic, partition, _, high, _ in answers["end"]}
    found = {}
    for row in rows(log, "share_groups"):
        partition = str(row["partition"])
        undone = ends[row["topic"], partition] - row["startOffset"] - row["deliveryCompleteCount"]
        found[row["groupId"], row["topic"], partition] = row["startOffset"], undone
    assert found == {
        (group, topic, partition): (int(start), int(lag))
        for group, topic, partition, start, lag in answers["share"]
    }


def test_transactions_have_their_state(log: Log, answers: Answers) -> None:
    found = {
        row["transactionalId"]: [
            str(row["producerId"]), str(row["producerEpoch"]), row["state"],
            ",".join(sorted(row["partitions"])), _milliseconds(row["startTime"]),
            str(row["timeoutMs"]),
        ]
        for row in rows(log, "transactions")
    }  # fmt: skip
    assert found == {name: fields for name, *fields in answers["transaction"]}
    states = Counter(state for *_, state, _, _, _ in answers["transaction"])
    assert states == {"CompleteCommit": 1, "CompleteAbort": 1, "Ongoing": 1, "Empty": 2}


def test_producers_and_open_transactions(log: Log, answers: Answers) -> None:
    found = {
        (row["partition"], row["producerId"]): [
            str(row["producerEpoch"]), str(row["lastSequence"]), _milliseconds(row["timestamp"]),
            _or_none(row["currentTransactionFirstOffset"]),
        ]
        for row in rows(log, "producers", topic=READ)
    }  # fmt: skip
    assert found == {
        (int(partition), int(producer)): fields
        for _, partition, producer, *fields in answers["producer"]
    }
    opened = {
        (row["partition"], row["producerId"]): row["firstOffset"]
        for row in rows(log, "open_transactions")
    }
    assert opened == {
        (int(partition), int(producer)): int(first)
        for _, partition, producer, *_, first in answers["producer"]
        if first != NONE
    }


def test_offsets_isr_and_elr_of_partitions(log: Log, answers: Answers) -> None:
    """Offsets of topics that nobody writes to any more; the ISR while the broker still led."""
    ends = {
        (row["topic"], str(row["partition"])): [
            str(row["logStartOffset"]), str(row["highWatermarkLow"]), str(row["lastStableOffset"]),
        ]
        for row in rows(log, "replicas")
        if row["brokerId"] == 0
    }  # fmt: skip
    asked = {(topic, partition): rest for topic, partition, *rest in answers["end"]}
    for partition in ((LEFT, "0"), *((READ, str(number)) for number in range(4))):
        assert ends[partition] == asked[partition]
    led: dict[tuple[str, str], list[str]] = {}
    for row in rows(log, "partition_states"):
        if row["leader"] >= 0:
            led[row["topic"], str(row["partition"])] = [
                str(row["leader"]), _ids(row["replicas"]), _ids(row["isr"]),
                _ids(row["eligibleLeaderReplicas"]),
            ]  # fmt: skip
    assert led == {(topic, number): rest for topic, number, *rest in answers["partition"]}
    assert led[LEFT, "0"] == ["0", "0,1", "0", "1"]


def _ids(ids: list[int]) -> str:
    return ",".join(map(str, sorted(ids)))


def _milliseconds(moment: Any) -> str:
    return NONE if moment is None else str(round(moment.timestamp() * 1000))


def _or_none(number: int | None) -> str:
    return NONE if number is None else str(number)
