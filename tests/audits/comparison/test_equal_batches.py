"""How many batches of two copies are equal byte by byte, beginning with the current ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.audits.comparison.equal_batches import equal_batches
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 300


def log(size: int = 5, count: int = COUNT) -> list[Batch]:
    """Batches of one record; neighbours differ in size, so that positions are not multiples."""
    return [
        data_batch(n, [Record(offset_delta=0, value=bytes([n % 251]) * (size + n % 7))])
        for n in range(count)
    ]


def other(batch: Batch, at: int = -1) -> Batch:
    """A batch of the same size with one other byte of its value."""
    (record,) = batch.records
    assert record.value is not None
    value = bytearray(record.value)
    value[at] ^= 1
    return replace(batch, records=(replace(record, value=bytes(value)),))


def streams(root: Path, one: list[Batch], two: list[Batch]) -> tuple[BatchStream, BatchStream]:
    cluster(root, {0: replica(one, base_offset=0), 1: replica(two, base_offset=0)})
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    left, right = (BatchStream(each, window_size=64 << 20) for each in directories)
    return left, right


@pytest.mark.parametrize("at", [0, 1, 15, 16, 17, 271, 272, 273, COUNT - 1])
def test_batches_are_equal_up_to_the_first_that_differs(tmp_path: Path, at: int) -> None:
    batches = log()
    changed = [*batches[:at], other(batches[at]), *batches[at + 1 :]]
    left, right = streams(tmp_path, batches, changed)
    for count in (0, 1, at, at + 1, COUNT):
        assert equal_batches(left, right, count) == min(at, count)
        assert equal_batches(right, left, count) == min(at, count)


def test_equal_logs_are_equal_to_the_end(tmp_path: Path) -> None:
    left, right = streams(tmp_path, log(), log())
    for count in (0, 1, 16, 17, COUNT):
        assert equal_batches(left, right, count) == count


def test_it_counts_from_the_current_batch_of_each_copy(tmp_path: Path) -> None:
    batches = log()
    changed = [*batches[:40], other(batches[40]), *batches[41:]]
    left, right = streams(tmp_path, batches, changed[3:])
    left.step(3)
    assert equal_batches(left, right, COUNT - 3) == 37
    left.step(38)
    right.step(38)
    assert equal_batches(left, right, COUNT - 41) == COUNT - 41


@pytest.mark.parametrize("byte", [0, 1, 7, 8, 100, -1])
def test_any_byte_of_a_large_batch_counts(tmp_path: Path, byte: int) -> None:
    """Blocks of 256 KiB are compared as words, and what is left over as bytes."""
    batches = log(size=(256 << 10) - 99, count=5)
    changed = [*batches[:3], other(batches[3], byte), batches[4]]
    left, right = streams(tmp_path, batches, changed)
    assert equal_batches(left, right, 5) == 3


def test_another_offset_or_size_is_another_batch(tmp_path: Path) -> None:
    batches = log(count=20)
    (record,) = batches[9].records
    longer = replace(batches[9], records=(replace(record, value=b"x" * 50),))
    left, right = streams(tmp_path / "size", batches, [*batches[:9], longer, *batches[10:]])
    assert equal_batches(left, right, 20) == 9
    left, right = streams(tmp_path / "offset", batches, [*batches[:9], *batches[10:]])
    assert equal_batches(left, right, 19) == 9
    moved = [*batches[:9], replace(batches[9], lies={"base_offset": 77}), *batches[10:]]
    left, right = streams(tmp_path / "header", batches, moved)
    assert equal_batches(left, right, 9) == 9
