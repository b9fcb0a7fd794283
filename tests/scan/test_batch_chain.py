"""Runs of batches from files: window borders, and why a chain ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder.stored_messages import build_message
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.batch_chain import BatchChain
from kafkalog_reader.scan.batch_run import BatchRun
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


def with_length(entry: bytes, length: int) -> bytes:
    return entry[:8] + length.to_bytes(4, "big", signed=True) + entry[12:]


FIRST = BATCHES[0]
SIZE = len(FIRST)
OF_MAGIC_0 = build_message(b"key", b"value", magic=0)
OF_MAGIC_1 = build_message(b"key", b"value", magic=1, timestamp=1)


@pytest.mark.parametrize(
    ("tail", "problem", "skippable"),
    [
        (FIRST[:60], "torn batch: 60 bytes left", 0),
        (FIRST[:61], f"torn batch: 61 bytes left of {SIZE}", 0),
        (FIRST[:-1], f"torn batch: {SIZE - 1} bytes left of {SIZE}", 0),
        (bytes(500), "500 zero bytes to the end", 0),
        (with_length(FIRST, 48), "batch length 48, at least 49 expected", 0),
        (with_length(OF_MAGIC_0, 13), "batch length 13, at least 14 expected", 0),
        (with_length(OF_MAGIC_1, 21), "batch length 21, at least 22 expected", 0),
        (with_length(FIRST, -1), "batch length -1, at least 49 expected", 0),
        (
            with_length(FIRST, 2**31 - 12),
            "batch length 2147483636, at most 2147483635 expected",
            0,
        ),
        (FIRST[:16] + b"\x07" + FIRST[17:], "unknown magic 7, expected 0 to 2", SIZE),
        (FIRST[:16] + b"\xff" + FIRST[17:], "unknown magic -1, expected 0 to 2", SIZE),
        (FIRST[:16] + b"\x07" + FIRST[17:-1], "unknown magic 7, expected 0 to 2", 0),
        (FIRST[:16] + b"\x07" + FIRST[17:] + b"?", "unknown magic 7, expected 0 to 2", SIZE),
    ],
)
def test_the_problem_is_named_with_its_numbers(
    partition: Path, tail: bytes, problem: str, skippable: int
) -> None:
    """A file ends at 2^31 - 1; of the shortest entries, format/batch_fields.py has the lengths."""
    path = write_segment(partition, [*BATCHES, tail])
    scan = BatchChain(str(path), context=ReadContext())
    assert sum(run.count for run in scan.runs()) == 30
    assert (scan.problem, scan.skippable) == (problem, skippable)
    said = re.match(r"unknown magic (-?\d+),", problem)
    assert scan.magic == (None if said is None else int(said[1]))
    assert scan.stop == path.stat().st_size


@pytest.mark.parametrize(
    ("claimed", "problem"),
    [
        (65 << 20, "batch length 68,157,428: the CRC does not match that many bytes"),
        ((512 << 20) + 1, "batch length 536,870,901: at most 536,870,912 bytes are read"),
    ],
)
def test_a_length_of_many_windows_must_match_the_crc(
    partition: Path, claimed: int, problem: str
) -> None:
    path = write_segment(partition, [FIRST, with_length(BATCHES[1], claimed - 12)])
    with path.open("r+b") as file:
        file.truncate(SIZE + claimed)  # a hole
    scan = BatchChain(str(path), context=ReadContext())
    assert [run.count for run in scan.runs()] == [1]
    assert (scan.end, scan.problem) == (ScanEnd.IMPOSSIBLE_LENGTH, problem)
    assert scan.end_position == SIZE
    with path.open("r+b") as file:
        file.truncate(SIZE + claimed - 1)
    scan = BatchChain(str(path), context=ReadContext())
    assert [run.count for run in scan.runs()] == [1]
    assert scan.end is ScanEnd.TORN


@pytest.mark.parametrize(("last_offset", "next_offset"), [(89, 90), (MAX_OFFSET, MAX_OFFSET)])
def test_a_window_may_be_passed_over_as_a_whole(
    partition: Path, last_offset: int, next_offset: int
) -> None:
    path = write_segment(partition, BATCHES)
    scan = BatchChain(str(path), offer_windows=True, context=ReadContext())
    for found in scan:
        assert not isinstance(found, BatchRun)
        scan.pass_over(len(found.buffer), last_offset)
    assert (scan.next_offset, scan.end) == (next_offset, ScanEnd.COMPLETE)
    assert scan.end_position == path.stat().st_size


def test_what_follows_the_last_possible_offset_is_that_offset(partition: Path) -> None:
    last = MAX_OFFSET.to_bytes(8, "big") + batch(0, 1)[8:]
    scan = BatchChain(str(write_segment(partition, [last])), context=ReadContext())
    assert [run.last_offset.tolist() for run in scan.runs()] == [[MAX_OFFSET]]
    assert scan.next_offset == MAX_OFFSET


def test_a_part_of_a_file_is_a_chain(partition: Path) -> None:
    path = write_segment(partition, BATCHES)
    start, stop = (sum(map(len, BATCHES[:count])) for count in (2, 5))
    scan = BatchChain(str(path), start, stop, context=ReadContext())
    assert [run.base_offset.tolist() for run in scan.runs()] == [[6, 9, 12]]
    assert (scan.end, scan.end_position, scan.stop) == (ScanEnd.COMPLETE, stop, stop)
    torn = BatchChain(str(path), start, stop - 1, context=ReadContext())
    assert [run.base_offset.tolist() for run in torn.runs()] == [[6, 9]]
    assert torn.end is ScanEnd.TORN
