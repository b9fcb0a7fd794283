"""Entries of time indexes, and whether the log confirms them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.time_index import confirm_time_entries
from tests.format.vectors import LEGACY_V0
from tests.tables.logs import slice_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]

TIMES = "00000000000000000000.timeindex"


def time_entries(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">qi", *entry) for entry in entries)


@pytest.mark.parametrize(
    ("entry", "is_confirmed", "why"),
    [
        ((2, 5), True, "last offset of the batch, from 3.8 on"),
        ((2, 4), True, "an offset inside the batch, up to 3.7"),
        ((2, 3), False, "the batch before"),
        ((2, 6), False, "the batch behind, which is newer"),
        ((3, 5), False, "no batch up to there is so new"),
        ((6, 13), False, "no batch of this segment"),
    ],
)
def test_time_entry_is_confirmed_by_the_batch_that_holds_its_offset(
    small_partition: Path, rows_of: Rows, entry: tuple[int, int], is_confirmed: bool, why: str
) -> None:
    timestamp = 0x18BCFE56800 + entry[0]
    (small_partition / TIMES).write_bytes(time_entries((timestamp, entry[1])))
    assert rows_of("time_index", small_partition)[0]["confirmed"] is is_confirmed, why


def test_time_entry_after_a_newer_batch_is_not_confirmed(tmp_path: Path, rows_of: Rows) -> None:
    newer, older = (
        data_batch(offset, [Record(offset_delta=0)], base_timestamp=EPOCH_MILLIS + 5 - offset)
        for offset in (0, 1)
    )
    index = time_entries((EPOCH_MILLIS + 4, 1))
    root = cluster(tmp_path, {1: replica([newer, older], files={TIMES: index})})[1]
    assert rows_of("time_index", root)[0]["confirmed"] is False


@pytest.mark.parametrize("milliseconds", [2**63 - 1, -(2**63), 9_223_372_036_854_775])
def test_timestamp_beyond_microseconds_becomes_the_nearest_that_fits(
    small_partition: Path, milliseconds: int
) -> None:
    import kafkalog_reader

    (small_partition / TIMES).write_bytes(time_entries((milliseconds, 5)))
    table = kafkalog_reader.open(str(small_partition)).table("time_index", ["timestamp"]).to_arrow()
    expected = min(max(milliseconds * 1000, -(2**63)), 2**63 - 1)
    assert table["timestamp"].cast("int64").to_pylist()[0] == expected


def confirmed(path: Path, batches: list[bytes], *entries: tuple[int, int]) -> list[bool | None]:
    """Whether a log of these batches confirms entries of a timestamp and an offset."""
    log = path / "00000000000000000000.log"
    log.write_bytes(b"".join(batches))
    scan = SegmentBatches(slice_of(log), Mode.DROPMALFORMED, no_progress, check_crc=False)
    timestamp, offset = (np.array(column, np.int64) for column in zip(*entries, strict=True))
    answers: list[bool | None] = confirm_time_entries(timestamp, offset, scan).to_pylist()
    return answers


def at(offset: int, timestamp: int, count: int = 1) -> bytes:
    """A batch whose records all have one timestamp."""
    records = [Record(offset_delta=delta) for delta in range(count)]
    return data_batch(offset, records, base_timestamp=timestamp).build()


def test_entries_in_any_order_are_answered_in_that_of_the_file(tmp_path: Path) -> None:
    batches = [at(0, 10, 3), at(3, 20), at(4, 30)]
    entries = [(30, 4), (10, 0), (20, 4), (20, 3), (10, 2)]
    assert confirmed(tmp_path, batches, *entries) == [True, True, False, True, True]


def test_equal_timestamp_of_an_earlier_batch_does_not_matter(tmp_path: Path) -> None:
    assert confirmed(tmp_path, [at(0, 20), at(1, 20), at(2, 10)], (20, 1), (10, 2)) == [True, False]


def test_offset_in_a_gap_is_of_no_batch(tmp_path: Path) -> None:
    batches = [at(0, 10), at(5, 20)]
    assert confirmed(tmp_path, batches, (20, 4), (20, 5), (10, 1)) == [False, True, False]


def test_offset_after_the_log_is_not_confirmed(tmp_path: Path) -> None:
    assert confirmed(tmp_path, [at(0, 10)], (10, 0), (10, 1)) == [True, False]


def test_nothing_is_known_of_messages_without_a_time(tmp_path: Path) -> None:
    assert confirmed(tmp_path, [LEGACY_V0, at(43, 10)], (10, 42), (10, 43)) == [None, True]


def test_nothing_is_known_from_the_first_damage_on(tmp_path: Path) -> None:
    batches = [at(0, 10), b"\xff" * 100, at(5, 20)]
    assert confirmed(tmp_path, batches, (10, 0), (20, 5), (10, 1)) == [True, None, None]
