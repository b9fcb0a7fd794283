from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import captures
from kafkalog_reader import registry
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.evidence import Evidence
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.io.window import Windows
from kafkalog_reader.tables.internal_topic import plain_rows
from kafkalog_reader.tables.log_shares import OPEN_COST
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.table import Column, Table, Unit
from spark_datasource.planning import PackedUnits, cut, pack, plan
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIB = 1 << 20
NOTHING = Evidence(roots=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch(Unit):
    name: str


class StretchesTable(Table[Unit]):
    """A table of stretches of given sizes, cut as requested."""

    name = "stretches"
    doc = ""
    columns = (Column("name", pa.string(), ""),)

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[Stretch]:
        for number, size in enumerate(self.sizes):
            for position in range(0, size or 1, request.max_partition_bytes):
                piece = min(request.max_partition_bytes, size - position)
                yield Stretch(size_in_bytes=piece, name=f"{number}:{position}")

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([[unit]], self.schema)


def names(planned: list[PackedUnits]) -> list[list[str]]:
    return [[unit.name for unit in packed.units] for packed in planned]


def test_small_units_share_a_task_and_keep_their_order() -> None:
    planned = plan(StretchesTable(*[MIB] * 6), NOTHING, ReadRequest(max_partition_bytes=4 * MIB))
    assert names(planned) == [["0:0", "1:0"], ["2:0", "3:0"], ["4:0", "5:0"]]


def test_a_unit_as_large_as_a_task_goes_alone() -> None:
    planned = plan(StretchesTable(1, 8 * MIB, 1), NOTHING, ReadRequest(max_partition_bytes=8 * MIB))
    assert names(planned) == [["0:0"], ["1:0"], ["2:0"]]


def test_empty_units_do_not_all_end_in_one_task() -> None:
    planned = plan(StretchesTable(*[0] * 1000), NOTHING, ReadRequest())
    assert {len(packed.units) for packed in planned[:-1]} == {128}


def test_units_of_many_tiny_partitions_do_not_share_a_task(tmp_path: Path) -> None:
    for number in range(1001):
        write_segment(tmp_path / f"t-{number}", [batch(0, 1)])
    evidence = discover([str(tmp_path)])
    for table, most in (("records", 128), ("gaps", 128), ("replicas", 250)):
        planned = plan(registry.table(table), evidence, ReadRequest())
        opened = [sum(unit.opened for unit in packed.units) for packed in planned]
        assert sum(opened) == 1001
        assert max(opened) <= most


@pytest.mark.parametrize("table", ["records", "segments", "replicas"])
def test_min_partitions_divides_small_segments_and_folders(tmp_path: Path, table: str) -> None:
    for number in range(40):
        write_segment(tmp_path / f"t-{number}", [batch(0, 1)])
    evidence = discover([str(tmp_path)])
    assert len(plan(registry.table(table), evidence, ReadRequest())) == 1
    planned = plan(registry.table(table), evidence, ReadRequest(), min_partitions=16)
    opened = [sum(unit.opened for unit in packed.units) for packed in planned]
    assert 16 <= len(opened) <= 20
    assert (sum(opened), max(opened)) == (40, 2)


def test_min_partitions_cuts_finer_where_it_can() -> None:
    planned = plan(StretchesTable(64 * MIB), NOTHING, ReadRequest(), min_partitions=8)
    assert 8 <= len(planned) <= 9
    assert sum(unit.size_in_bytes for packed in planned for unit in packed.units) == 64 * MIB


@pytest.mark.parametrize("table", sorted(registry.TABLES))
def test_min_partitions_do_not_change_the_rows(table: str) -> None:
    """A row of many records, such as where a group stands, needs all of them in one task."""
    evidence = discover([str(captures.path("everything/stopped"))])
    request = ReadRequest()

    def rows(min_partitions: int | None) -> list[str]:
        planned = plan(registry.table(table), evidence, request, min_partitions)
        read = registry.table(table).read
        found = (read(unit, request) for packed in planned for unit in packed.units)
        return sorted(str(row) for batches in found for each in batches for row in plain_rows(each))

    assert rows(1000) == rows(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Unit):
    """A unit that costs what it has, because another one has opened its file."""

    @property
    def opened(self) -> int:
        return 0


def test_a_task_is_filled_up_to_exactly_its_size() -> None:
    sizes = [3, 3, 4] * 2 + [1, 9, 1, 1]
    units = [Part(size_in_bytes=size) for size in sizes]
    packed = [[unit.size_in_bytes for unit in each] for each in pack(units, 10)]
    assert packed == [[3, 3, 4], [3, 3, 4], [1, 9], [1, 1]]


@pytest.mark.parametrize(
    ("sizes", "min_partitions", "asked"),
    [([10, 10], 2, [100]), ([11, 9], 2, [100, 10]), ([1, 1], 9, [100]), ([1, 0], 9, [100])],
)
def test_units_are_asked_for_again_only_where_one_is_too_large(
    sizes: list[int], min_partitions: int, asked: list[int]
) -> None:
    """And never units of no bytes."""
    found: list[int] = []

    def units_of(request: ReadRequest) -> list[Unit]:
        found.append(request.max_partition_bytes)
        return [Part(size_in_bytes=size) for size in sizes]

    cut(units_of, ReadRequest(max_partition_bytes=100), min_partitions)
    assert found == asked


def test_min_partitions_that_are_there_anyway_change_nothing() -> None:
    request = ReadRequest(max_partition_bytes=8 * MIB)
    table = StretchesTable(64 * MIB)
    assert plan(table, NOTHING, request, min_partitions=2) == plan(table, NOTHING, request)


@given(
    sizes=st.lists(st.integers(min_value=0, max_value=1 << 28), max_size=20),
    target=st.integers(min_value=1 << 22, max_value=1 << 40),
    min_partitions=st.none() | st.integers(min_value=1, max_value=50),
)
def test_every_unit_is_planned_once_and_no_task_is_too_large(
    sizes: list[int], target: int, min_partitions: int | None
) -> None:
    planned = plan(
        StretchesTable(*sizes), NOTHING, ReadRequest(max_partition_bytes=target), min_partitions
    )
    units = [unit for packed in planned for unit in packed.units]
    assert sum(unit.size_in_bytes for unit in units) == sum(sizes)
    assert len({unit.name for unit in units}) == len(units)
    for packed in planned:
        cost = sum(unit.size_in_bytes + OPEN_COST for unit in packed.units)
        assert len(packed.units) == 1 or 0 < cost <= target


def partition_of(folder: Path, sizes: list[int], *, is_indexed: bool) -> int:
    """Segments of so many batches of one size, which it returns in bytes."""
    offset = 100_000  # all offsets have as many digits
    for count in sizes:
        batches = [batch(offset + 3 * number) for number in range(count)]
        index = [*range(1, count, 3)] if is_indexed else None
        write_segment(folder / "t-0", batches, base_offset=offset, index=index)
        offset += 3 * count
    return len(batches[0])


@pytest.mark.parametrize("is_indexed", [True, False])
@pytest.mark.parametrize(
    "sizes",
    [[400], [115] * 4, [113] * 4, [150, 150, 150, 40], [225] * 3, [75, 144, 75, 75, 144] * 4],
    ids=[
        "one segment",
        "a task and a bit",
        "barely cut",
        "smaller end",
        "two tasks and a bit",
        "uneven",
    ],
)
def test_no_task_of_one_partition_is_much_larger_than_the_mean(
    tmp_path: Path, sizes: list[int], is_indexed: bool
) -> None:
    size = partition_of(tmp_path, sizes, is_indexed=is_indexed)
    request = ReadRequest(max_partition_bytes=100 * size)
    evidence = discover([str(tmp_path)])
    units = list(registry.table("records").units(evidence, request))
    costs = [unit.size_in_bytes for unit in units]
    assert sum(costs) == size * sum(sizes)
    assert max(costs) <= 1.5 * sum(costs) / len(costs)
    assert max(costs) <= 113 * size


@pytest.mark.parametrize("pieces", [10, 100])
def test_planning_reads_each_page_of_an_index_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: int
) -> None:
    size = partition_of(tmp_path, [1000], is_indexed=True)
    read: list[tuple[str, int]] = []
    whole = Windows.read

    def counted(windows: Windows, position: int, *arguments: int, **named: int) -> memoryview:
        read.append((windows.path[-6:], position))
        return whole(windows, position, *arguments, **named)

    monkeypatch.setattr(Windows, "read", counted)
    request = ReadRequest(max_partition_bytes=1000 * size // pieces)
    tasks = list(registry.table("records").units(discover([str(tmp_path)]), request))
    assert len(tasks) >= pieces
    assert sum(path == ".index" for path, _ in read) == 1  # 333 entries are one page


def test_a_task_carries_less_than_two_kilobytes(tmp_path: Path) -> None:
    size = partition_of(tmp_path, [1000], is_indexed=True)
    request = ReadRequest(max_partition_bytes=100 * size)
    tasks = list(registry.table("records").units(discover([str(tmp_path)]), request))
    assert len(tasks) >= 10
    assert max(len(pickle.dumps(task)) for task in tasks) < 2000


def test_what_a_task_carries_survives_pickling() -> None:
    packed = PackedUnits((Stretch(size_in_bytes=1, name="a"),))
    assert pickle.loads(pickle.dumps(packed)) == packed
