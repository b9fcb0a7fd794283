"""Index entries of a written segment, by the rules of Kafka's LogSegment#append."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kafkalog_reader.salvage.segment_file import INDEX_INTERVAL, MAX_INT, SegmentFile

if TYPE_CHECKING:
    from pathlib import Path

BASE = 1000


def written(
    folder: Path, batches: list[tuple[int, int, int]], *runs: int
) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]]]:
    """Size of the log and entries of both indexes after batches of size, last offset, timestamp.

    Args:
        folder: of the segment.
        batches: all of them.
        runs: numbers of batches per call; by default all in one.
    """
    segment = SegmentFile(folder, BASE)
    rest = batches
    for count in runs or (len(batches),):
        sizes, last, times = (np.array(column, np.int64) for column in zip(*rest[:count]))  # noqa: B905
        segment.append(np.zeros(sizes.sum(), np.uint8), sizes, last, times)
        rest = rest[count:]
    assert not rest
    segment.close()
    log, index, times_file = ((folder / name).read_bytes() for name in segment.names)
    assert segment.size == len(log)
    return (
        len(log),
        list(struct.iter_unpack(">ii", index)),
        list(struct.iter_unpack(">qi", times_file)),
    )


def test_names_are_of_twenty_digits_and_no_file_is_overwritten(tmp_path: Path) -> None:
    segment = SegmentFile(tmp_path, BASE)
    assert segment.names == [f"00000000000000001000.{k}" for k in ("log", "index", "timeindex")]
    with pytest.raises(FileExistsError):
        SegmentFile(tmp_path, BASE)
    segment.close()


@pytest.mark.parametrize("runs", [(), (1, 1, 1, 1, 1, 1, 1), (3, 4), (4, 3)])
def test_more_than_an_interval_goes_by_between_entries(
    tmp_path: Path, runs: tuple[int, ...]
) -> None:
    """Exactly 4,096 bytes are not enough: entries stand before the batches at 6,144 and 12,288."""
    half = INDEX_INTERVAL // 2
    batches = [(half, BASE + n, 100 + n) for n in range(7)]
    size, offsets, times = written(tmp_path, batches, *runs)
    assert size == 7 * half
    assert offsets == [(3, 3 * half), (6, 6 * half)]
    assert times == [(103, 3), (106, 6)]


def test_one_byte_more_than_the_interval_is_enough(tmp_path: Path) -> None:
    batches = [(INDEX_INTERVAL, BASE, 1), (100, BASE + 1, 1), (100, BASE + 2, 1)]
    assert written(tmp_path, batches)[1] == [(2, INDEX_INTERVAL + 100)]
    batches[0] = (INDEX_INTERVAL + 1, BASE, 1)
    (tmp_path / "other").mkdir()
    assert written(tmp_path / "other", batches)[1] == [(1, INDEX_INTERVAL + 1)]


@pytest.mark.parametrize("runs", [(), (1, 1, 1, 1), (2, 2)])
def test_time_entries_are_the_newest_so_far_and_the_first_batch_with_it(
    tmp_path: Path, runs: tuple[int, ...]
) -> None:
    large = INDEX_INTERVAL + 1
    batches = [
        (large, BASE, 50),
        (large, BASE + 5, 90),
        (large, BASE + 9, 90),
        (large, BASE + 11, 70),
    ]
    _, offsets, times = written(tmp_path, batches, *runs)
    assert [relative for relative, _ in offsets] == [5, 9, 11]
    assert times == [(90, 5)]


def test_closing_adds_the_newest_timestamp_unless_it_is_there(tmp_path: Path) -> None:
    assert written(tmp_path, [(100, BASE, 7), (100, BASE + 3, 8)])[2] == [(8, 3)]


def test_without_a_timestamp_there_is_no_time_entry(tmp_path: Path) -> None:
    assert written(tmp_path, [(100, BASE, -1)])[1:] == ([], [])


def test_offsets_and_positions_fit_into_31_bits(tmp_path: Path) -> None:
    segment = SegmentFile(tmp_path, BASE)
    last = np.array([BASE, BASE + MAX_INT, BASE + MAX_INT + 1])
    assert segment.room_for(last, np.array([1, 1, 1])) == 2
    assert segment.room_for(np.array([BASE] * 3), np.array([1, MAX_INT - 1, 1])) == 2
    segment.size = 1
    assert segment.room_for(np.array([BASE] * 3), np.array([1, MAX_INT - 1, 1])) == 1
    segment.close()
