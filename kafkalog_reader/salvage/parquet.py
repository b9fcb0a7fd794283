"""A replica's readable records as Parquet: one file a segment, all columns of ``records``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from kafkalog_reader.salvage.left_out import NotedDamage
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.records import RecordsTable, read_slice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kafkalog_reader.salvage.manifest import SalvagedPartition
    from kafkalog_reader.tables.log_unit import SegmentSlice
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Progress

ROW_GROUP: Final = 16 << 20
"""Bytes in Arrow. Held twice, as rows and as pages that the writer makes of them."""


def write_parquet(
    salvaged: SalvagedPartition, request: ReadRequest, folder: Path, progress: Progress
) -> None:
    """Write what can be read of one replica into ``folder``; ``salvaged`` is filled in.

    Raises:
        UnreadableFileError: the directory cannot be listed, or a file cannot be read.
    """
    pieces = slices_of(salvaged.directory, request)
    for base_offset, of_segment in groupby(pieces, key=lambda piece: piece.segment.base_offset):
        rows = _rows(of_segment, salvaged, request, progress)
        first = next(rows, None)
        if first is None:
            continue
        path = folder / f"{base_offset:020d}.parquet"
        with parquet.ParquetWriter(path, first.schema, compression="zstd") as writer:
            for group in _row_groups(first, rows):
                writer.write_table(group)
                del group  # or it would be kept until the next one is whole
        salvaged.files.append(path.name)


def _rows(
    pieces: Iterator[SegmentSlice],
    salvaged: SalvagedPartition,
    request: ReadRequest,
    progress: Progress,
) -> Iterator[pa.RecordBatch]:
    schema = RecordsTable().projected(request)
    for piece in pieces:
        damage = NotedDamage(salvaged.left_out)
        for rows in read_slice(piece, schema, request, damage, progress):
            if not rows.num_rows:
                continue
            salvaged.records += rows.num_rows
            offsets = rows.column("offset").to_numpy().astype(np.int64, copy=False)
            salvaged.offsets.add(offsets, offsets)
            yield rows


def _row_groups(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    group, size = [first], first.nbytes
    del first
    for rows in rest:
        if size >= ROW_GROUP:
            table, group, size = pa.Table.from_batches(group), [], 0
            yield table
            del table
        group.append(rows)
        size += rows.nbytes
    yield pa.Table.from_batches(group)
