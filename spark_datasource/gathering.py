"""Combines small record batches: each costs Spark time, and an audit yields one per partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENOUGH_ROWS: Final = 1000
"""A batch with this many rows is passed on unchanged."""
ENOUGH_BYTES: Final = 4 << 20
"""A batch with this many bytes is passed on unchanged; no combined batch is larger."""


def gathered(found: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in the same order, in fewer batches.

    Batches are combined until they have ``ENOUGH_ROWS`` rows, or the next one would make them
    larger than ``ENOUGH_BYTES``.

    Args:
        found: batches of one schema; larger ones are not copied, empty ones are dropped.
    """
    waiting: list[pa.RecordBatch] = []
    row_count = size_in_bytes = 0
    for rows in found:
        if rows.num_rows == 0:
            continue
        if waiting and (
            row_count >= ENOUGH_ROWS
            or rows.num_rows >= ENOUGH_ROWS
            or size_in_bytes + rows.nbytes > ENOUGH_BYTES
        ):
            yield from _together(waiting)
            waiting, row_count, size_in_bytes = [], 0, 0
        if rows.num_rows >= ENOUGH_ROWS or rows.nbytes > ENOUGH_BYTES:
            yield rows
        else:
            waiting.append(rows)
            row_count += rows.num_rows
            size_in_bytes += rows.nbytes
    if waiting:
        yield from _together(waiting)


def _together(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if len(batches) > 1:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
    else:
        yield from batches
