"""Spans of offsets as columns."""

from __future__ import annotations

import numpy as np
import pytest

from kafkalog_reader.tables.offset_spans import Fate, OffsetSpans, joined

Span = tuple[int, int, Fate, int, tuple[int, int]]
A: Span = (0, 5, Fate.VISIBLE, 100, (0, 0))
B: Span = (5, 8, Fate.ABORTED, 200, (7, 9))


def spans(*rows: Span) -> OffsetSpans:
    return joined(
        OffsetSpans.one((first, stop), fate, position, list(facts))
        for first, stop, fate, position, facts in rows
    )


def rows_of(found: OffsetSpans) -> list[Span]:
    return [
        (first, stop, Fate(fate), position, (facts[0], facts[1]))
        for first, stop, fate, position, facts in zip(
            found.first.tolist(), found.next.tolist(), found.fate.tolist(),
            found.position.tolist(), found.facts.tolist(), strict=True,
        )
    ]  # fmt: skip


def test_one_span_is_a_row_of_each_column() -> None:
    one = OffsetSpans.one((5, 8), Fate.ABORTED, 200, [7, 9])
    assert rows_of(one) == [B]
    assert len(one) == 1
    assert one.facts.shape == (1, 2)


def test_parts_are_joined_in_their_order() -> None:
    assert rows_of(joined([spans(B, A), spans(A)])) == [B, A, A]


def test_some_spans_are_taken() -> None:
    found = spans(A, B, A)
    assert rows_of(found.taken(slice(1, 3))) == [B, A]
    assert rows_of(found.taken(np.array([True, False, True]))) == [A, A]
    assert rows_of(found.taken(np.array([1, 0]))) == [B, A]


@pytest.mark.parametrize(
    ("offset", "parts"),
    [
        pytest.param(0, [(0, 5), (5, 8)], id="all"),
        pytest.param(3, [(3, 5), (5, 8)], id="part_of_the_first"),
        pytest.param(5, [(5, 8)], id="at_a_border"),
        pytest.param(7, [(7, 8)], id="last_offset"),
        pytest.param(8, [], id="behind"),
    ],
)
def test_spans_above_an_offset(offset: int, parts: list[tuple[int, int]]) -> None:
    assert [row[:2] for row in rows_of(spans(A, B).above(offset))] == parts


def test_offset_that_two_spans_cover_belongs_to_the_first() -> None:
    overlapping = spans(
        (0, 10, Fate.VISIBLE, 1, (0, 0)), (4, 8, Fate.CONTROL, 2, (0, 0)),
        (8, 12, Fate.OPEN, 3, (0, 0)), (12, 13, Fate.MISSING, 4, (0, 0)),
    )  # fmt: skip
    assert [(*row[:3],) for row in rows_of(overlapping.above(0))] == [
        (0, 10, Fate.VISIBLE), (10, 12, Fate.OPEN), (12, 13, Fate.MISSING),
    ]  # fmt: skip


def test_spans_that_touch_and_agree_become_one_at_the_first_position() -> None:
    found = spans(A, (5, 7, Fate.VISIBLE, 300, (0, 0)), (7, 9, Fate.VISIBLE, 400, (0, 0))).merged()
    assert rows_of(found) == [(0, 9, Fate.VISIBLE, 100, (0, 0))]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param((6, 8, Fate.VISIBLE, 100, (0, 0)), id="gap"),
        pytest.param((5, 8, Fate.OPEN, 100, (0, 0)), id="other_fate"),
        pytest.param((5, 8, Fate.VISIBLE, 100, (1, 0)), id="other_first_fact"),
        pytest.param((5, 8, Fate.VISIBLE, 100, (0, 1)), id="other_second_fact"),
    ],
)
def test_other_spans_stay_apart(second: Span) -> None:
    assert rows_of(spans(A, second).merged()) == [A, second]
    third = (second[1], second[1] + 1, *second[2:])
    merged = [A, (second[0], second[1] + 1, *second[2:])]
    assert rows_of(spans(A, second, third).merged()) == merged


def test_one_span_and_none_stay_as_they_are() -> None:
    assert rows_of(spans(A).merged()) == [A]
    assert rows_of(spans(A).taken(slice(0, 0)).merged()) == []
