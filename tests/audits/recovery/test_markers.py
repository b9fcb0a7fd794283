"""Markers at which rebuilding the producer state ends the broker: ProducerAppendInfo#append."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, data_batch, empty_batch, marker_batch
from kafkalog_reader.audits.recovery.batches import BatchWalk
from kafkalog_reader.format.batch_fields import CONTROL_BIT, MAGIC_AT, TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from pathlib import Path

KEY_OF_TYPE_9 = b"\x00\x00\x00\x09"


def control(offset: int, key: bytes = KEY_OF_TYPE_9, producer_id: int = 7) -> Batch:
    """A control batch of one record; the key holds version and type (reference, 4.5)."""
    record = data_batch(offset, [Record(offset_delta=0, key=key, value=b"\x00\x00")])
    return replace(
        record, producer_id=producer_id, producer_epoch=0, flags=CONTROL_BIT | TRANSACTIONAL_BIT
    )


DATA = data_batch(0, [Record(offset_delta=0, value=b"v")])
SOUND = [
    DATA,
    marker_batch(1, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0),
    marker_batch(2, control_type=ControlType.ABORT, producer_id=7, producer_epoch=0),
]


def lacking(folder: Path, *batches: Batch, magic: int = 2) -> list[int]:
    """Base offsets of the batches without a marker, among those of a segment."""
    content = bytearray()
    for each in batches:
        content += each.build()
        content[-len(each.build()) + MAGIC_AT] = magic
    path = folder / f"{0:020}.log"
    path.write_bytes(content)
    walk = BatchWalk(
        str(path), 0, len(content), check_crc=False, context=ReadContext(), check_markers=True
    )
    return [offset for run in walk for offset in run.base_offset[run.lacks_marker].tolist()]


def test_markers_as_brokers_write_them_are_read(tmp_path: Path) -> None:
    assert lacking(tmp_path, *SOUND) == []


def test_control_batches_of_another_type_are_found(tmp_path: Path) -> None:
    assert lacking(tmp_path, *SOUND, control(3), control(4)) == [3, 4]


@pytest.mark.parametrize("magic", [3, 118])
def test_a_later_magic_is_read_as_2(tmp_path: Path, magic: int) -> None:
    """DefaultRecordBatch is what AbstractLegacyRecordBatch is not: the magic is not covered."""
    assert lacking(tmp_path, *SOUND, control(3), magic=magic) == [3]


def test_no_checksum_is_checked(tmp_path: Path) -> None:
    marker = marker_batch(3, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0)
    assert lacking(tmp_path, replace(marker, lies={"crc": 1})) == []


@pytest.mark.parametrize("key", [b"", b"\x00", b"\x00\x00\x00", KEY_OF_TYPE_9])
def test_a_key_without_a_type_of_transactions_is_unreadable(tmp_path: Path, key: bytes) -> None:
    assert lacking(tmp_path, *SOUND, control(3, key)) == [3]


@pytest.mark.parametrize(
    "harmless",
    [
        pytest.param(control(3, producer_id=-1), id="without_a_producer"),
        pytest.param(empty_batch(control(3)), id="without_records"),
        pytest.param(replace(control(3), flags=TRANSACTIONAL_BIT), id="not_a_control_batch"),
    ],
)
def test_what_the_broker_does_not_take_for_a_marker_is_harmless(
    tmp_path: Path, harmless: Batch
) -> None:
    assert lacking(tmp_path, *SOUND, harmless) == []


def test_a_producer_id_of_zero_is_a_producer(tmp_path: Path) -> None:
    assert lacking(tmp_path, *SOUND, control(3, producer_id=0)) == [3]
