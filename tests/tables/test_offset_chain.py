"""Batches by their offsets: which of them form a chain."""

from __future__ import annotations

import numpy as np
import pytest

from kafkalog_reader.tables.offset_chain import OffsetChain, OffsetColumns

FIRST = OffsetChain(0, 100, 0, 9, 1)


@pytest.mark.parametrize(
    ("position", "base_offset", "expected"),
    [
        pytest.param(100, 10, True, id="follows"),
        pytest.param(100, 11, False, id="offset_left_out"),
        pytest.param(100, 9, False, id="offset_repeats"),
        pytest.param(101, 10, False, id="byte_left_out"),
    ],
)
def test_a_chain_continues_without_a_gap_in_bytes_and_offsets(
    position: int, base_offset: int, expected: bool
) -> None:
    other = OffsetChain(position, position + 50, base_offset, base_offset + 4, 2)
    assert FIRST.is_continued_by(other) is expected


def test_the_chains_of_kept_batches_break_where_one_is_left_out() -> None:
    columns = OffsetColumns(
        position=np.array([0, 100, 200, 300], np.int64),
        size=np.full(4, 100, np.int64),
        base_offset=np.array([0, 10, 20, 30], np.int64),
        last_offset=np.array([9, 19, 29, 39], np.int64),
        magic=np.full(4, 2, np.int8),
    )
    assert columns.chains(np.array([True, True, False, True])) == [
        OffsetChain(0, 200, 0, 19, 2),
        OffsetChain(300, 400, 30, 39, 1),
    ]
