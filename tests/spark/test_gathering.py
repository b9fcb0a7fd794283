"""Batches that are combined keep their rows and their order, and stay small."""

from __future__ import annotations

import pyarrow as pa
import pytest

from spark_datasource.gathering import ENOUGH_BYTES, ENOUGH_ROWS, gathered

SIZES = (1, 0, 3, ENOUGH_ROWS, 2, 0, 5, *[7] * ENOUGH_ROWS, ENOUGH_ROWS + 1)


@pytest.mark.parametrize("sizes", [(), (0,), (1,), (ENOUGH_ROWS,), (0, 1, 0), SIZES])
def test_rows_keep_their_order_in_few_batches(sizes: tuple[int, ...]) -> None:
    batches, start = [], 0
    for size in sizes:
        numbers = pa.array(range(start, start + size), pa.int64())
        batches.append(pa.record_batch({"number": numbers}))
        start += size
    together = list(gathered(batches))
    assert [n for batch in together for n in batch["number"].to_pylist()] == list(range(start))
    assert all(batch.num_rows for batch in together)
    small = [batch for batch in together if batch.num_rows < ENOUGH_ROWS]
    assert len(small) <= 1 + sum(size >= ENOUGH_ROWS for size in sizes)


def test_a_batch_alone_is_passed_on_unchanged() -> None:
    (small,) = [pa.record_batch({"number": pa.array([1, 2])})]
    (found,) = gathered([small])
    assert found is small


def test_batches_are_combined_up_to_exactly_enough_rows() -> None:
    sizes = [333, 333, 333, 1] * 2 + [5]
    batches = [pa.record_batch({"number": pa.array([0] * size)}) for size in sizes]
    assert [batch.num_rows for batch in gathered(batches)] == [1000, 1000, 5]


HALF = ENOUGH_BYTES // 2


@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ([HALF, HALF - 8, 8], [3]),
        ([HALF, HALF - 8, 9], [2, 1]),
        ([HALF, HALF, HALF, HALF - 8, 8], [2, 3]),
        ([HALF, HALF, HALF, HALF - 8, 9], [2, 2, 1]),
        ([ENOUGH_BYTES, 8], [1, 1]),
        ([8, ENOUGH_BYTES], [1, 1]),
    ],
)
def test_batches_are_combined_up_to_exactly_enough_bytes(sizes: list[int], rows: list[int]) -> None:
    """Arrow counts four bytes of a value for its offset."""
    batches = [pa.record_batch({"value": pa.array([bytes(size - 4)])}) for size in sizes]
    assert [batch.nbytes for batch in batches] == sizes
    assert [batch.num_rows for batch in gathered(batches)] == rows


def rows_of(size_in_bytes: int, rows: int) -> pa.RecordBatch:
    return pa.record_batch({"value": pa.array([bytes(size_in_bytes // rows)] * rows)})


@pytest.mark.parametrize("size", [ENOUGH_BYTES // 5, ENOUGH_BYTES - 100, ENOUGH_BYTES + 1])
def test_few_rows_of_many_bytes_are_not_put_together(size: int) -> None:
    """200 records of 5 MB, three in a batch, became one batch of 1 GB in a worker of 2.1 GB."""
    found = [rows_of(size, rows=3) for _ in range(12)]
    together = list(gathered(found))
    assert sum(batch.num_rows for batch in together) == 36
    assert all(batch.nbytes <= ENOUGH_BYTES or batch in found for batch in together)
    assert len(together) == 12 if size > ENOUGH_BYTES // 2 else len(together) == 3
