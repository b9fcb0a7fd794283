"""Partition directories with their indexes, as a broker would have written them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

import kafkalog_reader
from benchmarks.java import bench_directory
from benchmarks.segments import TOPIC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.segments import Segments

COLUMNS: Final = ("baseOffset", "lastOffset", "position", "size", "maxTimestamp")
INDEX_INTERVAL: Final = 4096
"""``index.interval.bytes`` of a broker left alone."""


def indexed_directory(
    segments: Segments, *, interval: int = INDEX_INTERVAL, copies: int = 1
) -> Path:
    """A log directory with ``copies`` partitions of the same bytes, indexes beside the log.

    Args:
        segments: the first one is used.
        interval: bytes between two entries of an index; 0 gives each batch one.
        copies: how many partitions.
    """
    log = segments.file()
    root = bench_directory() / f"indexed-{log.parent.parent.name}-{interval}-{copies}"
    if root.is_dir():
        _warm(root)
        return root
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=".write.") as scratch:
        written = Path(scratch) / "log"
        for copy in range(copies):
            partition = written / f"{TOPIC}-{copy}"
            partition.mkdir(parents=True)
            os.link(log, partition / log.name)  # one file in the page cache, as small as one copy
            _write_indexes(partition / log.name, interval)
        written.rename(root)
    _warm(root)
    return root


def _warm(root: Path) -> None:
    """Read all files, because what an audit finds outside the page cache stays outside."""
    for file in root.rglob("*.*"):
        with file.open("rb") as stream:
            while stream.read(1 << 24):
                pass


def _write_indexes(log: Path, interval: int) -> None:
    """Entries as ``LogSegment#append`` makes them: before a batch, once ``interval`` bytes came."""
    rows = kafkalog_reader.open(str(log)).table("batches", columns=COLUMNS).to_arrow()
    last, position, size = (rows[name].to_numpy() for name in COLUMNS[1:4])
    newest = rows["maxTimestamp"].cast("int64").to_numpy() // 1000
    chosen = _every(size.astype(np.int64), interval)
    offsets = np.column_stack([last[chosen], position[chosen]]).astype(">i4")
    log.with_suffix(".index").write_bytes(offsets.tobytes())
    reached = np.maximum.accumulate(newest)
    first = np.flatnonzero(np.diff(reached, prepend=-1) > 0)
    of_newest = last[first[np.searchsorted(first, chosen, side="right") - 1]]
    entries = np.zeros(len(chosen), np.dtype([("timestamp", ">i8"), ("offset", ">i4")]))
    entries["timestamp"], entries["offset"] = reached[chosen], of_newest
    rising = np.flatnonzero(np.diff(entries["timestamp"].astype(np.int64), prepend=-1) > 0)
    log.with_suffix(".timeindex").write_bytes(entries[rising].tobytes())


def _every(sizes: NDArray[np.int64], interval: int) -> NDArray[np.intp]:
    """The batches in front of which more than ``interval`` bytes have come since the last entry."""
    if not interval:
        return np.arange(len(sizes))
    chosen, since = [], 0
    for number, size in enumerate(sizes.tolist()):
        if since > interval:
            chosen.append(number)
            since = 0
        since += size
    return np.array(chosen, np.intp)
