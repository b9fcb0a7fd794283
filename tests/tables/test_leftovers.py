"""Records of leftovers are shown when they are asked for, and say what they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.errors import OptionError
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

LIVE = [(None, 0, b"a"), (None, 1, b"b"), (None, 2, b"c")]


def batch(offset: int, value: bytes) -> Batch:
    return data_batch(offset, [Record(offset_delta=0, value=value)])


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """The folder of t-0 on broker 0, with three records in one segment."""
    log = [batch(offset, value) for _, offset, value in LIVE]
    cluster(tmp_path, {0: replica(log, high_watermark=3)})
    return tmp_path / "broker-0" / "t-0"


def rows(partition: Path, **options: Any) -> list[tuple[str | None, int, bytes]]:
    scan = kafkalog_reader.open(str(partition.parent.parent)).records(topic="t", **options)
    shown = scan.select("leftover", "offset", "value").to_arrow().to_pylist()
    return [(row["leftover"], row["offset"], row["value"]) for row in shown]


@pytest.mark.parametrize("suffix", ["deleted", "cleaned"])
def test_renamed_segments_are_behind_the_log(suffix: str, partition: Path) -> None:
    (partition / f"{7:020d}.log.{suffix}").write_bytes(
        batch(7, b"h").build() + batch(8, b"i").build()
    )
    assert rows(partition) == LIVE
    more = [(f".{suffix}", 7, b"h"), (f".{suffix}", 8, b"i")]
    assert rows(partition, leftovers=True) == LIVE + more
    assert rows(partition, leftovers=True, replica="broker:0", from_offset=8) == more[1:]
    assert rows(partition, leftovers=True, from_offset=2, to_offset=8) == [LIVE[2], more[0]]
    assert rows(partition, leftovers=True, to_offset=3) == LIVE


@pytest.mark.parametrize("state", ["delete", "stray"])
def test_folders_that_no_broker_serves(state: str, partition: Path) -> None:
    partition.rename(partition.with_name(f"t-0.{'0' * 32}-{state}"))
    assert rows(partition) == []
    assert rows(partition, leftovers=True) == [
        (f"-{state}", offset, value) for _, offset, value in LIVE
    ]


def test_a_swap_is_part_of_the_log_and_what_it_replaces_is_not(partition: Path) -> None:
    """LogLoader makes a log of the new segment and deletes the old ones in its range."""
    (partition / f"{0:020d}.log.swap").write_bytes(batch(2, b"c").build())
    log = [(".swap", 2, b"c")]
    assert rows(partition) == log
    old = [("replaced", offset, value) for _, offset, value in LIVE]
    assert rows(partition, leftovers=True) == log + old


def test_a_swap_that_a_start_deletes_is_a_leftover(partition: Path) -> None:
    """LogLoader deletes swap files from the first cleaned one on: the old segments are whole."""
    for suffix in ("cleaned", "swap"):
        (partition / f"{0:020d}.log.{suffix}").write_bytes(batch(2, b"c").build())
    assert rows(partition) == LIVE
    more = [(".cleaned", 2, b"c"), (".swap", 2, b"c")]
    assert rows(partition, leftovers=True) == LIVE + more


def test_leftovers_of_all_copies_or_of_one_broker(partition: Path, tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica([batch(0, b"a")], high_watermark=1)})
    (tmp_path / "broker-1" / "t-0" / f"{7:020d}.log.deleted").write_bytes(batch(7, b"h").build())
    assert rows(partition, leftovers=True, replica="best")[-1] == (".deleted", 7, b"h")
    assert rows(partition, leftovers=True, replica="broker:0") == LIVE
    assert rows(partition, leftovers=True, replica="broker:1")[-1] == (".deleted", 7, b"h")


@pytest.mark.parametrize(
    "option", [{"last": 1}, {"isolation": "read_committed"}, {"until": "highWatermark"}], ids=str
)
def test_what_only_a_log_can_answer_is_refused(partition: Path, option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="part of no log"):
        rows(partition, leftovers=True, **option)
