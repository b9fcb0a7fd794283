"""States of transactions from ``__transaction_state``."""

from __future__ import annotations

import json
import re
import shutil
import struct
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from fixtures.dump import dump_log_segments
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = "__transaction_state"
STATES = (  # in the order of their ids in TransactionState of Kafka 4.4
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
)  # fmt: skip
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rows_of(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table("transactions", **options).to_arrow().to_pylist()
    )
    return rows


def key(name: str = "tx", number: int = 0) -> bytes:
    return struct.pack(">hh", number, len(name)) + name.encode()


def value(status: int, *, topic: str = "t", start: int = 1000) -> bytes:
    """TransactionLogValue version 0."""
    return (
        struct.pack(">hqhib", 0, 7, 3, 60000, status)
        + struct.pack(">ih", 1, len(topic)) + topic.encode() + struct.pack(">iii", 2, 0, 4)
        + struct.pack(">qq", 2000, start)
    )  # fmt: skip


def flexible(tags: bytes) -> bytes:
    """TransactionLogValue version 1 without partitions."""
    return struct.pack(">hqhib", 1, 7, 3, 60000, 0) + b"\x00" + struct.pack(">qq", 2000, -1) + tags


def write(root: Path, *records: tuple[bytes | None, bytes | None]) -> None:
    log = [
        data_batch(offset, [Record(offset_delta=0, key=each[0], value=each[1])])
        for offset, each in enumerate(records)
    ]
    cluster(root, {0: [replica(log, topic=TOPIC, high_watermark=len(log))]})


def test_the_newest_record_of_an_id_holds(tmp_path: Path) -> None:
    write(
        tmp_path, (key(), value(1)), (key("gone"), value(4)), (key(), value(3)), (key("gone"), None)
    )
    (row,) = rows_of(tmp_path)
    assert row["transactionalId"] == "tx"
    assert (row["producerId"], row["producerEpoch"], row["timeoutMs"]) == (7, 3, 60000)
    assert (row["state"], row["partitions"]) == ("PrepareAbort", ["t-0", "t-4"])
    assert row["startTime"] == EPOCH + timedelta(seconds=1)
    assert row["lastUpdateTime"] == EPOCH + timedelta(seconds=2)
    assert (row["recordOffset"], row["problem"], row["key"]) == (2, None, None)


def test_topics_select_transactions_that_contain_them(tmp_path: Path) -> None:
    write(tmp_path, (key("a"), value(1)), (key("b"), value(1, topic="u")))
    assert [row["transactionalId"] for row in rows_of(tmp_path, topic="u")] == ["b"]
    assert [row["transactionalId"] for row in rows_of(tmp_path, topic="t", partition=1)] == []


def test_unknown_producer_ids_are_null_and_unknown_tags_are_kept(tmp_path: Path) -> None:
    known = b"\x01\x00\x08" + struct.pack(">q", 6)  # one tag: 0, previousProducerId
    write(tmp_path, (key("a"), flexible(b"\x00")), (key("b"), flexible(known)),
          (key("c"), flexible(b"\x01\x09\x02\xab\xcd")))  # fmt: skip
    rows = {row["transactionalId"]: row for row in rows_of(tmp_path)}
    found = {
        name: (row["previousProducerId"], row["nextProducerId"], row["startTime"])
        for name, row in rows.items()
    }
    assert found == {"a": (None, None, None), "b": (6, None, None), "c": (None, None, None)}
    assert json.loads(rows["c"]["unknownTags"]) == {"9": "abcd"}


def test_unknown_tags_of_a_partition_are_kept_too(tmp_path: Path) -> None:
    """TransactionLogValue 1 has a structure of tagged fields for each topic, too (KIP-482)."""
    topic = b"\x02t" + b"\x02" + struct.pack(">i", 0) + b"\x01\x63\x01\xaa"
    head = struct.pack(">hqhib", 1, 5, 0, 1000, 1)
    stored = head + b"\x02" + topic + struct.pack(">qq", 0, 0) + b"\x01\x62\x01\xbb"
    write(tmp_path, (key(), stored))
    (row,) = rows_of(tmp_path)
    assert row["partitions"] == ["t-0"]
    tags = json.loads(row["unknownTags"])
    assert tags == {"98": "bb", "transactionPartitions.0.99": "aa"}


