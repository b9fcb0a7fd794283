"""Rows in pieces that are written one after the other. Apart from the writers, which load more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

WRITTEN_AT_ONCE: Final = 4 << 20
"""Bytes of Arrow columns written in one go: bounds the memory of their text, and how long Ctrl-C
may have to wait."""


def parts(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut rows into pieces of a few MiB, one row at least."""
    if rows.num_rows == 0:
        return
    row_size = max(1, rows.nbytes // rows.num_rows)
    step = max(1, WRITTEN_AT_ONCE // row_size)
    for start in range(0, rows.num_rows, step):
        yield rows.slice(start, step)
