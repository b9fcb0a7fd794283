"""What the columns of a run say about its batches, by hand-made batches of all formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message_set import LegacyRecord
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.batch_chain import BatchChain
from kafkalog_reader.scan.batch_run import _COLUMNS, BatchRun
from tests.tables.logs import T, batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = memoryview(b"")
DAMAGED = batch(3)[:-1] + b"?"
STAMPED = batch(3, flags=LOG_APPEND_TIME_BIT, max_timestamp=T)


def run_of(folder: Path, *batches: bytes) -> BatchRun:
    path = write_segment(folder / "t-0", [*batches])
    (run,) = BatchChain(str(path), context=ReadContext()).runs()
    return run


def message(offset: int, magic: int, flags: int = 0) -> bytes:
    return build_message(b"k", b"v", offset=offset, magic=magic, timestamp=T * magic, flags=flags)


def wrapper(offset: int) -> bytes:
    records = [LegacyRecord(offset=offset, timestamp=T, key=None, value=b"v")]
    return build_wrapper(records, codec=Codec.GZIP, magic=1, timestamp=T)


def test_only_a_compressed_message_is_a_wrapper(tmp_path: Path) -> None:
    run = run_of(tmp_path, batch(0, codec=Codec.GZIP), batch(3), message(6, 1), wrapper(7))
    assert run.is_wrapper.tolist() == [False, False, False, True]


def test_each_format_has_its_timestamp_type(tmp_path: Path) -> None:
    """Kafka's TimestampType: NO_TIMESTAMP_TYPE -1, CREATE_TIME 0, LOG_APPEND_TIME 1."""
    stamped = message(8, 1, LOG_APPEND_TIME_BIT)
    mixed = run_of(tmp_path / "mixed", batch(0), STAMPED, message(6, 0), message(7, 1), stamped)
    assert mixed.timestamp_type.tolist() == [0, 1, -1, 0, 1]
    modern = run_of(tmp_path / "modern", batch(0), STAMPED)
    assert modern.timestamp_type.tolist() == [0, 1]
    assert mixed.timestamp_type.dtype == modern.timestamp_type.dtype == np.int32


def test_a_wrong_crc_is_of_one_batch(tmp_path: Path) -> None:
    run = run_of(tmp_path / "damaged", batch(0), DAMAGED, batch(6))
    assert run.crc_valid.tolist() == [True, False, True]
    assert not run.all_valid
    sound = run_of(tmp_path / "sound", batch(0), batch(3))
    assert sound.all_valid
    assert sound.crc_valid.tolist() == [True, True]
    assert not sound.crc_valid.flags.writeable


def test_validity_is_also_known_of_some_batches_of_a_run(tmp_path: Path) -> None:
    run = run_of(tmp_path, batch(0), DAMAGED, batch(6))
    for part, valid in ((slice(0, 1), [True]), (slice(1, 3), [False, True])):
        taken = run.taken(part)
        assert taken.crc_valid.tolist() == valid
        assert taken.all_valid is all(valid)
        assert taken.count == len(valid)


def test_a_run_without_batches_is_valid_and_gives_no_offsets(tmp_path: Path) -> None:
    empty = run_of(tmp_path, batch(0)).taken(slice(0, 0))
    assert (empty.count, empty.all_valid, empty.is_row) == (0, True, False)


LAST = MAX_OFFSET - 2**32 - 1


def at(base_offset: int) -> bytes:
    """A batch of one record with any offset, which no CRC covers."""
    return base_offset.to_bytes(8, "big", signed=True) + batch(0, 1)[8:]


