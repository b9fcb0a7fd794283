"""Entries of the three indexes, and whether the log confirms them."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import CorruptIndexError, UnsupportedFormatError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
OFFSETS = "00000000000000000000.index"
TIMES = "00000000000000000000.timeindex"
ABORTED = "00000000000000000000.txnindex"


def ms(count: int) -> datetime:
    return START + timedelta(milliseconds=count)


def offset_entries(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">ii", *entry) for entry in entries)


def time_entries(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">qi", *entry) for entry in entries)


def test_every_entry_that_kafka_wrote_is_confirmed(small_partition: Path, rows_of: Rows) -> None:
    offsets = rows_of("offset_index", small_partition)
    assert [(r["segmentBaseOffset"], r["entry"], r["offset"], r["position"]) for r in offsets] == [
        (0, 0, 5, 166), (0, 1, 9, 332), (0, 2, 12, 498), (13, 0, 18, 183), (13, 1, 22, 353),
    ]  # fmt: skip
    times = rows_of("time_index", small_partition)
    assert [(r["segmentBaseOffset"], r["entry"], r["timestamp"], r["offset"]) for r in times] == [
        (0, 0, ms(2), 5), (0, 1, ms(4), 9), (0, 2, ms(6), 12), (13, 0, ms(9), 18),
        (13, 1, ms(11), 22),
    ]  # fmt: skip
    (aborted,) = rows_of("transaction_index", small_partition)
    assert (aborted["producerId"], aborted["firstOffset"], aborted["lastOffset"]) == (1000, 6, 12)
    assert aborted["lastStableOffset"] == 13
    assert {row["confirmed"] for row in [*offsets, *times, aborted]} == {True}


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ((5, 167), "no batch starts there"),
        ((5, 576), "the end of the log"),
        ((5, 100_000), "behind the log"),
        ((5, -1), "before it"),
        ((4, 249), "batches before reach offset 5"),
        ((5, 249), "a reader of offset 5 would miss it"),
    ],
)
def test_offset_entry_that_would_mislead_a_reader_is_not_confirmed(
    small_partition: Path, rows_of: Rows, entry: tuple[int, int], why: str
) -> None:
    (small_partition / OFFSETS).write_bytes(offset_entries((3, 83), entry, (12, 498)))
    rows = rows_of("offset_index", small_partition)
    confirmed = [row["confirmed"] for row in rows if row["segmentBaseOffset"] == 0]
    assert confirmed == [True, False, True], why


def test_offset_entry_of_a_whole_append_is_confirmed(small_partition: Path, rows_of: Rows) -> None:
    """Before KAFKA-806: the last offset of the append, the position of its first batch."""
    (small_partition / OFFSETS).write_bytes(offset_entries((12, 166)))
    assert rows_of("offset_index", small_partition)[0]["confirmed"] is True


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entries=st.lists(
        st.tuples(st.integers(-3, 15), st.sampled_from([0, 83, 166, 249, 332, 415, 498, 500, 576])),
        min_size=1, max_size=8,
    ).filter(lambda entries: entries[-1] != (0, 0))
)  # fmt: skip
def test_offset_entries_in_any_order_are_judged_by_the_lookup_contract(
    small_partition: Path, rows_of: Rows, entries: list[tuple[int, int]]
) -> None:
    content = offset_entries(*entries)
    (small_partition / OFFSETS).write_bytes(content)
    rows = [r for r in rows_of("offset_index", small_partition) if r["segmentBaseOffset"] == 0]
    batches = {0: 1, 83: 3, 166: 5, 249: 7, 332: 9, 415: 11, 498: 12}  # position: last offset
    for number, row in enumerate(rows):
        assert (row["offset"], row["position"]) == entries[number]
        before = [last for position, last in batches.items() if position < row["position"]]
        assert row["confirmed"] is (
            row["position"] in batches and all(last < row["offset"] for last in before)
        )


def test_zeros_of_preallocation_are_not_entries(tmp_path: Path, rows_of: Rows) -> None:
    log = replica("0-9/e0 10-19/e0 20-29/e0", index_interval=1, preallocated=10_485_760)
    root = cluster(tmp_path, {1: log})[1]
    assert (root / "t-0" / OFFSETS).stat().st_size == 10_485_760
    assert (root / "t-0" / TIMES).stat().st_size == 10_485_756
    assert [row["offset"] for row in rows_of("offset_index", root)] == [19, 29]
    assert [row["offset"] for row in rows_of("time_index", root)] == [19, 29]
    (root / "t-0" / OFFSETS).write_bytes(bytes(4096))
    assert rows_of("offset_index", root) == []


def test_zero_entry_before_others_is_one(small_partition: Path, rows_of: Rows) -> None:
    (small_partition / OFFSETS).write_bytes(offset_entries((0, 0), (5, 166)))
    rows = rows_of("offset_index", small_partition)
    assert [(row["entry"], row["offset"]) for row in rows[:2]] == [(0, 0), (1, 5)]


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


def test_time_entry_behind_a_newer_batch_is_not_confirmed(tmp_path: Path, rows_of: Rows) -> None:
    from fixtures.builder import EPOCH_MILLIS, data_batch
    from kafkalog_reader.format.record import Record

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


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((2, 1001), "another producer's"),
        ((18, 11), "a data batch, no marker"),
        ((18, 13), "behind the segment"),
    ],
)
def test_aborted_transaction_without_its_marker_is_not_confirmed(
    small_partition: Path, rows_of: Rows, change: tuple[int, int], why: str
) -> None:
    index = bytearray((small_partition / ABORTED).read_bytes())
    struct.pack_into(">q", index, *change)
    (small_partition / ABORTED).write_bytes(index)
    assert rows_of("transaction_index", small_partition)[0]["confirmed"] is False, why


def test_commit_marker_confirms_no_abort(tmp_path: Path, rows_of: Rows) -> None:
    from fixtures.builder import marker_batch
    from kafkalog_reader.format.control_record import ControlType

    marker = marker_batch(
        0, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0, coordinator_epoch=1
    )
    entry = struct.pack(">hqqqq", 0, 7, 0, 0, 1)
    root = cluster(tmp_path, {1: replica([marker], files={ABORTED: entry})})[1]
    assert rows_of("transaction_index", root)[0]["confirmed"] is False


@pytest.mark.parametrize(
    ("version", "error"), [(1, UnsupportedFormatError), (-1, CorruptIndexError)]
)
def test_transaction_index_of_another_version_is_refused_with_its_position(
    small_partition: Path, rows_of: Rows, version: int, error: type[Exception]
) -> None:
    index = (small_partition / ABORTED).read_bytes()
    path = small_partition / ABORTED
    path.write_bytes(index + struct.pack(">h", version) + index[2:])
    with pytest.raises(error, match=rf"at position 34: transaction index version {version}"):
        rows_of("transaction_index", small_partition)
    (row,) = rows_of("transaction_index", small_partition, mode="PERMISSIVE")
    assert row["entry"] == 0


def test_entry_cut_short_is_left_out_with_a_warning(
    small_partition: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    path = small_partition / ABORTED
    path.write_bytes(path.read_bytes() + b"\0\0\1")
    assert len(rows_of("transaction_index", small_partition)) == 1
    assert f"{path} at position 34: entry cut short" in caplog.text


def test_index_without_its_log_is_confirmed_by_nobody(small_partition: Path, rows_of: Rows) -> None:
    (small_partition / "00000000000000000000.log").unlink()
    for table in ("offset_index", "time_index", "transaction_index"):
        rows = [row for row in rows_of(table, small_partition) if row["segmentBaseOffset"] == 0]
        assert rows
        assert {row["confirmed"] for row in rows} == {None}


def test_entries_behind_damage_are_not_known(small_partition: Path, rows_of: Rows) -> None:
    log = small_partition / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[332 + 8 : 332 + 12] = b"\xff" * 4  # a length of -1
    log.write_bytes(content)
    for table in ("offset_index", "time_index"):
        rows = rows_of(table, small_partition, mode="PERMISSIVE")
        assert [row["confirmed"] for row in rows if row["segmentBaseOffset"] == 0] == [
            True, None, None,
        ]  # fmt: skip
    (aborted,) = rows_of("transaction_index", small_partition, mode="PERMISSIVE")
    assert aborted["confirmed"] is None


def test_without_the_column_no_log_is_opened(
    small_partition: Path, rows_of: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkalog_reader.tables import segment_batches

    monkeypatch.setattr(segment_batches, "Scan", None)
    assert len(rows_of("offset_index", small_partition, columns=["offset"])) == 5
    assert len(rows_of("time_index", small_partition, columns=["offset"])) == 5
    assert len(rows_of("transaction_index", small_partition, columns=["lastOffset"])) == 1


def test_index_of_a_tebibyte_of_zeros_has_its_entries_only(
    small_partition: Path, rows_of: Rows
) -> None:
    import os

    os.truncate(small_partition / OFFSETS, 1 << 30)
    assert len(rows_of("offset_index", small_partition)) == 5
