"""The offsets of records by the headers of their batches: no payload is decompressed or decoded.

A batch that holds as many records as offsets has a record at each of them. Log cleaning leaves
batches with fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.format.batch_fields import CODEC_MASK, HEADER_SIZE, MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun

_ROWS: Final = 65_536
_MIN_RECORD: Final = 7
"""Bytes of the smallest record: length, attributes, two deltas, no key, no value, no header."""
_MAX_RECORDS_A_BYTE: Final = 4
"""A header that claims more records for a byte of a compressed payload is not believed."""
_MAX_RECORDS: Final = 1 << 22
"""Of one batch, whose offsets are made at once: 32 MiB. A larger one is decoded."""
_NEAR_THE_LAST_OFFSET: Final = 2**63 - 2**32


@dataclass(frozen=True, slots=True)
class HeaderRecords:
    """Records of the batches of a run, at most 65,536 of them or one batch.

    They answer what ``DecodedRecords`` answers, as far as headers can.

    Attributes:
        run: the batches.
        row_end: for each batch, how many records it and those before it have.
        offset: of each record.
    """

    run: BatchRun
    row_end: NDArray[np.int64]
    offset: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """The number of records."""
        return len(self.offset)

    @property
    def columns(self) -> HeaderRecords:
        """The columns of the records themselves."""
        return self

    def column(self, name: str) -> pa.Array:
        """The offsets; headers give no other column of records."""
        if name != "offset":
            raise KeyError(name)
        return pa.array(self.offset)

    def rows_before(self, position: int) -> int:
        """How many records are before the first batch that begins at or after a position."""
        batches = int(np.searchsorted(self.run.position, position))
        return int(self.row_end[batches - 1]) if batches else 0

    def of_batches(self, name: str) -> NDArray[Any]:
        """A header column with one entry for each batch."""
        values: NDArray[Any] = getattr(self.run, name)
        return values

    def of_records(self, of_batches: NDArray[Any]) -> NDArray[Any]:
        """Repeat each batch's entry for all of its records."""
        if (of_batches == of_batches[0]).all():
            return np.full(self.rows, of_batches[0], of_batches.dtype)
        return np.repeat(of_batches, self.run.records_count)


def tells_offsets(run: BatchRun) -> bool:
    """Whether the headers give the offset of every record of a run of sound batches.

    A count that the payload cannot hold is left to the decoder, which reports it.
    """
    if run.count == 0:
        return False
    all_of_them = run.summary
    if not (
        all_of_them.is_full
        and all_of_them.valid == run.count
        and all_of_them.least_magic == all_of_them.greatest_magic == MAGIC
        and all_of_them.least_base_offset >= 0
        and int(run.base_offset.max()) < _NEAR_THE_LAST_OFFSET
    ):
        return False
    payload = run.size_in_bytes.astype(np.int64) - HEADER_SIZE
    is_compressed = (run.attributes & CODEC_MASK) != 0
    most = np.where(is_compressed, payload * _MAX_RECORDS_A_BYTE, payload // _MIN_RECORD)
    return bool((run.records_count <= np.minimum(most, _MAX_RECORDS)).all())


def header_records(run: BatchRun) -> Iterator[HeaderRecords]:
    """The records of a run for which ``tells_offsets`` is true, in portions."""
    leads_on = run.summary.leads_on
    ends = np.cumsum(run.records_count, dtype=np.int64)
    first = before = 0
    while first < run.count:
        stop = max(first + 1, int(np.searchsorted(ends, before + _ROWS, side="right")))
        part = run.taken(slice(first, stop))
        row_end = ends[first:stop] - before
        rows = int(row_end[-1])
        if leads_on:
            base = int(part.base_offset[0])
            offset = np.arange(base, base + rows, dtype=np.int64)
        else:
            first_row = row_end - part.records_count
            offset = np.repeat(part.base_offset - first_row, part.records_count)
            offset += np.arange(rows, dtype=np.int64)
        yield HeaderRecords(part, row_end, offset)
        first, before = stop, int(ends[stop - 1])
