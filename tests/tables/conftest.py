"""A partition that Kafka wrote: the small one of section 14.8 of the format reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

import kafkalog_reader
from fixtures.builder import EPOCH_MILLIS, Batch, cluster, data_batch, marker_batch, replica
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch_header import TRANSACTIONAL_BIT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PRODUCER: Final = {"producer_id": 1000, "producer_epoch": 0}
Rows = "Callable[..., list[dict[str, Any]]]"


def _pair(number: int, base_offset: int, leader_epoch: int, **producer: int) -> Batch:
    records = [
        Record(offset_delta=delta, key=b"k%d" % number, value=b"v%d" % number) for delta in (0, 1)
    ]
    timestamp = EPOCH_MILLIS + number
    return data_batch(
        base_offset, records, leader_epoch=leader_epoch, base_timestamp=timestamp, **producer
    )


@pytest.fixture(scope="session")
def small_batches() -> tuple[Batch, ...]:
    """Offsets 0 to 22, leader epochs 0, 2, 5; a transaction at 6 to 11 aborted at 12."""
    transaction = {**PRODUCER, "flags": TRANSACTIONAL_BIT}
    return (
        _pair(0, 0, 0),
        _pair(1, 2, 0),
        _pair(2, 4, 0),
        _pair(3, 6, 0, base_sequence=0, **transaction),
        _pair(4, 8, 0, base_sequence=2, **transaction),
        _pair(5, 10, 2, base_sequence=4, **transaction),
        marker_batch(
            12,
            control_type=ControlType.ABORT,
            coordinator_epoch=3,
            leader_epoch=2,
            timestamp=EPOCH_MILLIS + 6,
            **PRODUCER,
        ),
        _pair(7, 13, 2),
        data_batch(
            15,
            [
                Record(offset_delta=0, key=b"k8", value=b"v" * 11),
                Record(offset_delta=1, key=b"k8", value=b"v" * 10),
            ],
            leader_epoch=2,
            base_timestamp=EPOCH_MILLIS + 8,
        ),
        _pair(9, 17, 5),
        _pair(10, 19, 5),
        _pair(11, 21, 5),
    )


SMALL_FILES: Final = {
    "00000000000000000000.index": "00000005000000a6 000000090000014c 0000000c000001f2",
    "00000000000000000000.timeindex": (
        "0000018bcfe5680200000005 0000018bcfe5680400000009 0000018bcfe568060000000c"
    ),
    "00000000000000000000.txnindex": (
        "0000 00000000000003e8 0000000000000006 000000000000000c 000000000000000d"
    ),
    "00000000000000000013.index": "00000005000000b7 0000000900000161",
    "00000000000000000013.timeindex": "0000018bcfe5680900000005 0000018bcfe5680b00000009",
    "00000000000000000013.snapshot": (
        "0001 d6c6567f 00000001 00000000000003e8 0000 00000005 000000000000000b 00000001 "
        "0000018bcfe56806 00000003 ffffffffffffffff"
    ),
}
"""As Kafka wrote them."""


@pytest.fixture
def small_partition(tmp_path: Path, small_batches: tuple[Batch, ...]) -> Path:
    """Its directory, in the log directory of broker 1 that stopped in order."""
    described = replica(
        small_batches,
        segment_bytes=600,
        index_interval=100,
        high_watermark=23,
        recovery_point=23,
        files={name: bytes.fromhex(content) for name, content in SMALL_FILES.items()},
    )
    return cluster(tmp_path, {1: described}, clean=[1])[1] / "t-0"


@pytest.fixture
def rows_of() -> Callable[..., list[dict[str, Any]]]:
    """Rows of a table over paths, as dictionaries."""

    def read(name: str, *paths: Path, **options: Any) -> list[dict[str, Any]]:
        table = kafkalog_reader.open(*map(str, paths)).table(name, **options)
        rows: list[dict[str, Any]] = table.read_all().to_pylist()
        return rows

    return read
