"""Our side: the public API, and for one row the scan of headers that ``verify`` uses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow.compute as pc

import kafkalog_reader
from benchmarks.answer import WRAP, Answer
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.column_scan import ColumnScan

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

COLUMNS: Final = ("offset", "timestamp", "key", "value")


class OurReader:
    """Reads one segment file from its path, as a user does."""

    def __init__(self, segment: Path) -> None:
        self._path = str(segment)

    def record_seconds(self) -> float:
        """Read offset, timestamp, key and value of every record into Arrow; CRC is checked."""
        start = time.perf_counter()
        for _ in kafkalog_reader.open(self._path).table("records", columns=COLUMNS):
            pass
        return time.perf_counter() - start

    def batch_seconds(self) -> float:
        """Read the ``batches`` table, every column, CRC computed and compared."""
        start = time.perf_counter()
        for _ in kafkalog_reader.open(self._path).table("batches"):
            pass
        return time.perf_counter() - start

    def batches(self) -> int:
        """The number of valid record batches; not timed."""
        valid = 0
        for rows in kafkalog_reader.open(self._path).table("batches", columns=["crcValid"]):
            valid += pc.sum(rows["crcValid"]).as_py() or 0
        return valid

    def answer(self) -> Answer:
        """The result of a pass over the records; not timed."""
        sums = np.zeros(6, np.int64)
        for rows in kafkalog_reader.open(self._path).table("records", columns=COLUMNS):
            sums += _sums(rows)
        records, offsets, timestamps, key_bytes, value_bytes, first_bytes = map(int, sums)
        return Answer(
            records=records,
            offsets=offsets % WRAP,
            timestamps=timestamps % WRAP,
            key_bytes=key_bytes,
            value_bytes=value_bytes,
            first_bytes=first_bytes,
        )


class OurHeaders:
    """Checks the batches of a segment file as ``verify`` does, in the kernel, without payloads."""

    def __init__(self, segment: Path) -> None:
        self._path = str(segment)
        self._size = segment.stat().st_size
        self.batches = 0

    def seconds(self) -> float:
        """Follow the header chain and check every CRC, without the GIL."""
        start = time.perf_counter()
        scan = ColumnScan(self._path, 0, self._size, context=ReadContext())
        self.batches = sum(run.count for run in scan)
        return time.perf_counter() - start


def _sums(rows: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    offsets, timestamps, keys, values = (rows.column(name) for name in COLUMNS)
    first = b"".join(pc.binary_slice(values, 0, 1).drop_null().to_pylist())
    milliseconds = timestamps.cast("int64").to_numpy() // 1000
    return np.array(
        [
            rows.num_rows,
            offsets.to_numpy().sum(),
            milliseconds.sum(),
            pc.sum(pc.binary_length(keys)).as_py() or 0,
            pc.sum(pc.binary_length(values)).as_py() or 0,
            np.frombuffer(first, np.int8).sum(dtype=np.int64),
        ]
    )
