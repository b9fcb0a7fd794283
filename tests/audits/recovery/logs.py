"""The small partition of the format reference 14.8, to be damaged and then started in mind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fixtures.builder import EPOCH_MILLIS, Batch, cluster, data_batch, marker_batch, replica
from kafkalog_reader.audits.recovery.recovery import Recovery, predict_start
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch_header import TRANSACTIONAL_BIT
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PRODUCER: Final = {"producer_id": 1000, "producer_epoch": 0}
FIRST: Final = f"{0:020}"
LAST: Final = f"{13:020}"


def _pair(number: int, base_offset: int, leader_epoch: int, **producer: int) -> Batch:
    records = [
        Record(offset_delta=delta, key=b"k%d" % number, value=b"v%d" % number) for delta in (0, 1)
    ]
    timestamp = EPOCH_MILLIS + number
    return data_batch(
        base_offset, records, leader_epoch=leader_epoch, base_timestamp=timestamp, **producer
    )


def small_batches() -> list[Batch]:
    """Offsets 0 to 22; segments 0 and 13 of 576 and 440 bytes; leader epochs 0, 2, 5."""
    transaction = {**_PRODUCER, "flags": TRANSACTIONAL_BIT}
    return [
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
            **_PRODUCER,
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
    ]


def write_small(root: Path, *, is_clean: bool, **checkpoints: Any) -> Path:
    """Write its log directory, of broker 1, and return the partition directory."""
    described = replica(
        small_batches(), segment_bytes=600, index_interval=100, high_watermark=23, **checkpoints
    )
    return cluster(root, {1: described}, clean=[1] if is_clean else [])[1] / "t-0"


def start(root: Path, **arguments: Any) -> Recovery:
    """The prediction for the only replica below a folder."""
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    (recovery,) = predict_start([directory], **arguments)
    return recovery


def starts(root: Path, **arguments: Any) -> Mapping[str, Recovery]:
    """The predictions for all replicas of the one broker below a folder, by ``topic-partition``."""
    directories = tuple(discover([str(root)]).partition_directories(ReadRequest()))
    recoveries = predict_start(directories, **arguments)
    return {
        f"{directory.topic}-{directory.partition}": recovery
        for directory, recovery in zip(directories, recoveries, strict=True)
    }
