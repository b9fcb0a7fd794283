"""What the tables of index entries share: units, entries as rows, one scan of the log."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.index_file import read_entries
from kafkalog_reader.tables.log_unit import LogUnit
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import segment_units
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.format.index_entries import FixedEntry
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.damage import Mode
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.request import ReadRequest

Entries = np.ndarray[Any, np.dtype[Any]]
"""Entries of an index file as numpy records, big-endian as in the file."""


class IndexTable(Table[LogUnit]):
    """One row is one entry of one index file of a live segment, with ``confirmed`` by its log."""

    kind: ClassVar[str]
    """How the names of its files end: ``index``, ``timeindex``, ``txnindex``."""
    entry: ClassVar[FixedEntry]

    @abstractmethod
    def size_of(self, segment: SegmentFiles) -> int | None:
        """Bytes of the segment's file of this kind; None if there is none."""

    @abstractmethod
    def values(self, base_offset: int, entries: Entries) -> dict[str, object]:
        """The columns that this kind of index has of its own."""

    @abstractmethod
    def confirm(self, base_offset: int, entries: Entries, scan: SegmentBatches) -> pa.Array:
        """For each entry whether the log confirms it; null if the log cannot be read."""

    def entry_of(self, _segment_slice: SegmentSlice) -> FixedEntry:
        """The entry that the file of a segment consists of.

        Raises:
            UnreadableFileError: the file cannot be opened or read.
        """
        return self.entry

    def is_known(self, _path: str, _first: int, entries: Entries, _mode: Mode) -> NDArray[np.bool_]:
        """Which entries can be understood; others are damage, which is reported here."""
        return np.ones(len(entries), dtype=np.bool_)

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[LogUnit]:
        """Live segments of replicas."""
        return segment_units(evidence, request, live_only=True)

    def read(
        self, unit: LogUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the entries, segment after segment, without preallocated zeros."""
        for segment_slice in unit.slices:
            if self.size_of(segment_slice.segment):
                try:
                    yield from self._rows(segment_slice, request, progress)
                except LocatedError as error:
                    Damage(request.mode).left_out(error)

    def _rows(
        self, segment_slice: SegmentSlice, request: ReadRequest, progress: Progress
    ) -> Iterator[pa.RecordBatch]:
        schema, segment = self.projected(request), segment_slice.segment
        path = segment.path(self.kind)
        for first, read in read_entries(
            path, self.entry_of(segment_slice), progress, segment_slice.directory.context
        ):
            is_known = self.is_known(path, first, read, request.mode)
            entries = read[is_known]
            confirmed: pa.Array | None = None
            if "confirmed" in schema.names and segment.log_size is not None:
                scan = SegmentBatches(segment_slice, request.mode, progress, check_crc=False)
                confirmed = self.confirm(segment.base_offset, entries, scan)
            values = {
                **identity_of(segment_slice.directory),
                "segmentBaseOffset": segment.base_offset,
                "entry": np.arange(first, first + len(read), dtype=np.int32)[is_known],
                **self.values(segment.base_offset, entries),
                "confirmed": confirmed,
            }
            yield build_rows(schema, len(entries), values)
