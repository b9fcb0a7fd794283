"""Splits rows into parts to write. Separate from the writers, which import more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

WRITTEN_AT_ONCE: Final = 4 << 20
"""Bytes of Arrow columns in one part: limits the memory of their text, and the delay of Ctrl-C."""


def parts(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Split rows into parts of a few MiB, of at least one row."""
    if rows.num_rows == 0:
        return
    row_size = max(1, rows.nbytes // rows.num_rows)
    step = max(1, WRITTEN_AT_ONCE // row_size)
    for start in range(0, rows.num_rows, step):
        yield rows.slice(start, step)
