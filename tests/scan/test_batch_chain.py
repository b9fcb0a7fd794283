"""Runs of batches from files: window borders, and why a chain ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.batch_chain import BatchChain
from kafkalog_reader.scan.scan_end import ScanEnd
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

BATCHES = [batch(3 * n, 3, leader_epoch=n // 10) for n in range(30)]


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "orders-3"


@pytest.mark.parametrize("window_size", [1, 60, 61, 94, 95, 1000, 1 << 20])
def test_windows_of_any_size_give_the_same_batches(partition: Path, window_size: int) -> None:
    path = write_segment(partition, BATCHES)
    scan = BatchChain(str(path), window_size=window_size, context=ReadContext())
    found = [
        (int(position), int(offset), bytes(run.buffer[start : start + size]))
        for run in scan
        for position, offset, start, size in zip(
            run.position, run.base_offset, run.position - run.window_position, run.size_in_bytes,
            strict=True,
        )
    ]  # fmt: skip
    positions = [sum(map(len, BATCHES[:n])) for n in range(30)]
    assert found == [(positions[n], 3 * n, BATCHES[n]) for n in range(30)]
    assert (scan.end, scan.next_offset, scan.problem) == (ScanEnd.COMPLETE, 90, "")


@pytest.mark.parametrize("window_size", [1, 100, 1 << 20])
@pytest.mark.parametrize(
    ("tail", "end"),
    [
        (b"", ScanEnd.COMPLETE),
        (BATCHES[0][:1], ScanEnd.TORN),
        (BATCHES[0][:30], ScanEnd.TORN),
        (BATCHES[0][:-1], ScanEnd.TORN),
        (bytes(3), ScanEnd.TORN),
        (bytes(500), ScanEnd.ZEROS),
        (bytes(500) + b"\x01", ScanEnd.IMPOSSIBLE_LENGTH),
        (b"\xff" * 61, ScanEnd.IMPOSSIBLE_LENGTH),
        (BATCHES[0][:16] + b"\x07" + BATCHES[0][17:], ScanEnd.UNKNOWN_MAGIC),
    ],
)
def test_the_end_of_a_scan_has_a_reason_and_a_position(
    partition: Path, window_size: int, tail: bytes, end: Any
) -> None:
    path = write_segment(partition, [*BATCHES, tail])
    reported: list[int] = []
    scan = BatchChain(
        str(path), window_size=window_size, progress=reported.append, context=ReadContext()
    )
    assert sum(run.count for run in scan) == 30
    assert (scan.end, scan.end_position) == (end, sum(map(len, BATCHES)))
    assert bool(scan.problem) == (end is not ScanEnd.COMPLETE)
    assert sum(reported) == path.stat().st_size
