"""Why copies of one batch differ, by what is wrong with them.

Source: replica-divergence.md, section 4.4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.same_batch import differing_kind
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path


def batch(values: str, *, last: int = 3, key: str = "k", time: int = 0) -> Batch:
    """One record for each letter; a dot is an offset without a record."""
    records = [
        Record(offset_delta=n, timestamp_delta=n + time, key=key.encode(), value=value.encode())
        for n, value in enumerate(values)
        if value != "."
    ]
    return data_batch(5, records, last_offset_delta=last)


WHOLE: Final = batch("abcd")
DAMAGED: Final = replace(WHOLE, lies={"crc": 1})
TWICE: Final = replace(WHOLE, records=(WHOLE.records[0], *WHOLE.records))
"""Its offsets do not rise, so that it takes the slow way of comparing."""


def kind(
    root: Path, *copies: Batch, is_reframed: bool = False, may_be_cleaned: bool = False
) -> DifferenceKind:
    cluster(root, {n: replica([copy], base_offset=0) for n, copy in enumerate(copies)})
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    streams = [BatchStream(each) for each in directories]
    return differing_kind(streams, is_reframed=is_reframed, may_be_cleaned=may_be_cleaned)


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        pytest.param((WHOLE, DAMAGED), DifferenceKind.DAMAGED, id="one_is_damaged"),
        pytest.param((DAMAGED, DAMAGED), DifferenceKind.DAMAGED, id="all_are_damaged"),
        pytest.param((WHOLE, WHOLE, DAMAGED), DifferenceKind.DAMAGED, id="one_of_three_is"),
        pytest.param(
            (WHOLE, replace(WHOLE, leader_epoch=1)), DifferenceKind.UNCOVERED, id="leader_epoch"
        ),
        pytest.param((WHOLE, batch("abxd")), DifferenceKind.CONFLICT, id="a_value"),
        pytest.param((WHOLE, batch("abxd"), DAMAGED), DifferenceKind.CONFLICT, id="and_damage"),
        pytest.param((WHOLE, batch("ab.d")), DifferenceKind.CLEANED, id="a_record_less"),
        pytest.param((WHOLE, batch("abx.")), DifferenceKind.CONFLICT, id="less_and_other"),
        pytest.param((WHOLE, batch("ab.d"), DAMAGED), DifferenceKind.CLEANED, id="less_and_damage"),
        pytest.param((WHOLE, batch("abcde", last=4)), DifferenceKind.CONFLICT, id="longer"),
        pytest.param((TWICE, batch("ab.d")), DifferenceKind.CLEANED, id="slow_way_record_less"),
        pytest.param((TWICE, batch("x...")), DifferenceKind.CONFLICT, id="slow_way_value"),
        pytest.param((TWICE, batch("ab..", key="l")), DifferenceKind.CONFLICT, id="slow_way_key"),
        pytest.param((TWICE, batch("ab..", time=9)), DifferenceKind.CONFLICT, id="slow_way_time"),
    ],
)
def test_what_differs_decides(
    copies: tuple[Batch, ...], expected: DifferenceKind, tmp_path: Path
) -> None:
    assert kind(tmp_path / "forwards", *copies) is expected
    assert kind(tmp_path / "backwards", *reversed(copies)) is expected


def test_a_batch_across_the_bounds_of_another_is_a_conflict(tmp_path: Path) -> None:
    assert kind(tmp_path / "damaged", WHOLE, DAMAGED, is_reframed=True) is DifferenceKind.CONFLICT
    cleaned = kind(tmp_path / "less", WHOLE, batch("ab.d"), is_reframed=True, may_be_cleaned=True)
    assert cleaned is DifferenceKind.CONFLICT


@pytest.mark.parametrize("may_be_cleaned", [True, False])
def test_only_where_compaction_may_have_run_are_records_compared(
    may_be_cleaned: bool, tmp_path: Path
) -> None:
    """Equal records in other bytes; the base timestamp moves where a delete horizon is written."""
    moved = replace(
        WHOLE,
        base_timestamp=WHOLE.base_timestamp - 7,
        records=tuple(
            replace(record, timestamp_delta=record.timestamp_delta + 7) for record in WHOLE.records
        ),
    )
    assert kind(tmp_path, WHOLE, moved, may_be_cleaned=may_be_cleaned) is (
        DifferenceKind.CLEANED if may_be_cleaned else DifferenceKind.CONFLICT
    )


def test_records_that_cannot_be_decoded_are_a_conflict_or_not_compared(tmp_path: Path) -> None:
    """The cleaner writes only batches that it could read."""
    garbage = replace(WHOLE, lies={"records_count": 3})
    other = replace(garbage, max_timestamp=WHOLE.max_timestamp + 1)
    unknown, unknown_other = (replace(each, flags=7) for each in (WHOLE, batch("ab.d")))
    assert kind(tmp_path / "one", WHOLE, garbage) is DifferenceKind.CONFLICT
    assert kind(tmp_path / "both", garbage, other) is DifferenceKind.NOT_COMPARED
    assert kind(tmp_path / "codec", unknown, unknown_other) is DifferenceKind.NOT_COMPARED
