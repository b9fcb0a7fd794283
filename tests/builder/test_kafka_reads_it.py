"""Kafka's own dump tool reads the builder's files and finds that index and log agree."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import jars
from fixtures.builder import (
    EPOCH_MILLIS,
    cluster,
    data_batch,
    empty_batch,
    marker_batch,
    parse_log,
    replica,
)
from fixtures.node import JAVA
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record, RecordHeader

if TYPE_CHECKING:
    from pathlib import Path

BATCHES = 200
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


def _dump(files: list[Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *JAVA, "-cp", jars.class_path(jars.LATEST_TOOLS),
            "org.apache.kafka.tools.DumpLogSegments",
            "--deep-iteration", "--files", ",".join(str(path) for path in files),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """Dump a partition with all codecs in many segments, and one with transactions."""
    headers = (RecordHeader(key="h", value=None), RecordHeader(key="h", value=b""))
    codecs = list(Codec)
    mixed = [
        data_batch(
            number * 3,
            [
                Record(
                    offset_delta=delta,
                    timestamp_delta=delta,
                    key=None if delta else b"",
                    value=b"v" * (number % 50),
                    headers=headers if number % 2 else (),
                )
                for delta in range(3)
            ],
            codec=codecs[number % len(codecs)],
            base_timestamp=EPOCH_MILLIS + number * 7 % 100 + number,
        )
        for number in range(BATCHES)
    ]
    producer = {"producer_id": 7, "producer_epoch": 2}
    data = data_batch(
        2, [Record(offset_delta=0)], base_sequence=0, flags=TRANSACTIONAL_BIT, **producer
    )
    abort = marker_batch(3, control_type=ControlType.ABORT, coordinator_epoch=4, **producer)
    # The tool compares the time index with record timestamps, so the last batch must have some.
    (cleaned,) = map(empty_batch, parse_log("4-8/e0"))
    transactions = [*parse_log("a@0/e0 b@1/e0"), data, abort, cleaned, *parse_log("z@9/e0")]
    root = cluster(
        tmp_path_factory.mktemp("built"),
        {
            0: [
                replica(mixed, topic="mixed", segment_bytes=8000, index_interval=300),
                replica(transactions, topic="transactions"),
            ]
        },
        clean={0},
    )[0]
    return _dump(sorted(path for path in root.glob("*/*") if path.suffix in SUFFIXES))


def test_every_batch_is_valid_to_kafka(dumped: subprocess.CompletedProcess[str]) -> None:
    assert dumped.stdout.count(" isvalid: true") == BATCHES + 6
    assert "isvalid: false" not in dumped.stdout


def test_every_record_is_decoded_by_kafka(dumped: subprocess.CompletedProcess[str]) -> None:
    assert dumped.stdout.count("\n| offset: ") == 3 * BATCHES + 5
    assert "headerKeys: [h,h]" in dumped.stdout
    assert "endTxnMarker: ABORT coordinatorEpoch: 4" in dumped.stdout
    assert "keySize: 0 valueSize: 49" in dumped.stdout
    assert "keySize: -1" in dumped.stdout


def test_kafka_finds_no_mismatch_between_indexes_and_log(
    dumped: subprocess.CompletedProcess[str],
) -> None:
    gaps = re.compile(r"Non-consecutive offsets in .*\n(?:  -?\d+ is followed by \d+\n)+")
    complaints = gaps.sub("", dumped.stderr)  # at each segment's start, and after removed records
    assert complaints == ""
    assert dumped.stdout.count("\noffset: ") > BATCHES // 10


def test_transaction_index_and_snapshot_are_read_by_kafka(
    dumped: subprocess.CompletedProcess[str],
) -> None:
    lines = dumped.stdout.splitlines()
    assert "version: 0 producerId: 7 firstOffset: 2 lastOffset: 3 lastStableOffset: 4" in lines
    assert any(
        line.startswith("producerId: 7 producerEpoch: 2 coordinatorEpoch: 4 ") for line in lines
    )
