"""How records and batches are divided into units of work."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from kafkalog_reader import registry
from kafkalog_reader.tables.log_shares import MAX_SEGMENTS
from kafkalog_reader.tables.log_unit import LogUnit, slices_of
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import batch, offsets, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def _units(path: Path, request: ReadRequest) -> list[LogUnit]:
    evidence = kafkalog_reader.open(str(path)).evidence
    return [unit for unit in RecordsTable().units(evidence, request) if isinstance(unit, LogUnit)]


def test_opening_a_segment_counts_as_work(tmp_path: Path) -> None:
    for partition in range(300):
        write_segment(tmp_path / f"t-{partition}", [batch(0)])
    units = _units(tmp_path, ReadRequest())
    assert [len(unit.slices) for unit in units] == [127, 127, 46]  # a MiB each, and its bytes


def test_a_reader_that_cuts_nothing_has_units_all_the_same(tmp_path: Path) -> None:
    for partition in range(MAX_SEGMENTS + 1):
        write_segment(tmp_path / f"t-{partition}", [batch(0)])
    units = _units(tmp_path, ReadRequest(max_partition_bytes=1 << 60))
    assert [len(unit.slices) for unit in units] == [MAX_SEGMENTS, 1]


def test_one_reader_cuts_no_segment_unless_asked_to(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", [batch(0), batch(3)])
    with path.open("ab") as log:
        log.truncate(ReadRequest().max_partition_bytes * 3)  # sparse: larger than Spark's pieces
    uncut = _units(tmp_path, registry.request(RecordsTable()))
    assert [unit.size_in_bytes for unit in uncut] == [path.stat().st_size]
    cut = _units(tmp_path, registry.request(RecordsTable(), max_partition_bytes=len(batch(0))))
    assert cut[0].size_in_bytes == len(batch(0))


def test_segments_that_are_read_one_after_another_are_not_cut(tmp_path: Path) -> None:
    batches = [batch(0), batch(3), batch(6), batch(9)]
    first = write_segment(tmp_path / "t-0", batches[:2], index=[1])
    last = write_segment(tmp_path / "t-0", batches[2:], base_offset=6)
    request = ReadRequest(max_partition_bytes=len(batches[-1]), to_offset=8)
    (directory,) = kafkalog_reader.open(str(tmp_path)).evidence.partition_directories(request)
    found = [
        (each.path, each.start, each.stop, each.is_log_end)
        for each in slices_of(directory, request)
    ]
    assert found == [
        (str(first), 0, first.stat().st_size, False),
        (str(last), 0, last.stat().st_size, True),
    ]
    units = _units(tmp_path, request)
    assert [each.size_in_bytes for each in units] == list(map(len, batches))
    assert [each.slices[0].is_log_end for each in units] == [False, False, False, True]


@pytest.mark.parametrize("is_indexed", [True, False])
def test_what_follows_the_last_offset_is_not_planned(tmp_path: Path, is_indexed: bool) -> None:
    batches = [batch(100 * number, 100) for number in range(500)]
    index = [*range(1, 500, 2)] if is_indexed else None
    log = write_segment(tmp_path / "t-0", batches, index=index)
    assert log.stat().st_size > 2 << 19
    for to_offset, last in [(20_000, 201), (20_001, 201), (20_100, 201), (20_101, 203)]:
        (unit,) = _units(tmp_path, ReadRequest(to_offset=to_offset))
        # Batch 200 has offset 20,000; entries name every second batch from batch 1 on.
        assert unit.size_in_bytes == sum(map(len, batches[: last if is_indexed else None]))
        assert offsets(tmp_path, to_offset=to_offset) == list(range(to_offset))


def test_an_entry_that_names_no_batch_above_the_last_offset_is_not_believed(tmp_path: Path) -> None:
    batches = [batch(100 * number, 100) for number in range(500)]
    log = write_segment(tmp_path / "t-0", batches, index=[*range(1, 500, 2)])
    entries = bytearray(log.with_suffix(".index").read_bytes())
    for number in range(90, 250):  # offsets of much later batches
        offset, position = struct.unpack_from(">ii", entries, 8 * number)
        struct.pack_into(">ii", entries, 8 * number, offset + 20_000, position)
    log.with_suffix(".index").write_bytes(entries)
    assert offsets(tmp_path, to_offset=36_000) == list(range(36_000))
