"""Spark reads from real brokers' files what consumers of those brokers got."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.truth import ConsumedRecord, load

if TYPE_CHECKING:
    from tests.spark.rows import Read

pytestmark = pytest.mark.spark

MAX_MICROSECONDS = 2**63 - 1
TIMESTAMP_TYPES = {"CreateTime": 0, "LogAppendTime": 1, "NoTimestampType": -1}


UNDECIDED = {
    ("s5_2_0.10.2.2", "c-written"), ("s5_2_0.10.2.2", "d-diverged"),
    ("recreated", "a-away"), ("recreated_0.11.0.3", "a-away"),
}  # fmt: skip
"""Copies that forked without other leader epochs: none of their logs says which one led."""
CONSUMED = [
    pytest.param(scenario, name, id=f"{scenario}-{name}")
    for scenario in captures.names()
    for name, capture in load(captures.path(scenario)).captures.items()
    if capture.offsets  # otherwise no broker was running
    and (scenario, name) not in UNDECIDED
]


def as_spark_shows(record: ConsumedRecord) -> tuple[Any, ...]:
    return (
        record.key,
        record.value,
        record.topic,
        record.partition,
        record.offset,
        min(record.timestamp * 1000, MAX_MICROSECONDS),
        TIMESTAMP_TYPES[record.timestamp_type],
        record.headers or None,  # Spark's Kafka source shows null if there are none
    )


def content(value: bytes | bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)  # Spark 4.0 returns a bytearray


@pytest.mark.parametrize(("scenario", "name"), CONSUMED)
def test_spark_shows_what_a_consumer_was_given(read: Read, scenario: str, name: str) -> None:
    capture = load(captures.path(scenario)).captures[name]
    frame = read(str(capture.files), includeHeaders="true")
    shown: Counter[tuple[Any, ...]] = Counter()
    rows = frame.selectExpr(
        "key", "value", "topic", "partition", "offset", "unix_micros(timestamp) AS us",
        "timestampType", "headers",
    ).collect()  # fmt: skip
    for row in rows:
        high_watermark = capture.offsets[row.topic, row.partition].latest
        if row.offset >= high_watermark:
            continue  # on disk, and not yet shown to consumers
        headers = row.headers and tuple((name, content(value)) for name, value in row.headers)
        shown[(content(row.key), content(row.value), *row[2:7], headers)] += 1
    assert shown == Counter(map(as_spark_shows, capture.records()))


def test_every_copy_of_a_forked_partition_shows_what_its_broker_wrote(
    read: Read, pushdown: bool
) -> None:
    truth = load(captures.path("s3_2"))
    replicas = truth.expected["captures"]["both-led"]["replicas"]
    frame = read(
        str(truth.captures["both-led"].files),
        replica="all",
        columns="brokerId,offset,leaderEpoch,value",
        subscribe="t",
    )
    for broker, replica in replicas.items():
        rows = frame.where(f"brokerId = {broker} AND offset >= 1").collect()
        assert sorted((row.offset, row.leaderEpoch, row.value.decode()) for row in rows) == [
            (each["offset"], each["leaderEpoch"], each["value"])
            for each in replica["records"]
            if each["offset"] >= 1
        ]
