"""A replica's readable records as Parquet: one file a segment, all columns of ``records``."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from kafkalog_reader.decode.record_decoder import RecordDecoder
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.salvage.counts import Reason, record_counts
from kafkalog_reader.salvage.left_out import NotedDamage
from kafkalog_reader.tables.record_rows import RecordRows
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.transaction_states import TransactionStates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from kafkalog_reader.decode.record_decoder import DecodedRecords
    from kafkalog_reader.salvage.manifest import SalvagedPartition
    from kafkalog_reader.salvage.readable_batches import ReadableBatches, ReadableRun
    from kafkalog_reader.salvage.survey import Survey
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.transaction_outcomes import Markers

logger = logging.getLogger(__name__)

ROW_GROUP: Final = 16 << 20
"""Bytes in Arrow. Held twice: as rows and as the writer's pages."""
REPAIR: Final = pa.field("repair", pa.string())
"""The column after those of ``records``: null, or how the record's batch was repaired."""


class RecordsFile:
    """Writes records of one segment into a file, created with the first record."""

    def __init__(
        self,
        path: Path,
        segment_slice: SegmentSlice,
        request: ReadRequest,
        markers: Markers | None = None,
    ) -> None:
        self.path = path
        self.records = 0
        self.left_out = 0
        """Records in the added batches outside the requested offsets."""
        self._segment_slice = segment_slice
        self._schema = RecordsTable().projected(request)
        self._rows = RecordRows(
            segment_slice, self._schema, request, TransactionStates(segment_slice, markers)
        )
        self._decoder = self._new_decoder()
        self._writer: parquet.ParquetWriter | None = None
        self._group: list[pa.RecordBatch] = []
        self._size = 0

    def add(self, readable: ReadableRun, rows: NDArray[np.intp]) -> Iterator[NDArray[np.int64]]:
        """Add some batches of a run; yield the offsets of records decoded so far."""
        part = readable.run.taken(rows)
        if readable.repair is None:
            yield from self._take(self._decoder.add(part), None)
            return
        yield from self._take(self._decoder.flush(), None)
        decoder = self._new_decoder()
        repaired = (*decoder.add(part), *decoder.flush())
        yield from self._take(repaired, readable.repair.how)

    def close(self) -> Iterator[NDArray[np.int64]]:
        """Write the rest; yield the offsets as ``add`` does."""
        yield from self._take(self._decoder.flush(), None)
        self._write()
        if self._writer is not None:
            self._writer.close()

    @property
    def is_there(self) -> bool:
        """Whether there was a record to write."""
        return self._writer is not None

    def _new_decoder(self) -> RecordDecoder:
        return RecordDecoder(
            frozenset(self._schema.names), self._segment_slice, NotedDamage.silent()
        )

    def _take(
        self, decoded: Iterable[DecodedRecords], repair: str | None
    ) -> Iterator[NDArray[np.int64]]:
        for records in decoded:
            self.left_out += records.columns.rows
            for rows in self._rows.of(records):
                self.left_out -= rows.num_rows
                if not rows.num_rows:
                    continue
                self.records += rows.num_rows
                yield rows.column("offset").to_numpy().astype(np.int64, copy=False)
                marks = pa.repeat(pa.scalar(repair, pa.string()), rows.num_rows)
                self._group.append(rows.append_column(REPAIR, marks))
                self._size += rows.nbytes
                if self._size >= ROW_GROUP:
                    self._write()

    def _write(self) -> None:
        if not self._group:
            return
        if self._writer is None:
            schema = self._group[0].schema
            self._writer = parquet.ParquetWriter(self.path, schema, compression="zstd")
        table, self._group, self._size = pa.Table.from_batches(self._group), [], 0
        self._writer.write_table(table)