@pytest.mark.parametrize(
    ("record", "transactional_id", "version", "problem"),
    [
        ((key(), b"\x00\x09rest"), "tx", 9, "version 9; the known ones are 0 to 1"),
        ((key(), value(1)[:-1]), "tx", 0, "ends too early"),
        ((key(), b""), "tx", None, "at least 2"),
        ((key(number=5), b"\x00\x00"), None, None, "record type 5"),
        ((b"\x00", None), None, None, "at least 2"),
        ((None, b"x"), None, None, "at least 2"),
        ((key()[:-1], value(1)), None, None, "2 bytes expected, 1 left"),
    ],
)
def test_records_that_cannot_be_read_are_kept_as_stored(
    tmp_path: Path,
    record: tuple[bytes | None, bytes | None],
    transactional_id: str | None,
    version: int | None,
    problem: str,
) -> None:
    write(tmp_path, (key("sound"), value(1)), record)
    sound, row = rows_of(tmp_path)
    assert (sound["transactionalId"], sound["problem"]) == ("sound", None)
    assert (row["transactionalId"], row["valueVersion"]) == (transactional_id, version)
    assert (row["key"], row["value"], row["state"]) == (*record, None)
    assert problem in row["problem"]


@pytest.mark.oracle
def test_states_are_those_that_kafkas_tool_decodes(tmp_path: Path) -> None:
    """The last record of each transactional id, as ``kafka-dump-log`` decodes it."""
    compared = 0
    for state in captures.states():
        for path in captures.path(state).glob(f"*/{TOPIC}-*"):
            shutil.copytree(path, tmp_path / state.replace("/", "-") / path.parent.name / path.name)
    for copy in sorted(tmp_path.iterdir()):
        text = dump_log_segments(tmp_path, [copy.name], [".log"], ["--transaction-log-decoder"])
        expected = {}
        for found in re.finditer(r" key: (.*) payload: (.*)", text):
            name = json.loads(found[1])["data"]["transactionalId"]
            data = json.loads(found[2])["data"]
            expected[name] = (
                data["producerId"], data["producerEpoch"], STATES[data["transactionStatus"]],
                {
                    f"{each['topic']}-{number}"
                    for each in data["transactionPartitions"] or ()
                    for number in each["partitionIds"]
                },
            )  # fmt: skip
        rows = {
            row["transactionalId"]: (
                row["producerId"], row["producerEpoch"], row["state"], set(row["partitions"]),
            )
            for row in rows_of(copy)
        }  # fmt: skip
        assert rows == expected
        compared += len(rows)
    assert compared > 0


def test_as_of_gives_the_state_after_that_record(tmp_path: Path) -> None:
    write(tmp_path, (key(), value(1)), (key("other"), value(1)), (key(), value(4)))
    for offset, expected in (
        (0, ["Ongoing"]),
        (1, ["Ongoing"] * 2),
        (2, ["Ongoing", "CompleteCommit"]),
    ):
        rows = rows_of(tmp_path, as_of=f"offset:{offset}")
        assert [row["state"] for row in rows] == expected
    assert rows_of(tmp_path, as_of="1970-01-01") == []


@pytest.mark.parametrize("timestamp", [-(2**63), 2**63 - 1])
def test_a_time_that_no_calendar_has_does_no_harm(tmp_path: Path, timestamp: int) -> None:
    record = Record(offset_delta=0, key=key(), value=value(1))
    log = [data_batch(0, [record], base_timestamp=timestamp)]
    noop = [
        data_batch(
            0,
            [Record(offset_delta=0, key=None, value=b"\x01\x14\x00\x00")],
            base_timestamp=timestamp,
        )
    ]
    cluster(tmp_path, {0: [replica(log, topic=TOPIC), replica(noop, topic="__cluster_metadata")]})
    assert [row["state"] for row in rows_of(tmp_path)] == ["Ongoing"]
    metadata = kafkalog_reader.open(str(tmp_path)).table("cluster_metadata", columns=["typeName"])
    assert metadata.to_arrow().to_pylist() == [{"typeName": "NoOpRecord"}]
