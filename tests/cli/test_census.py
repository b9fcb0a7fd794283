"""``kafkalog census`` counts batches and records as they were produced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from fixtures import captures, truth
from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.cli.batch_census import census
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

HEADER = 61
"""Bytes of a record batch before its records (Kafka's DefaultRecordBatch.RECORD_BATCH_OVERHEAD)."""


def rows_of(run: Run, *arguments: object) -> list[dict[str, Any]]:
    answer = run("census", *arguments, "--format", "json")
    assert answer.status == 0
    return [json.loads(line) for line in answer.out.splitlines()]


def batch(offset: int, records: int, producer: int = -1) -> Any:
    return data_batch(
        offset,
        [Record(offset_delta=number, value=b"value") for number in range(records)],
        producer_id=producer,
        producer_epoch=-1 if producer < 0 else 0,
        base_sequence=-1 if producer < 0 else 0,
    )


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    log = [batch(0, 1, producer=7), batch(1, 3), batch(4, 2, producer=7)]
    cluster(tmp_path / "b", {1: replica(log, high_watermark=6)})
    return tmp_path / "b"


def test_totals_of_a_topic(broker: Path, run: Run) -> None:
    (row,) = rows_of(run, broker)
    size = sum(log.stat().st_size for log in broker.rglob("*.log"))
    assert (row["batches"], row["records"], row["oneRecordBatches"]) == (3, 6, 1)
    assert (row["sizeInBytes"], row["recordsPerBatch"]) == (size, 2)
    assert row["bytesPerRecord"] == pytest.approx(size / 6)
    assert row["headerBytes"] == 3 * HEADER
    assert row["savedBytes"] == 2 * HEADER  # six records fit in one batch


@pytest.mark.parametrize(("full", "saved"), [(1, 0), (2, 0), (3, 1), (6, 2)])
def test_what_fuller_batches_save(broker: Path, run: Run, full: int, saved: int) -> None:
    (row,) = rows_of(run, broker, "--full-batch", full)
    assert row["savedBytes"] == saved * HEADER


def test_by_producer(broker: Path, run: Run) -> None:
    rows = rows_of(run, broker, "--by", "producer")
    assert {row["producerId"]: (row["batches"], row["records"]) for row in rows} == {
        7: (2, 3), -1: (1, 3),
    }  # fmt: skip


def test_records_are_those_that_the_broker_served(run: Run) -> None:
    """Topics without transactions and deletions, whose markers or gaps a consumer does not get."""
    name = "everything/stopped"
    capture = truth.load(captures.path("everything")).captures["stopped"]
    topics = ("codec-none", "codec-zstd", "mixed-codecs", "one-record-batches", "broker-lz4")
    found = dict.fromkeys(topics, 0)
    for row in rows_of(run, captures.path(name), *(f"--topic={topic}" for topic in topics)):
        found[row["topic"]] += row["records"]
    served = dict.fromkeys(topics, 0)
    for topic, partition in capture.offsets:
        if topic in served:
            served[topic] += sum(1 for _ in capture.records(topic, partition))
    assert found == served


def test_compressed_records_of_old_formats_are_not_counted(run: Run) -> None:
    rows = rows_of(run, captures.path("release_0.10.2.2/stopped"))
    old = [row for row in rows if row["magic"] < 2]
    assert old
    for row in old:
        is_known = row["codec"] == "none"
        assert (row["records"] is not None) == is_known
        assert row["headerBytes"] is None


def test_partial_totals_are_added_up() -> None:
    one = pa.record_batch(
        {
            "clusterId": ["c"], "topic": ["t"], "codec": ["none"],
            "magic": pa.array([2], pa.int8()), "size": pa.array([70], pa.int32()),
            "count": pa.array([1], pa.int32()), "isControl": [False],
        }
    )  # fmt: skip
    (row,) = census([one] * 1000, by_producer=False, records_per_batch=100)
    assert (row["batches"], row["records"], row["sizeInBytes"]) == (1000, 1000, 70_000)
    assert row["savedBytes"] == 990 * HEADER


def test_text_and_a_log_without_batches(broker: Path, run: Run, tmp_path: Path) -> None:
    size = 3 * HEADER + 6 * 12  # a record with a value of 5 bytes has 12
    assert run("census", broker).out.endswith(
        f"1 topic, 3 batches, {size} B; fuller batches would save {2 * HEADER} B\n"
    )
    cluster(tmp_path / "e", {1: replica("", high_watermark=0)})
    assert run("census", tmp_path / "e").out == "No batch was found.\n"