@pytest.mark.parametrize(
    ("batches", "is_row"),
    [
        pytest.param([batch(0), batch(3)], True, id="from_zero"),
        pytest.param([batch(7, 1)], True, id="one_batch"),
        pytest.param([batch(0), batch(4)], False, id="gap"),
        pytest.param([batch(0), batch(2)], False, id="overlap"),
        pytest.param([batch(0), DAMAGED], False, id="wrong_crc"),
        pytest.param([batch(0), batch(3, last_offset_delta=3)], False, id="a_record_is_missing"),
        pytest.param([message(0, 1), batch(1)], False, id="old_and_new_format"),
        pytest.param([message(0, 1), message(1, 1)], False, id="old_format"),
        pytest.param([at(-1), batch(0)], False, id="negative_offset"),
        pytest.param([at(LAST)], True, id="below_the_last_offsets"),
        pytest.param([at(LAST + 1)], False, id="near_the_last_offset"),
    ],
)
def test_a_row_lacks_no_offset(tmp_path: Path, batches: list[bytes], is_row: bool) -> None:
    assert run_of(tmp_path, *batches).is_row is is_row


@pytest.mark.parametrize(
    ("epochs", "starts"),
    [([4], [0]), ([4, 4, 4], [0]), ([0, 1, 1, 0, 2], [0, 1, 3, 4]), ([5, 5, 6], [0, 2])],
)
def test_leader_epochs_start_where_they_change(
    tmp_path: Path, epochs: list[int], starts: list[int]
) -> None:
    run = run_of(tmp_path, *(batch(n, 1, leader_epoch=each) for n, each in enumerate(epochs)))
    assert run.leader_epoch_starts == starts
    assert run.leader_epoch_starts == starts  # also the second time


@pytest.mark.parametrize(
    ("count", "last_offset_delta", "held"),
    [(3, 2, 3), (1, 2, 1), (0, 2, 0), (-5, 2, 0), (1000, 2, 3), (1, -1, 0), (1, -9, 0), (5, 0, 1)],
)
def test_a_damaged_count_is_at_most_one_record_an_offset(
    tmp_path: Path, count: int, last_offset_delta: int, held: int
) -> None:
    run = run_of(tmp_path, batch(0), batch(9))
    run.records_count[1], run.last_offset_delta[1] = count, last_offset_delta
    assert run.held_records(slice(1, 2)).tolist() == [held]
    assert run.held_records(slice(0, 2)).tolist() == [3, held]


def test_a_batch_that_is_moved_takes_its_last_offset_along(tmp_path: Path) -> None:
    run = run_of(tmp_path, batch(0), batch(30), batch(6))
    assert not run.summary.leads_on
    run.move(1, 3)
    assert run.base_offset.tolist() == [0, 3, 6]
    assert run.last_offset.tolist() == [2, 5, 8]
    assert run.summary.leads_on


def test_columns_lie_apart() -> None:
    run = BatchRun.with_room(NOTHING, 5, 40)
    for number, name in enumerate(_COLUMNS):
        getattr(run, name)[:] = number
    for number, name in enumerate(_COLUMNS):
        assert getattr(run, name).tolist() == [number] * 40
    assert (run.count, run.window_position, run.position.dtype) == (40, 5, np.dtype(np.int64))


@pytest.mark.parametrize(("count", "is_copied"), [(0, True), (9, True), (10, False), (80, False)])
def test_columns_of_which_little_is_used_are_copied_and_filled_again(
    count: int, is_copied: bool
) -> None:
    """Less than an eighth is little; 80 batches have room."""
    room = BatchRun.with_room(NOTHING, 0, 80)
    room.position[:] = range(80)
    run, rest = room.first(count, count)
    room.position[:] = -1
    assert run.count == count
    assert run.position.tolist() == ([*range(count)] if is_copied else [-1] * count)
    assert rest is (room if is_copied else None)
    assert run.all_valid
    assert not room.first(3, 2)[0].all_valid


def test_an_unknown_attribute_of_a_batch_is_no_timestamp_type(tmp_path: Path) -> None:
    """Bits 7 to 15 of a batch are unused: a later release may set one."""
    bits = [1 << number for number in range(7, 15)]
    run = run_of(tmp_path, *(batch(3 * n, flags=flags) for n, flags in enumerate(bits)))
    assert run.timestamp_type.tolist() == [0] * len(bits)
    stamped = [batch(3 * n, flags=bit | LOG_APPEND_TIME_BIT) for n, bit in enumerate(bits)]
    assert run_of(tmp_path / "stamped", *stamped).timestamp_type.tolist() == [1] * len(bits)
