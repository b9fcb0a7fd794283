"""Reads that are refused, with an error of one line that begins with [kafkalog]."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.spark.rows import failure

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.rows import Read

pytestmark = pytest.mark.spark


def test_a_misspelt_option_is_refused_at_load(read: Read) -> None:
    message = failure(lambda: read(startingOffset="earliest"))
    assert message == "no option named 'startingoffset'. Did you mean 'startingOffsets'?"


def test_a_value_that_makes_no_sense_is_refused_at_load(read: Read) -> None:
    message = failure(lambda: read(startingOffsets='{"orders": {"3": -7}}'))
    assert message == (
        'option startingOffsets: {"orders": {"3": -7}}: '
        "an offset is 0 or greater, -2 (earliest) or -1 (latest)"
    )


def test_a_table_that_is_not_there_is_refused_at_load(read: Read) -> None:
    assert failure(lambda: read(table="recrods")).startswith(
        "no table named 'recrods'. Did you mean 'records'?"
    )


def test_a_read_without_a_path_says_how_to_give_one(spark: SparkSession) -> None:
    assert failure(spark.read.format("kafkalog").load) == (
        'no path given: spark.read.format("kafkalog").load("/path/to/kafka-logs")'
    )


def test_a_topic_that_is_not_there_is_refused_with_the_nearest(read: Read, pushdown: bool) -> None:
    assert failure(read(subscribe="foked").collect) == (
        "no topic 'foked' in the given paths. Did you mean 'forked'?"
    )


def test_a_path_that_holds_nothing_of_kafkas_is_refused(read: Read, tmp_path: Path) -> None:
    assert failure(read(str(tmp_path)).collect).startswith(f"{tmp_path}: no log directory")
    assert "no such file" in failure(read(str(tmp_path / "missing")).collect)


@pytest.fixture
def damaged(evidence: Path, tmp_path: Path) -> Path:
    """A copy of ``broker-0`` with a flipped bit in the batch at offset 4 of ``lagging-0``."""
    copy = tmp_path / "broker-0"
    shutil.copytree(evidence / "broker-0", copy)
    segment = copy / "lagging-0" / f"{4:020d}.log"
    content = bytearray(segment.read_bytes())
    content[-1] ^= 0x10
    segment.write_bytes(content)
    return copy


def test_damage_is_an_error_that_says_where(read: Read, damaged: Path) -> None:
    message = failure(read(str(damaged)).collect)
    segment = damaged / "lagging-0" / f"{4:020d}.log"
    assert message.startswith(f"{segment} at position 0 (offset 4): ")
    assert "CRC" in message


@pytest.mark.parametrize("mode", ["permissive", "DROPMALFORMED"])
def test_the_rest_is_read_around_damage_on_request(read: Read, damaged: Path, mode: str) -> None:
    offsets = {row.offset for row in read(str(damaged), mode=mode, subscribe="lagging").collect()}
    assert offsets == {2, 3, 6, 7, 8, 9}


def test_damage_is_a_finding(read: Read, damaged: Path) -> None:
    rows = read(str(damaged), table="findings").where("code = 'KL-101'")
    assert [(row.partition, row.position, row.file) for row in rows.collect()] == [
        (0, 0, f"lagging-0/{4:020d}.log")
    ]


def test_records_that_are_missing_fail_the_read_unless_it_is_permissive(
    read: Read, evidence: Path, tmp_path: Path, pushdown: bool
) -> None:
    copy = shutil.copytree(evidence / "broker-0", tmp_path / "broker-0")
    gone = copy / "lagging-0" / f"{4:020d}.log"
    gone.unlink()
    assert failure(read(str(copy), subscribe="lagging").collect).startswith(
        f"{copy}/lagging-0/{0:020d}.log (offset 4): offsets 4 to 5 are missing"
    )
    shown = read(str(copy), subscribe="lagging", mode="PERMISSIVE").collect()
    assert sorted(row.offset for row in shown) == [2, 3, 6, 7, 8, 9]
