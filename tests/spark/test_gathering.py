"""Batches that are put together keep their rows and their order."""

from __future__ import annotations

import pyarrow as pa
import pytest

from spark_datasource.gathering import ENOUGH, gathered

SIZES = (1, 0, 3, ENOUGH, 2, 0, 5, *[7] * ENOUGH, ENOUGH + 1)


@pytest.mark.parametrize("sizes", [(), (0,), (1,), (ENOUGH,), (0, 1, 0), SIZES])
def test_rows_keep_their_order_in_few_batches(sizes: tuple[int, ...]) -> None:
    batches, start = [], 0
    for size in sizes:
        numbers = pa.array(range(start, start + size), pa.int64())
        batches.append(pa.record_batch({"number": numbers}))
        start += size
    together = list(gathered(batches))
    assert [n for batch in together for n in batch["number"].to_pylist()] == list(range(start))
    assert all(batch.num_rows for batch in together)
    small = [batch for batch in together if batch.num_rows < ENOUGH]
    assert len(small) <= 1 + sum(size >= ENOUGH for size in sizes)
