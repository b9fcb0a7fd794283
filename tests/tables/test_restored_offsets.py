"""Base offsets, which no checksum covers: which are wrong, and what the right ones are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kafkalog_reader.tables.restored_offsets import restored_offsets

if TYPE_CHECKING:
    from collections.abc import Callable

BASE, LAST = [10, 20, 25, 40], [19, 24, 39, 49]
"""Four batches after one that ends at 9."""
START, STOP = 10, 50
TWO_BITS = 5


@pytest.mark.parametrize(
    ("base", "last", "due"),
    [
        pytest.param([0, 3, 5], [2, 4, 9], [0, 3, 5], id="sound"),
        pytest.param([64, 3, 5], [66, 4, 9], [0, 3, 5], id="the first"),
        pytest.param([0, 7, 5], [2, 8, 9], [0, 3, 5], id="one between"),
        pytest.param([0, 3, 69], [2, 4, 73], [0, 3, 5], id="one bit of the last"),
        pytest.param([0, 3, 58], [2, 4, 62], [0, 3, 58], id="several bits of the last"),
        pytest.param([0, 7, 9], [2, 8, 13], [0, 7, 9], id="a gap: the next goes on there"),
        pytest.param([], [], [], id="no batch"),
    ],
)
def test_the_batches_around_it_prove_a_base_offset(
    base: list[int], last: list[int], due: list[int]
) -> None:
    columns = np.array(base, np.int64), np.array(last, np.int64)
    found = restored_offsets(*columns, 0, is_gapless=True)
    assert columns[0].tolist() == due
    assert (columns[1] - columns[0]).tolist() == [b - a for a, b in zip(base, last, strict=True)]
    assert [(row, stored, right) for row, stored, right in found] == [
        (row, a, b) for row, (a, b) in enumerate(zip(base, due, strict=True)) if a != b
    ]


def restored(base: list[int], last: list[int], stop: int | None = STOP) -> list[int]:
    """The base offsets afterwards, in a log that may have gaps."""
    columns = np.array(base, np.int64), np.array(last, np.int64)
    restored_offsets(*columns, START, stop)
    assert (columns[1] - columns[0]).tolist() == [b - a for a, b in zip(base, last, strict=True)]
    return [*map(int, columns[0])]


def moved(row: int, stored: int) -> tuple[list[int], list[int]]:
    """The columns with another base offset of one batch."""
    base, last = [*BASE], [*LAST]
    base[row], last[row] = stored, stored + LAST[row] - BASE[row]
    return base, last


@pytest.mark.parametrize("bit", range(63))
@pytest.mark.parametrize("row", range(len(BASE)))
def test_one_bit_is_put_back(row: int, bit: int) -> None:
    assert restored(*moved(row, BASE[row] ^ 1 << bit)) == BASE


@pytest.mark.parametrize("row", range(len(BASE)))
def test_so_is_the_sign(row: int) -> None:
    assert restored(*moved(row, BASE[row] - 2**63)) == BASE


@pytest.mark.parametrize("row", range(len(BASE)))
@pytest.mark.parametrize("stored_as", [lambda due: due ^ TWO_BITS, lambda due: -due, lambda _: -1])
def test_several_bits_are_left_alone(row: int, stored_as: Callable[[int], int]) -> None:
    base, last = moved(row, stored_as(BASE[row]))
    assert restored(base, last) == base


def test_after_the_last_batch_of_a_log_nothing_proves_it() -> None:
    base, last = moved(3, 40 ^ 64)
    assert restored(base, last, stop=None) == base


@pytest.mark.parametrize("stop", [49, 51, 64])
def test_the_next_segment_must_begin_where_the_batch_ends(stop: int) -> None:
    base, last = moved(3, 40 ^ 64)
    assert restored(base, last, stop) == base


def test_beside_a_gap_of_compaction_nothing_is_proven() -> None:
    """The batch with offsets 25 to 39 is gone: 20 to 24 do not lead to 40."""
    base, last = moved(1, 20 ^ 64)
    del base[2], last[2]
    assert restored(base, last) == base
