"""Markers at which rebuilding the producer state ends the broker: ProducerAppendInfo#append."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, data_batch, empty_batch, marker_batch
from kafkalog_reader.audits.recovery.markers import unreadable_marker
from kafkalog_reader.audits.recovery.segment import LoadingSegment
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.segment_files import SegmentFiles

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


def unreadable(folder: Path, *batches: Batch, first: int = 0, following: int = 100) -> str:
    content = b"".join(each.build() for each in batches)
    (folder / f"{0:020}.log").write_bytes(content)
    files = SegmentFiles(
        base_offset=0, suffix=None, directory=str(folder), log_size=len(content),
        offset_index_size=None, time_index_size=None, transaction_index_size=None, modified_at=0,
    )  # fmt: skip
    segment = LoadingSegment(
        files=files, base_offset=0, start=0, stop=len(content), context=ReadContext()
    )
    return unreadable_marker(segment, 0, first, following, no_progress)


def test_markers_as_brokers_write_them_are_read(tmp_path: Path) -> None:
    assert unreadable(tmp_path, *SOUND) == ""


def test_a_control_batch_of_another_type_is_named_with_its_place(tmp_path: Path) -> None:
    found = unreadable(tmp_path, *SOUND, control(3), control(4))
    position = sum(len(each.build()) for each in SOUND)
    assert found == (
        f"{tmp_path}/{0:020}.log at position {position} (offset 3): "
        "a control batch without a transaction marker"
    )


@pytest.mark.parametrize("key", [b"", b"\x00", b"\x00\x00\x00", KEY_OF_TYPE_9])
def test_a_key_without_a_type_of_transactions_is_unreadable(tmp_path: Path, key: bytes) -> None:
    assert "(offset 3)" in unreadable(tmp_path, *SOUND, control(3, key))


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
    assert unreadable(tmp_path, *SOUND, harmless) == ""


def test_a_producer_id_of_zero_is_a_producer(tmp_path: Path) -> None:
    assert "(offset 3)" in unreadable(tmp_path, *SOUND, control(3, producer_id=0))


@pytest.mark.parametrize(
    ("first", "following", "is_found"),
    [(3, 4, True), (0, 4, True), (3, 100, True), (4, 100, False), (0, 3, False)],
)
def test_only_batches_of_the_range_are_replayed(
    tmp_path: Path, first: int, following: int, is_found: bool
) -> None:
    found = unreadable(tmp_path, *SOUND, control(3), first=first, following=following)
    assert bool(found) is is_found
