"""Entries of the three indexes, and whether the log confirms them."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.chosen.examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
OFFSETS = "00000000000000000000.index"


def ms(count: int) -> datetime:
    return START + timedelta(milliseconds=count)


def offset_entries(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">ii", *entry) for entry in entries)


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


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_index_without_its_log_is_confirmed_by_nobody(small_partition: Path, rows_of: Rows) -> None:
    (small_partition / "00000000000000000000.log").unlink()
    for table in ("offset_index", "time_index", "transaction_index"):
        rows = [row for row in rows_of(table, small_partition) if row["segmentBaseOffset"] == 0]
        assert rows
        assert {row["confirmed"] for row in rows} == {None}


def test_entries_after_damage_are_not_known(small_partition: Path, rows_of: Rows) -> None:
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
