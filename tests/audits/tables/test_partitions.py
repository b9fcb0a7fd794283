"""The tables ``partitions`` and ``findings`` in Python, in Spark and on the terminal."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from kafkalog_reader import registry
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITIES
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

AB = "a@0/e0 b@1/e0"


@pytest.fixture
def split(tmp_path: Path) -> Path:
    won = replica(f"{AB} f@2/e2 g@3/e2", epochs="0:0 2:2", high_watermark=4)
    lost = replica(f"{AB} c@2/e0 d@3/e0 e@4/e0", epochs="0:0", high_watermark=2)
    cluster(tmp_path, {0: lost, 1: won, 2: won})
    return tmp_path


def test_partition_row_of_s3_2(split: Path) -> None:
    (row,) = kafkalog_reader.open(str(split)).table("partitions").to_arrow().to_pylist()
    assert (row["topic"], row["partition"], row["brokers"], row["replicas"]) == (
        "t", 0, [0, 1, 2], 3,
    )  # fmt: skip
    assert (row["lowWatermark"], row["logEndOffset"], row["forkOffset"]) == (0, 5, 2)
    assert (row["highWatermarkLow"], row["highWatermarkHigh"]) == (4, 4)
    assert row["lastStableOffset"] == 4
    assert (row["greatestLeaderEpoch"], row["verdict"]) == (2, "forked")


@pytest.mark.parametrize("name", ["partitions", "findings"])
def test_units_pickle_and_rows_have_exactly_the_columns_requested(split: Path, name: str) -> None:
    table = registry.table(name)
    evidence = kafkalog_reader.open(str(split)).evidence
    request = ReadRequest(columns=(table.columns[3].name, table.columns[0].name))
    units = [pickle.loads(pickle.dumps(unit)) for unit in table.units(evidence, request)]
    rows = [batch for unit in units for batch in table.read(unit, request)]
    assert [batch.schema for batch in rows] == [table.projected(request)] * len(units)


def test_two_clusters_in_one_folder_are_two_partitions(tmp_path: Path) -> None:
    held = replica(AB, high_watermark=2)
    cluster(tmp_path / "one", {0: held})
    cluster(tmp_path / "two", {0: held}, cluster_id="EBESExQVFhcYGRobHB0eHw")
    rows = kafkalog_reader.open(str(tmp_path)).table("partitions").to_arrow().to_pylist()
    assert [row["replicas"] for row in rows] == [1, 1]
    assert len({row["clusterId"] for row in rows}) == 2


def test_findings_come_worst_first(split: Path) -> None:
    rows = kafkalog_reader.open(str(split)).table("findings").to_arrow().to_pylist()
    order = [SEVERITIES.index(row["severity"]) for row in rows]
    assert order == sorted(order)
    assert all(row["name"] == CATALOGUE[row["code"]].name for row in rows)


def test_sound_copies_have_no_finding_above_information(tmp_path: Path) -> None:
    cluster(tmp_path, dict.fromkeys(range(3), replica(AB, high_watermark=2)))
    rows = kafkalog_reader.open(str(tmp_path)).table("findings").to_arrow().to_pylist()
    assert {(row["code"], row["severity"]) for row in rows} == {
        ("KL-011", "I"),
        ("KL-501", "I"),
    }


def test_auditing_writes_nothing(split: Path) -> None:
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in split.rglob("*")}
    kafkalog_reader.open(str(split)).table("findings").to_arrow()
    assert {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in split.rglob("*")} == before
