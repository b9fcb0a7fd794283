"""Sums up batch headers by topic, codec and format: how well producers batch and compress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.format.batch_fields import HEADER_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]
"""Totals of one group of batches, by name."""

MAGIC_WITH_BATCHES: Final = 2
"""The record format whose batches have one header for all of their records."""
_KEYS: Final = ("clusterId", "topic", "codec", "magic")
_OF_PRODUCER: Final = ("producerId",)
_PARTIALS: Final = 256
"""Partial totals that are kept before they are added up."""


def columns(*, by_producer: bool) -> tuple[str, ...]:
    """The columns of the table ``batches`` that a census reads."""
    return (*_keys(by_producer=by_producer), "size", "count", "isControl")


def census(
    batches: Iterable[pa.RecordBatch], *, by_producer: bool, records_per_batch: int
) -> list[Row]:
    """The totals of each group, the largest first; batches of control records are left out.

    A row has the keys, ``batches``, ``records`` (None: compressed in an old format),
    ``sizeInBytes``, ``oneRecordBatches``, ``recordsPerBatch``, ``bytesPerRecord``, and for format 2
    ``headerBytes`` and ``savedBytes``: what headers take, and what fuller batches would save.

    Args:
        batches: rows of the table ``batches``, with ``columns``.
        by_producer: divide by producer id, too.
        records_per_batch: how full batches could be; batches are never made smaller.
    """
    keys = _keys(by_producer=by_producer)
    partials: list[pa.Table] = []
    for rows in batches:
        data = rows.filter(pc.invert(rows["isControl"]))
        if data.num_rows:
            partials.append(_totals(_counted(data, keys), keys))
        if len(partials) == _PARTIALS:
            partials = [_totals(pa.concat_tables(partials), keys)]
    if not partials:
        return []
    found = _totals(pa.concat_tables(partials), keys).to_pylist()
    rows_found = [_described(row, records_per_batch) for row in found]
    return sorted(rows_found, key=lambda row: (-row["sizeInBytes"], str(row["topic"])))


def _keys(*, by_producer: bool) -> tuple[str, ...]:
    return _KEYS + _OF_PRODUCER if by_producer else _KEYS


def _counted(rows: pa.RecordBatch, keys: tuple[str, ...]) -> pa.Table:
    counts = rows["count"].cast(pa.int64())
    totals = {
        "batches": pa.array([1] * rows.num_rows, pa.int64()),
        "records": pc.fill_null(counts, 0),
        "uncounted": pc.is_null(counts).cast(pa.int64()),
        "sizeInBytes": rows["size"].cast(pa.int64()),
        "oneRecordBatches": pc.fill_null(pc.equal(counts, 1), False).cast(pa.int64()),
    }
    return pa.table({**{name: rows[name] for name in keys}, **totals})


_TOTALS: Final = ("batches", "records", "uncounted", "sizeInBytes", "oneRecordBatches")


def _totals(rows: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    found = rows.group_by(list(keys), use_threads=False).aggregate(
        [(name, "sum") for name in _TOTALS]
    )
    return found.rename_columns([name.removesuffix("_sum") for name in found.column_names]).select(
        [*keys, *_TOTALS]
    )


def _described(row: Row, records_per_batch: int) -> Row:
    is_known = not row.pop("uncounted")
    count, size, batches = row["records"], row["sizeInBytes"], row["batches"]
    row["records"] = count if is_known else None
    row["oneRecordBatches"] = row["oneRecordBatches"] if is_known else None
    row["recordsPerBatch"] = count / batches if is_known else None
    row["bytesPerRecord"] = size / count if is_known and count else None
    has_header = row["magic"] == MAGIC_WITH_BATCHES
    row["headerBytes"] = batches * HEADER_SIZE if has_header else None
    fewer = max(batches - -(-count // records_per_batch), 0)
    row["savedBytes"] = fewer * HEADER_SIZE if has_header else None
    return row
