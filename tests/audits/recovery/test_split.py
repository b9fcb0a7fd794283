"""Segments whose offsets do not fit into the four bytes of an index entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import EPOCH_MILLIS, data_batch
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.rule import LogConfig
from kafkalog_reader.audits.recovery.segment import LoadingSegment
from kafkalog_reader.audits.recovery.split import split_segment
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.segment_files import SegmentFiles

if TYPE_CHECKING:
    from pathlib import Path

LAST = 2**31 - 1
"""The greatest relative offset, Integer.MAX_VALUE: Kafka 4.3, LocalLog#splitOverflowedSegment."""


def split(root: Path, offsets: list[int], times: list[int] | None = None) -> list[LoadingSegment]:
    built = [
        data_batch(offset, [Record(offset_delta=0, value=b"v")], base_timestamp=EPOCH_MILLIS + time)
        .build()
        for offset, time in zip(offsets, times or range(len(offsets)), strict=True)
    ]  # fmt: skip
    return parts_of(root, b"".join(built))


def parts_of(root: Path, content: bytes) -> list[LoadingSegment]:
    (root / f"{0:020}.log").write_bytes(content)
    parts, _, _ = split_segment(
        LoadingSegment(
            files=SegmentFiles(
                base_offset=0, suffix=None, directory=str(root), log_size=len(content),
                offset_index_size=None, time_index_size=None, transaction_index_size=None,
                modified_at=0,
            ),
            base_offset=0, start=0, stop=len(content), context=ReadContext(),
        ),
        LogConfig(),
        no_progress,
    )  # fmt: skip
    return parts


SIZE = len(data_batch(0, [Record(offset_delta=0, value=b"v")]).build())


def test_the_greatest_relative_offset_still_fits(tmp_path: Path) -> None:
    (part,) = split(tmp_path, [0, 5, LAST])
    assert (part.base_offset, part.start, part.stop) == (0, 0, 3 * SIZE)
    assert part.recovered is not None
    assert part.recovered.next_offset == LAST + 1


def test_one_more_begins_a_part_at_its_own_offset(tmp_path: Path) -> None:
    parts = split(tmp_path, [0, LAST + 1, LAST + 2])
    assert [(p.base_offset, p.start, p.stop) for p in parts] == [
        (0, 0, SIZE),
        (LAST + 1, SIZE, 3 * SIZE),
    ]
    assert [p.recovered.next_offset for p in parts if p.recovered] == [1, LAST + 3]


def test_an_offset_below_its_part_begins_another(tmp_path: Path) -> None:
    parts = split(tmp_path, [5, 7, 3])
    assert [(p.base_offset, p.start, p.stop) for p in parts] == [
        (5, 0, 2 * SIZE),
        (3, 2 * SIZE, 3 * SIZE),
    ]


def test_the_greatest_offset_of_a_part_need_not_be_its_last(tmp_path: Path) -> None:
    parts = split(tmp_path, [0, 4, 2, LAST + 9, LAST + 12, LAST + 10])
    found = [(p.recovered.next_offset, p.recovered.greatest_offset) for p in parts if p.recovered]
    assert found == [(3, 4), (LAST + 11, LAST + 12)]
    first, _ = split(tmp_path, [0, LAST + 1])
    assert first.recovered is not None
    assert first.recovered.greatest_offset == 0


def test_each_part_has_the_greatest_timestamp_of_its_own_batches(tmp_path: Path) -> None:
    parts = split(tmp_path, [0, 1, LAST + 1], times=[9, 4, 2])
    found = [p.recovered.greatest_timestamp - EPOCH_MILLIS for p in parts if p.recovered]
    assert found == [9, 2]


def test_a_part_without_timestamps_has_none(tmp_path: Path) -> None:
    """RecordBatch.NO_TIMESTAMP is -1, and no smaller one counts."""
    for time in (-1, -2, -100):
        (part,) = split(tmp_path, [0, 1], times=[time - EPOCH_MILLIS] * 2)
        assert part.recovered is not None
        assert part.recovered.greatest_timestamp == -1


def test_a_split_checks_no_checksum(tmp_path: Path) -> None:
    """LocalLog#splitOverflowedSegment copies batches as they are."""
    batches = [bytearray(data_batch(n, [Record(offset_delta=0, value=b"v")]).build())
               for n in (0, LAST + 1)]  # fmt: skip
    batches[0][-1] ^= 1
    parts = parts_of(tmp_path, b"".join(batches))
    assert [(p.base_offset, p.start, p.stop) for p in parts] == [
        (0, 0, SIZE),
        (LAST + 1, SIZE, 2 * SIZE),
    ]


def test_an_empty_segment_has_no_parts(tmp_path: Path) -> None:
    assert split(tmp_path, []) == []


def test_a_batch_beyond_its_own_base_cannot_be_split(tmp_path: Path) -> None:
    batch = bytearray(data_batch(0, [Record(offset_delta=0, value=b"v")]).build())
    batch[23:27] = (2**32 - 1).to_bytes(4, "big")  # lastOffsetDelta -1
    (tmp_path / f"{0:020}.log").write_bytes(batch)
    segment = LoadingSegment(
        files=SegmentFiles(
            base_offset=0, suffix=None, directory=str(tmp_path), log_size=len(batch),
            offset_index_size=None, time_index_size=None, transaction_index_size=None,
            modified_at=0,
        ),
        base_offset=0, start=0, stop=len(batch), context=ReadContext(),
    )  # fmt: skip
    with pytest.raises(StartFailure, match="offsets contradict themselves"):
        split_segment(segment, LogConfig(), no_progress)
