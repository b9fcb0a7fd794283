"""Small record batches put together: Spark pays for each, and an audit yields one a partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENOUGH: Final = 1000
"""Rows of a batch that goes on as it is."""


def gathered(found: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in the same order, in batches of about ``ENOUGH`` rows at least.

    Args:
        found: batches of one schema; larger ones are not copied, empty ones are dropped.
    """
    waiting: list[pa.RecordBatch] = []
    count = 0
    for rows in found:
        if rows.num_rows >= ENOUGH:
            yield from _together(waiting)
            waiting, count = [], 0
            yield rows
        elif rows.num_rows > 0:
            waiting.append(rows)
            count += rows.num_rows
            if count >= ENOUGH:
                yield from _together(waiting)
                waiting, count = [], 0
    yield from _together(waiting)


def _together(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if len(batches) > 1:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
    else:
        yield from batches
