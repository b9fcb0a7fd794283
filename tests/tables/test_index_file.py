"""Index files as whole entries, without the zeros of preallocation."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY, TIME_INDEX_ENTRY
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.tables import index_file
from kafkalog_reader.tables.index_file import in_file_order, read_entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]

OFFSETS = "00000000000000000000.index"
TIMES = "00000000000000000000.timeindex"
ABORTED = "00000000000000000000.txnindex"


def offset_entries(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">ii", *entry) for entry in entries)


def test_zeros_of_preallocation_are_not_entries(tmp_path: Path, rows_of: Rows) -> None:
    log = replica("0-9/e0 10-19/e0 20-29/e0", index_interval=1, preallocated=10_485_760)
    root = cluster(tmp_path, {1: log})[1]
    assert (root / "t-0" / OFFSETS).stat().st_size == 10_485_760
    assert (root / "t-0" / TIMES).stat().st_size == 10_485_756
    assert [row["offset"] for row in rows_of("offset_index", root)] == [19, 29]
    assert [row["offset"] for row in rows_of("time_index", root)] == [19, 29]
    (root / "t-0" / OFFSETS).write_bytes(bytes(4096))
    assert rows_of("offset_index", root) == []


def test_zero_entry_before_others_is_one(small_partition: Path, rows_of: Rows) -> None:
    (small_partition / OFFSETS).write_bytes(offset_entries((0, 0), (5, 166)))
    rows = rows_of("offset_index", small_partition)
    assert [(row["entry"], row["offset"]) for row in rows[:2]] == [(0, 0), (1, 5)]


def test_entry_cut_short_is_left_out_with_a_warning(
    small_partition: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    path = small_partition / ABORTED
    path.write_bytes(path.read_bytes() + b"\0\0\1")
    assert len(rows_of("transaction_index", small_partition)) == 1
    assert f"{path} at position 34: entry cut short" in caplog.text


def test_index_of_a_tebibyte_of_zeros_has_its_entries_only(
    small_partition: Path, rows_of: Rows
) -> None:
    import os

    os.truncate(small_partition / OFFSETS, 1 << 30)
    assert len(rows_of("offset_index", small_partition)) == 5


def entries_of(path: Path, content: bytes) -> tuple[list[tuple[int, list[Any]]], int]:
    """The parts of a file with the number of their first entry, and the bytes counted."""
    file = path / OFFSETS
    file.write_bytes(content)
    counted: list[int] = []
    parts = read_entries(str(file), OFFSET_INDEX_ENTRY, counted.append, ReadContext())
    return [(first, part.tolist()) for first, part in parts], sum(counted)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(bytes(80), [], id="zeros"),
        pytest.param(offset_entries((5, 6)), [(5, 6)], id="one"),
        pytest.param(offset_entries((5, 6), (7, 0)) + bytes(16), [(5, 6), (7, 0)], id="zero_tail"),
        pytest.param(offset_entries((0, 0), (0, 1)), [(0, 0), (0, 1)], id="zero_entry_before"),
        pytest.param(offset_entries((1 << 24, 0)) + bytes(7), [(1 << 24, 0)], id="first_byte"),
        pytest.param(offset_entries((5, 6)) + b"\1" * 7, [(5, 6)], id="cut_short"),
    ],
)
def test_used_entries_are_read(
    tmp_path: Path, content: bytes, expected: list[tuple[int, int]]
) -> None:
    parts, counted = entries_of(tmp_path, content)
    assert parts == ([(0, expected)] if expected else [])
    assert counted == 8 * len(expected)


def test_many_entries_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "ENTRIES_AT_ONCE", 2)
    stored = [(number, number) for number in range(1, 6)]
    parts, counted = entries_of(tmp_path, offset_entries(*stored))
    assert parts == [(0, stored[:2]), (2, stored[2:4]), (4, stored[4:])]
    assert counted == 40


def test_entries_across_windows_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "_WINDOW_SIZE", 20)
    stored = [(1 << 40 | number, number) for number in range(1, 9)]
    path = tmp_path / TIMES
    path.write_bytes(b"".join(struct.pack(">qi", *entry) for entry in stored) + bytes(60))
    ((first, part),) = read_entries(str(path), TIME_INDEX_ENTRY, lambda _: None, ReadContext())
    assert (first, part.tolist()) == (0, stored)


def test_answers_of_sorted_entries_return_to_the_order_of_the_file() -> None:
    order = np.array([2, 0, 1])
    answers = in_file_order(np.array([True, False, True]), np.array([True, True, False]), order)
    assert answers.to_pylist() == [False, None, True]
