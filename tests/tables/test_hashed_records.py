"""Records of batches as hashes: equal for equal records, whatever the batch around them is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record, RecordHeader
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.scan import CHAIN, Scan
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.hashed_records import NO_RECORDS, hashed_records, joined_records
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.tables.hashed_records import HashedRecords

FIRST = Record(offset_delta=0, timestamp_delta=5, key=b"k", value=b"v")
SECOND = Record(offset_delta=1, timestamp_delta=7, key=None, value=b"")


def batch(*records: Record, **more: object) -> Batch:
    given: dict[str, object] = {"leader_epoch": 3, "base_timestamp": 1000, **more}
    return data_batch(10, records or (FIRST, SECOND), **given)  # type: ignore[arg-type]


def hashed(root: Path, *batches: Batch) -> HashedRecords | None:
    cluster(root, {0: replica([*batches], base_offset=0)})
    ((_, (directory,)),) = discover([str(root)]).topic_partitions(ReadRequest())
    (segment,) = segments(directory)
    (run,) = Scan(segment, CHAIN, context=directory.context).runs()
    return hashed_records(run, SegmentSlice.whole(directory, segment))


def test_each_record_has_its_offset_and_leader_epoch(tmp_path: Path) -> None:
    later = replace(batch(), base_offset=20, leader_epoch=4)
    found = hashed(tmp_path, batch(), later)
    assert found is not None
    assert found.offset.tolist() == [10, 11, 20, 21]
    assert found.leader_epoch.tolist() == [3, 3, 4, 4]
    assert found.content[:2].tolist() == found.content[2:].tolist()
    assert found.since(11).offset.tolist() == [11, 20, 21]


def test_codec_and_base_timestamp_make_no_difference(tmp_path: Path) -> None:
    moved = [replace(each, timestamp_delta=each.timestamp_delta + 9) for each in (FIRST, SECOND)]
    plain = hashed(tmp_path / "plain", batch())
    other = hashed(tmp_path / "other", batch(*moved, base_timestamp=991, codec=Codec.GZIP))
    assert plain is not None
    assert other is not None
    assert plain.content.tolist() == other.content.tolist()


@pytest.mark.parametrize(
    "changed",
    [
        {"key": None},
        {"key": b""},
        {"value": b"w"},
        {"timestamp_delta": 6},
        {"headers": (RecordHeader(key="h", value=None),)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_each_part_of_a_record_makes_a_difference(
    changed: dict[str, object], tmp_path: Path
) -> None:
    plain = hashed(tmp_path / "plain", batch())
    other = hashed(tmp_path / "other", batch(replace(FIRST, **changed), SECOND))  # type: ignore[arg-type]
    assert plain is not None
    assert other is not None
    assert [*(plain.content == other.content)] == [False, True]


@pytest.mark.parametrize("flags", [0, 7], ids=["a_wrong_count", "an_unknown_codec"])
def test_what_cannot_be_decoded_is_none(flags: int, tmp_path: Path) -> None:
    lies = {} if flags else {"records_count": 3}
    assert hashed(tmp_path, replace(batch(), flags=flags, lies=lies)) is None


def test_no_parts_are_no_records() -> None:
    assert joined_records([]).offset.tolist() == NO_RECORDS.offset.tolist() == []
