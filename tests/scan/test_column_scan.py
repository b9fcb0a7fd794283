"""Plain batches as columns without their bytes: where this way of reading ends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fixtures.builder.stored_messages import build_message
from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.batch_fields import (
    CONTROL_BIT,
    LOG_APPEND_TIME_BIT,
    TRANSACTIONAL_BIT,
)
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.read_rate import ReadRate
from kafkalog_reader.scan import column_scan
from kafkalog_reader.scan.column_scan import ColumnScan
from tests.tables.logs import T, batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def control(offset: int) -> bytes:
    return batch(offset, 1, flags=CONTROL_BIT | TRANSACTIONAL_BIT, producer_id=7)


def appended(offset: int) -> bytes:
    return batch(offset, 3, flags=LOG_APPEND_TIME_BIT, max_timestamp=T)


def message(offset: int) -> bytes:
    return build_message(b"key", b"value", offset=offset, magic=1, timestamp=T)


def test_columns_come_until_something_must_be_looked_at(tmp_path: Path) -> None:
    sound = [batch(3 * n) for n in range(4)]
    size = sum(map(len, sound))
    wrong = bytearray(batch(12))
    wrong[-1] ^= 1
    for last in (control(12), appended(12), message(12), bytes(wrong), batch(12)[:-9], bytes(70)):
        path = write_segment(tmp_path / "orders-3", [*sound, last, batch(15)])
        path.read_bytes()  # warm
        scan = ColumnScan(str(path), 0, path.stat().st_size, context=ReadContext())
        (run,) = scan
        assert run.base_offset.tolist() == [0, 3, 6, 9]
        assert scan.end_position == size


def test_a_batch_larger_than_the_room_is_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [batch(0), batch(3, 40), batch(43)]
    monkeypatch.setattr(column_scan, "_ROOM", len(batches[1]) - 1)
    path = write_segment(tmp_path / "orders-3", batches)
    scan = ColumnScan(str(path), 0, path.stat().st_size, context=ReadContext())
    assert [run.base_offset.tolist() for run in scan] == [[0]]
    monkeypatch.setattr(column_scan, "_ROOM", len(batches[1]))
    scan = ColumnScan(str(path), 0, path.stat().st_size, context=ReadContext())
    assert [run.base_offset.tolist() for run in scan] == [[0, 3, 43]]


def test_a_file_that_shrank_gives_what_it_still_has(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-3", [batch(3 * n) for n in range(9)])
    size = path.stat().st_size
    scan = ColumnScan(str(path), 0, 2 * size, context=ReadContext())
    assert [run.count for run in scan] == [9]
    assert scan.end_position == size


def test_columns_do_not_pass_a_limit_of_the_read_rate_by(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-3", [batch(0)])
    limited = ReadContext(rate=ReadRate(1 << 20))
    assert list(ColumnScan(str(path), 0, path.stat().st_size, context=limited)) == []


def columns(path: Path, start: int, stop: int) -> tuple[list[int], int]:
    """The base offsets that come, and where the scan ends."""
    scan = ColumnScan(str(path), start, stop, context=ReadContext())
    bases = [run.base_offset for run in scan]
    assert all(len(each) for each in bases)
    return [int(base) for each in bases for base in each], scan.end_position


def test_a_part_of_a_segment_is_read_from_its_first_to_its_last_byte(tmp_path: Path) -> None:
    batches = [batch(3 * n) for n in range(5)]
    path = write_segment(tmp_path / "orders-3", batches)
    borders = np.cumsum([0, *map(len, batches)]).tolist()
    assert columns(path, borders[1], borders[4]) == ([3, 6, 9], borders[4])
    assert columns(path, borders[1], borders[4] - 1) == ([3, 6], borders[3])
    assert columns(path, borders[2], borders[2]) == ([], borders[2])


EQUALLY_LONG = [batch(12 + 3 * n) for n in range(10)]


@pytest.mark.parametrize("at_once", [-1, 0, 1])
def test_it_goes_on_where_one_call_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """One call reads three batches and a part of the next, or exactly three, or not quite."""
    batches = EQUALLY_LONG
    monkeypatch.setattr(column_scan, "_AT_ONCE", 3 * len(batches[0]) + at_once)
    path = write_segment(tmp_path / "orders-3", batches)
    size = path.stat().st_size
    assert columns(path, 0, size) == ([*range(12, 42, 3)], size)


def test_it_ends_before_pages_that_are_not_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads those also evicts them again; what cachestat(2) says is not at hand here."""
    batches = EQUALLY_LONG
    size = len(batches[0])
    asked = []

    def cold(descriptor: int, start: int, stop: int) -> list[tuple[int, int]]:
        asked.append((start, stop))
        assert os.fstat(descriptor).st_size == path.stat().st_size
        return [(5 * size, 6 * size)] if start <= 5 * size < stop else []

    monkeypatch.setattr(column_scan, "_AT_ONCE", 2 * size)
    monkeypatch.setattr(column_scan, "cold_ranges", cold)
    path = write_segment(tmp_path / "orders-3", batches)
    assert columns(path, 0, path.stat().st_size) == ([12, 15, 18, 21], 4 * size)
    assert asked == [(0, 2 * size), (2 * size, 4 * size), (4 * size, 6 * size)]


def test_a_file_that_cannot_be_opened_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"gone\.log"):
        list(ColumnScan(str(tmp_path / "gone.log"), 0, 100, context=ReadContext()))
