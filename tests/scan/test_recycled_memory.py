"""Memory is reused as soon as nothing refers to it, and not earlier."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kafkalog_reader.scan.recycled_memory import MAX_KEPT_BYTES, allocate, room_for
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def test_a_buffer_that_is_gone_lends_its_memory_to_the_next() -> None:
    first = allocate(12_345)
    address = first.address
    del first
    assert allocate(12_345).address == address


def test_a_slice_of_an_array_keeps_the_memory() -> None:
    buffer, numbers = room_for(np.int64, 1000)
    numbers[:] = 7
    kept = pa.Array.from_buffers(pa.int64(), 1000, [None, buffer]).slice(990)
    address = buffer.address
    del buffer, numbers
    gc.collect()
    others = [room_for(np.int64, 1000) for _ in range(20)]
    for _, other in others:
        other[:] = 9
    assert address not in {buffer.address for buffer, _ in others}
    assert kept.to_pylist() == [7] * 10


def test_a_numpy_view_keeps_the_memory() -> None:
    buffer, numbers = room_for(np.int64, 1000)
    numbers[:] = 7
    kept = numbers[5:10][::2]
    del buffer, numbers
    for _, other in [room_for(np.int64, 1000) for _ in range(20)]:
        other[:] = 9
    assert kept.tolist() == [7, 7, 7]


def test_giant_buffers_are_given_back_to_the_system() -> None:
    assert allocate(MAX_KEPT_BYTES + 1).size == MAX_KEPT_BYTES + 1


def test_record_batches_that_are_kept_are_not_overwritten_by_later_ones(tmp_path: Path) -> None:
    import kafkalog_reader

    for number in range(30):
        base_offset = 100 * number
        write_segment(tmp_path / "t-0", [batch(base_offset, 100)], base_offset=base_offset)
    kept = list(kafkalog_reader.open(str(tmp_path / "t-0")).table("records"))
    assert [(row["offset"], row["value"]) for found in kept for row in found.to_pylist()] == [
        (offset, b"v%d" % offset) for offset in range(3000)
    ]
