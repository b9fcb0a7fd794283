"""How records and batches are divided into units of work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kafkalog_reader
from kafkalog_reader import registry
from kafkalog_reader.tables.log_unit import MAX_SLICES, LogUnit
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def _units(path: Path, request: ReadRequest) -> list[LogUnit]:
    evidence = kafkalog_reader.open(str(path)).evidence
    return [unit for unit in RecordsTable().units(evidence, request) if isinstance(unit, LogUnit)]


def test_tiny_partitions_are_spread_over_several_units(tmp_path: Path) -> None:
    for partition in range(MAX_SLICES + 1):
        write_segment(tmp_path / f"t-{partition}", [batch(0)])
    units = _units(tmp_path, ReadRequest())
    assert sorted(len(unit.slices) for unit in units) == [1, MAX_SLICES]


def test_one_reader_cuts_no_segment_unless_asked_to(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", [batch(0), batch(3)])
    with path.open("ab") as log:
        log.truncate(ReadRequest().max_partition_bytes * 3)  # sparse: larger than Spark's pieces
    uncut = _units(tmp_path, registry.request(RecordsTable()))
    assert [unit.size_in_bytes for unit in uncut] == [path.stat().st_size]
    cut = _units(tmp_path, registry.request(RecordsTable(), max_partition_bytes=len(batch(0))))
    assert cut[0].size_in_bytes == len(batch(0))
