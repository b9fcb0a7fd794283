"""Client records of a range of offsets, counted one by one in logs of known content."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, data_batch, marker_batch, parse_log, replica
from kafkalog_reader.audits.log.record_count import (
    behind_text,
    count_records,
    cut_text,
    first_batch_cut,
    hidden_offsets,
    records_text,
    up_to_text,
)
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fixtures.builder import Batch
    from kafkalog_reader.io.directories import PartitionDirectory

MARKER = marker_batch(10, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0)
CLEANED = data_batch(11, [Record(offset_delta=n, value=b"v") for n in (0, 2, 5)])
"""Compaction left offsets 11, 13 and 16 of 11 to 16."""
LOG = [*parse_log("0-3/e0 4-9/e0"), MARKER, CLEANED, *parse_log("20-21/e0")]
HELD = [*range(10), 11, 13, 16, 20, 21]


def written(root: Path, log: Sequence[Batch], **fields: Any) -> PartitionDirectory:
    cluster(root, {1: replica(log, **fields)})
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    return directory


@pytest.mark.parametrize("segment_bytes", [1, 1 << 20], ids=["a_segment_each", "one_segment"])
def test_every_range_has_the_records_in_it(tmp_path: Path, segment_bytes: int) -> None:
    directory = written(tmp_path, LOG, segment_bytes=segment_bytes)
    for first in range(24):
        for following in range(first, 24):
            expected = sum(first <= offset < following for offset in HELD)
            assert count_records(directory, first, following) == expected, (first, following)


def test_a_count_that_is_damaged_is_at_most_the_offsets_of_the_range(tmp_path: Path) -> None:
    """The records of 11 to 16 cannot be decoded, so that the header's count of 3 is all there is.

    Of the two offsets 15 and 16 there are two at most.
    """
    wrong = replace(CLEANED, lies={"attributes": 1})  # it is not compressed with gzip
    directory = written(tmp_path, [*LOG[:3], wrong])
    assert count_records(directory, 12, 17) == 3
    assert count_records(directory, 15, 17) == 2
    assert count_records(directory, 15, 30) == 2
    negative = replace(CLEANED, lies={"attributes": 1, "records_count": -5})
    directory = written(tmp_path / "negative", [*LOG[:3], negative])
    assert count_records(directory, 12, 17) == 0


def region(path: str, start: int, stop: int, first: int | None, following: int | None) -> Any:
    return UnreadableRegion(
        file=path, start=start, stop=stop, first_offset=first, next_offset=following,
        end=ScanEnd.WRONG_CRC, problem="",
    )  # fmt: skip


def test_what_a_header_in_unreadable_bytes_says_does_not_count(tmp_path: Path) -> None:
    directory = written(tmp_path, LOG)
    path = f"{directory.path}/{0:020}.log"
    first, second = (len(each.build()) for each in LOG[:2])
    assert count_records(directory, 0, 10) == 10
    inside = region(path, first, first + second, 4, 10)
    assert count_records(directory, 0, 10, [inside]) == 4
    assert count_records(directory, 0, 10, [replace(inside, start=first + 1)]) == 10
    assert count_records(directory, 0, 10, [replace(inside, stop=first + 1)]) == 4
    assert count_records(directory, 0, 10, [replace(inside, stop=first)]) == 10
    assert count_records(directory, 0, 10, [replace(inside, file="/elsewhere.log")]) == 10
    everything = region(path, 0, 1 << 20, 0, 30)
    assert count_records(directory, 0, 30, [everything]) == 0


@pytest.mark.parametrize("segment_bytes", [1, 1 << 20])
@pytest.mark.parametrize(
    ("target", "base"),
    [(0, 0), (3, 0), (4, 4), (9, 4), (10, 10), (11, 11), (16, 11), (17, 20), (21, 20), (22, None)],
)
def test_a_truncation_removes_the_batch_that_reaches_its_target(
    tmp_path: Path, segment_bytes: int, target: int, base: int | None
) -> None:
    """LocalLog#truncateTo cuts before the first batch whose last offset is the target or above."""
    assert first_batch_cut(written(tmp_path, LOG, segment_bytes=segment_bytes), target) == base


@pytest.mark.parametrize(
    ("bases", "target", "base"),
    [
        pytest.param([0, 4, 100, 12, 16], 13, 8, id="the_high_one_reaches_the_target"),
        pytest.param([0, 4, 100, 12, 16], 5, 4, id="the_high_one_is_behind"),
        pytest.param([0, 4, 8, 1, 16], 9, 8, id="the_low_one_is_behind"),
        pytest.param([0, 4, 8, 1, 16], 13, 16, id="the_low_one_is_passed_over"),
        pytest.param([100, 4, 8, 12, 16], 13, 100, id="nothing_is_before_the_high_one"),
    ],
)
def test_a_truncation_finds_its_batch_in_the_order_of_the_file(
    tmp_path: Path, bases: list[int], target: int, base: int
) -> None:
    """LogSegment#truncateTo, FileRecords#searchForOffset: batches of four, one offset is wrong."""
    log = [data_batch(n, [Record(offset_delta=d, value=b"v") for d in range(4)]) for n in bases]
    assert first_batch_cut(written(tmp_path, log), target) == base


def test_hidden_offsets_are_those_between_known_ones_in_order() -> None:
    spans = [(7, 9), (None, 3), (4, None), (5, 5), (6, 5), (1, 2)]
    assert hidden_offsets([region("f", 0, 1, *span) for span in spans]) == ((1, 2), (7, 9))


def test_texts_are_in_the_singular_and_in_the_plural() -> None:
    assert records_text(1) == "1 record"
    assert records_text(0) == "0 records"
    assert records_text(2118) == "2,118 records"
    assert behind_text(2) == "is 2 records behind"
    assert behind_text(1, 2) == "are 1 record behind"
    assert behind_text(0) == "lacks only transaction markers"
    assert behind_text(0, 2) == "lack only transaction markers"
    assert up_to_text("2 records", 0) == "2 records"
    assert up_to_text("2 records", 1000) == "2 records and up to 1,000 in damaged batches"


@pytest.mark.parametrize(
    ("cut", "text"),
    [
        ((2, 0, 0, 99), "2 records"),
        ((2, 3, 4, 99), "2 records and up to 3 in damaged batches"),
        ((0, 3, 4, 99), "up to 3 records in damaged batches"),
        ((0, 0, 4, 1099), "1,099 bytes at the tail that hold no whole record (up to 4 records)"),
        ((0, 0, 0, 99), "99 bytes at the tail that hold no whole record"),
        (
            (0, 0, 4, 1099, 3),
            "1,099 bytes at the tail, an unfinished batch with 3 records of 4 still whole",
        ),
    ],
)
def test_what_is_cut_is_said_by_what_it_holds(cut: tuple[int, ...], text: str) -> None:
    assert cut_text(*cut) == text
