"""The complete small partition of the format reference 14.8, file by file as Kafka wrote it."""

from __future__ import annotations

from typing import Final

import pytest

from fixtures.builder import EPOCH_MILLIS, Batch, data_batch, marker_batch, replica
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch_header import TRANSACTIONAL_BIT

PRODUCER: Final = {"producer_id": 1000, "producer_epoch": 0}


def _pair(number: int, base_offset: int, leader_epoch: int, text: str, **producer: int) -> Batch:
    """Describe two records of one timestamp, that of the batch's number."""
    records = [
        Record(offset_delta=delta, key=f"k{text}".encode(), value=f"v{text}".encode())
        for delta in (0, 1)
    ]
    return data_batch(
        base_offset,
        records,
        leader_epoch=leader_epoch,
        base_timestamp=EPOCH_MILLIS + number,
        **producer,
    )


def _batches() -> list[Batch]:
    transaction = {**PRODUCER, "flags": TRANSACTIONAL_BIT}
    return [
        _pair(0, 0, 0, "0"),
        _pair(1, 2, 0, "1"),
        _pair(2, 4, 0, "2"),
        _pair(3, 6, 0, "3", base_sequence=0, **transaction),
        _pair(4, 8, 0, "4", base_sequence=2, **transaction),
        _pair(5, 10, 2, "5", base_sequence=4, **transaction),
        marker_batch(
            12,
            control_type=ControlType.ABORT,
            coordinator_epoch=3,
            leader_epoch=2,
            timestamp=EPOCH_MILLIS + 6,
            **PRODUCER,
        ),
        _pair(7, 13, 2, "7"),
        data_batch(
            15,
            [
                Record(offset_delta=0, key=b"k8", value=b"v" * 11),
                Record(offset_delta=1, key=b"k8", value=b"v" * 10),
            ],
            leader_epoch=2,
            base_timestamp=EPOCH_MILLIS + 8,
        ),
        _pair(9, 17, 5, "9"),
        _pair(10, 19, 5, "10"),
        _pair(11, 21, 5, "11"),
    ]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    described = replica(_batches(), segment_bytes=600, index_interval=100)
    return described.build(is_clean=True)


def test_batches_have_the_sizes_of_the_reference() -> None:
    sizes = [len(batch.build()) for batch in _batches()]
    assert sizes == [83, 83, 83, 83, 83, 83, 78, 83, 100, 83, 87, 87]


SNAPSHOT: Final = (
    "0001 d6c6567f 00000001 00000000000003e8 0000 00000005 000000000000000b 00000001 "
    "0000018bcfe56806 00000003 ffffffffffffffff"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("00000000000000000000.index", "00000005000000a6 000000090000014c 0000000c000001f2"),
        (
            "00000000000000000000.timeindex",
            "0000018bcfe5680200000005 0000018bcfe5680400000009 0000018bcfe568060000000c",
        ),
        (
            "00000000000000000000.txnindex",
            "0000 00000000000003e8 0000000000000006 000000000000000c 000000000000000d",
        ),
        ("00000000000000000013.index", "00000005000000b7 0000000900000161"),
        (
            "00000000000000000013.timeindex",
            "0000018bcfe5680900000005 0000018bcfe5680b00000009",
        ),
        ("00000000000000000013.snapshot", SNAPSHOT),
        ("00000000000000000023.snapshot", SNAPSHOT),
        ("leader-epoch-checkpoint", b"0\n3\n0 0\n2 10\n5 17\n".hex()),
        ("partition.metadata", b"version: 0\ntopic_id: AAAAAAAAAAEAAAAAAAAABQ".hex()),
    ],
)
def test_file_equals_the_reference(files: dict[str, bytes], name: str, content: str) -> None:
    assert files[name] == bytes.fromhex(content)


def test_logs_have_the_sizes_of_the_reference(files: dict[str, bytes]) -> None:
    assert len(files["00000000000000000000.log"]) == 576
    assert len(files["00000000000000000013.log"]) == 440


def test_there_are_no_other_files(files: dict[str, bytes]) -> None:
    assert sorted(files) == sorted(
        [
            *(f"{0:020d}.{suffix}" for suffix in ("log", "index", "timeindex", "txnindex")),
            *(f"{13:020d}.{suffix}" for suffix in ("log", "index", "timeindex", "snapshot")),
            f"{23:020d}.snapshot",
            "leader-epoch-checkpoint",
            "partition.metadata",
        ]
    )
