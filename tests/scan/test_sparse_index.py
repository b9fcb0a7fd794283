"""Offset indexes as hints; an entry has relative offset and position (Kafka's OffsetIndex)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASE = 100


@pytest.fixture
def index(tmp_path: Path) -> Callable[..., SparseIndex]:
    """The index of segment 100 with entries of (relative offset, position)."""

    def written(*entries: tuple[int, int]) -> SparseIndex:
        directory = tmp_path / "t-0"
        directory.mkdir()
        (directory / f"{BASE:020}.log").write_bytes(b"")
        content = b"".join(struct.pack(">ii", *entry) for entry in entries)
        (directory / f"{BASE:020}.index").write_bytes(content)
        (found,) = discover([str(directory)]).partition_directories(ReadRequest())
        (segment,) = segments(found)
        return SparseIndex(segment, context=ReadContext())

    return written


def test_entries_name_absolute_offsets(index: Callable[..., SparseIndex]) -> None:
    found = index((5, 4096), (11, 8200))
    assert [found[number] for number in range(len(found))] == [(105, 4096), (111, 8200)]


def test_preallocated_zeros_are_not_entries(index: Callable[..., SparseIndex]) -> None:
    assert len(index((5, 4096), (11, 8200), (0, 0), (0, 0), (0, 0))) == 2


def test_negative_values_of_damage_count_as_unsigned(index: Callable[..., SparseIndex]) -> None:
    assert index((-1, -2))[0] == (BASE + 0xFFFF_FFFF, 0xFFFF_FFFE)


@pytest.mark.parametrize(
    ("offset", "number"), [(104, -1), (105, -1), (106, 0), (111, 0), (112, 1), (1 << 40, 1)]
)
def test_the_last_entry_below_an_offset(
    index: Callable[..., SparseIndex], offset: int, number: int
) -> None:
    assert index((5, 4096), (11, 8200), (0, 0)).last_below_offset(offset) == number


@pytest.mark.parametrize(
    ("position", "number"), [(0, -1), (4095, -1), (4096, 0), (8199, 0), (8200, 1), (9000, 1)]
)
def test_the_last_entry_up_to_a_position(
    index: Callable[..., SparseIndex], position: int, number: int
) -> None:
    assert index((5, 4096), (11, 8200), (0, 0)).last_up_to_position(position) == number