class DoubtfulPart:
    """Records at doubtful offsets, in a separate folder that is created with the first one."""

    def __init__(self, folder: Path) -> None:
        self.records = 0
        self._folder = folder
        self._file: RecordsFile | None = None
        self._segment_slice: SegmentSlice | None = None

    def add(self, readable: ReadableRun, rows: NDArray[np.intp]) -> None:
        """Add some batches of a run, regardless of the requested offsets."""
        if self._file is None or self._segment_slice is not readable.segment_slice:
            self.close()
            self._segment_slice = readable.segment_slice
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{readable.segment_slice.segment.base_offset:020d}.parquet"
            self._file = RecordsFile(path, _whole(readable.segment_slice), ReadRequest())
        for _ in self._file.add(readable, rows):
            pass

    def close(self) -> None:
        """Finish the last file."""
        if self._file is not None:
            for _ in self._file.close():
                pass
            self.records += self._file.records
        self._file = None


def write_parquet(
    salvaged: SalvagedPartition,
    request: ReadRequest,
    source: ReadableBatches,
    found: Survey,
    folder: Path,
    doubtful: DoubtfulPart,
) -> None:
    """Write what can be read of one replica into ``folder``; ``salvaged`` is filled in."""
    counts = salvaged.counts
    if salvaged.left_out.count and len(found.outcomes.markers.offset):
        logger.warning(
            "%s: where a lost marker decided a transaction, transactionState is that of the "
            "transaction index, or of the producer's next transaction",
            salvaged.name,
        )
    # Of a range only the segments in it were read: the markers may be in a later one.
    markers = found.outcomes.markers if source.to_offset is None else None
    file: RecordsFile | None = None
    segment_slice: SegmentSlice | None = None
    for readable in source.read(no_progress, NotedDamage.silent()):
        if file is None or segment_slice is not readable.segment_slice:
            _close(file, salvaged)
            segment_slice = readable.segment_slice
            path = folder / f"{segment_slice.segment.base_offset:020d}.parquet"
            file = RecordsFile(path, segment_slice, request, markers)
        kept = divided(readable, source, found, salvaged, doubtful)
        counts.kept.batches += len(kept)
        if len(kept):
            _note(salvaged, file.add(readable, kept))
    _close(file, salvaged)


def divided(
    readable: ReadableRun,
    source: ReadableBatches,
    found: Survey,
    salvaged: SalvagedPartition,
    doubtful: DoubtfulPart,
) -> NDArray[np.intp]:
    """Give the doubtful batches of a run to their part, count what is not asked for; the rest."""
    run, segment_slice, counts = readable.run, readable.segment_slice, salvaged.counts
    is_unreadable = found.is_unreadable(segment_slice, run)
    is_doubtful = found.is_doubtful(segment_slice, run) & ~is_unreadable
    is_outside = ~source.is_asked(run) & ~is_doubtful & ~is_unreadable
    if is_doubtful.any():
        rows = np.flatnonzero(is_doubtful)
        counts.doubtful.batches += len(rows)
        doubtful.add(readable, rows)
    if is_outside.any():
        records = int(record_counts(readable)[is_outside].sum())
        counts.left_out[Reason.OUTSIDE_RANGE].add(int(is_outside.sum()), records)
    return np.flatnonzero(~(is_unreadable | is_doubtful | is_outside))


def _note(salvaged: SalvagedPartition, written: Iterable[NDArray[np.int64]]) -> None:
    for offsets in written:
        salvaged.offsets.add(offsets, offsets)
        salvaged.deleted_records += int((offsets < salvaged.log_start).sum())


def _close(file: RecordsFile | None, salvaged: SalvagedPartition) -> None:
    if file is None:
        return
    _note(salvaged, file.close())
    if file.is_there:
        salvaged.files.append(file.path.name)
    salvaged.records += file.records
    salvaged.counts.kept.records += file.records
    salvaged.counts.left_out[Reason.OUTSIDE_RANGE].records += file.left_out


def _whole(segment_slice: SegmentSlice) -> SegmentSlice:
    """The segment without the bounds of what is requested: a doubtful offset is in no range."""
    return replace(segment_slice, from_offset=0, to_offset=None)
