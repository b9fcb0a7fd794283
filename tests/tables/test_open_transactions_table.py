"""Open transactions in logs equal what brokers answered, and are matched with coordinators."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch

PRODUCER = 7
ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT, COMPLETE_ABORT = 1, 2, 4, 5


def answers_of(state: str) -> list[dict[str, Any]]:
    name, folder = state.split("/")
    path = captures.path(name) / captures.TRUTH / folder / "offsets.json"
    return json.loads(path.read_text()) if path.exists() else []


STATES = [each for each in captures.states() if answers_of(each)]


def rows_of(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table("open_transactions", **options).to_arrow().to_pylist()
    )
    return rows


def written(offset: int, *, producer: int = PRODUCER, epoch: int = 3) -> Batch:
    return data_batch(
        offset, [Record(offset_delta=0, value=b"v")],
        producer_id=producer, producer_epoch=epoch, base_sequence=0, flags=TRANSACTIONAL_BIT,
    )  # fmt: skip


def later(offset: int) -> Batch:
    """A batch outside of transactions, a day later: no transaction may take as long."""
    return data_batch(
        offset, [Record(offset_delta=0, value=b"v")], base_timestamp=EPOCH_MILLIS + 86_400_000
    )


def marker(offset: int, *, producer: int = PRODUCER) -> Batch:
    record = Record(offset_delta=0, key=struct.pack(">hh", 0, 1), value=struct.pack(">hi", 0, 0))
    return data_batch(
        offset, [record],
        producer_id=producer, producer_epoch=3, flags=CONTROL_BIT | TRANSACTIONAL_BIT,
    )  # fmt: skip


def state_of(status: int, partition: int = 0, *, producer: int = PRODUCER) -> Batch:
    """A record of TransactionLogValue version 0 with one partition of topic t."""
    value = (
        struct.pack(">hqhib", 0, producer, 3, 60000, status)
        + struct.pack(">ih", 1, 1) + b"t" + struct.pack(">ii", 1, partition)
        + struct.pack(">qq", 2000, 1000)
    )  # fmt: skip
    key = struct.pack(">hh", 0, 2) + b"id"
    return data_batch(0, [Record(offset_delta=0, key=key, value=value)])


def write(root: Path, log: list[Batch], coordinator: Batch | None = None) -> Path:
    logs = [replica(log, high_watermark=len(log))]
    if coordinator is not None:
        logs.append(replica([coordinator], topic="__transaction_state", high_watermark=1))
    cluster(root, {0: logs})
    return root


@pytest.mark.parametrize("state", STATES)
def test_they_are_in_the_partitions_where_the_broker_held_consumers_back(state: str) -> None:
    expected = {
        (each["topic"], each["partition"]): each["lastStable"]
        for each in answers_of(state)
        if each["lastStable"] is not None and each["lastStable"] < each["latest"]
    }
    rows = rows_of(captures.path(state))
    found = {
        (row["topic"], row["partition"]): row["firstOffset"]
        for row in rows
        if row["holdsLastStableOffset"]
    }
    assert found == expected
    assert {row["status"] for row in rows} <= {"ongoing"}


@pytest.mark.parametrize(
    ("coordinator", "status"),
    [
        (state_of(ONGOING), "ongoing"),
        (state_of(PREPARE_COMMIT), "ongoing"),
        (state_of(ONGOING, partition=1), "hanging"),
        (state_of(COMPLETE_COMMIT), "hanging"),
        (state_of(COMPLETE_ABORT), "hanging"),
        (state_of(ONGOING, producer=8), "no-coordinator"),
        (None, "no-coordinator"),
    ],
)
def test_the_coordinator_says_whether_it_hangs(
    tmp_path: Path, coordinator: Batch | None, status: str
) -> None:
    log = [written(0), written(1), later(2)]
    (row,) = rows_of(write(tmp_path, log, coordinator), topic="t")
    assert (row["status"], row["firstOffset"], row["lastStableOffset"]) == (status, 0, 0)
    assert (row["producerId"], row["producerEpoch"], row["logEndOffset"]) == (PRODUCER, 3, 3)
    assert (row["transactionalId"] == "id") == (status != "no-coordinator")


def test_a_young_one_may_be_copied_before_its_coordinator(tmp_path: Path) -> None:
    """``find-hanging`` of kafka-transactions waits for transaction.max.timeout.ms, too."""
    (row,) = rows_of(write(tmp_path, [written(0)], state_of(COMPLETE_COMMIT)), topic="t")
    assert row["status"] == "maybe-hanging"


def damage(root: Path, topic: str, position: int) -> None:
    """Flip a bit of a partition's first segment."""
    (path,) = root.rglob(f"{topic}-0/{0:020}.log")
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_damage_of_the_coordinators_log_hides_no_open_transaction(tmp_path: Path) -> None:
    write(tmp_path, [written(0), written(1)], state_of(ONGOING))
    damage(tmp_path, "__transaction_state", -1)
    (row,) = rows_of(tmp_path, topic="t", mode="PERMISSIVE")
    assert (row["status"], row["firstOffset"]) == ("coordinator-damaged", 0)
    with pytest.raises(CorruptRecordError, match="CRC"):
        rows_of(tmp_path, topic="t")


def test_an_older_state_is_doubtful_where_a_newer_one_is_damaged(tmp_path: Path) -> None:
    newer = replace(state_of(COMPLETE_COMMIT), base_offset=1)
    coordinator = replica([state_of(ONGOING), newer], topic="__transaction_state")
    cluster(tmp_path, {0: [replica([written(0)]), coordinator]})
    damage(tmp_path, "__transaction_state", -1)
    (row,) = rows_of(tmp_path, topic="t", mode="PERMISSIVE")
    assert (row["status"], row["state"]) == ("coordinator-damaged", "Ongoing")


def test_transactions_around_damage_are_shown_and_the_damage_too(tmp_path: Path) -> None:
    """The second of three batches is damaged: a transaction of it may be hidden."""
    log = [written(0), written(1, producer=8), written(2, producer=9)]
    write(tmp_path, log)
    damage(tmp_path, "t", len(log[0].build()) + len(log[1].build()) - 1)
    rows = rows_of(tmp_path, topic="t", mode="PERMISSIVE")
    assert [(row["producerId"], row["firstOffset"]) for row in rows] == [
        (PRODUCER, 0), (9, 2), (None, None),
    ]  # fmt: skip
    assert [row["status"] for row in rows] == ["no-coordinator"] * 2 + ["log-damaged"]
    with pytest.raises(CorruptRecordError, match="CRC"):
        rows_of(tmp_path, topic="t")


def test_only_the_first_holds_the_last_stable_offset(tmp_path: Path) -> None:
    log = [written(0), marker(1), written(2, producer=8), written(3)]
    rows = rows_of(write(tmp_path, log))
    assert [(row["producerId"], row["firstOffset"]) for row in rows] == [(8, 2), (PRODUCER, 3)]
    assert [row["holdsLastStableOffset"] for row in rows] == [True, False]


def test_after_its_marker_a_transaction_is_closed(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, [written(0), marker(1)])) == []


def test_spark_pickles_its_units(tmp_path: Path) -> None:
    import pickle

    from kafkalog_reader import registry
    from kafkalog_reader.io.discovery import discover

    path = write(tmp_path, [written(0)], state_of(ONGOING))
    table = registry.table("open_transactions")
    request = registry.request(table, topic="t")
    (unit,) = table.units(discover([str(path)]), request)
    (rows,) = table.read(pickle.loads(pickle.dumps(unit)), request)
    assert rows["status"].to_pylist() == ["ongoing"]
