"""What a start reads of a metadata snapshot, wherever the file ends or is damaged.

Expected values follow Kafka's RecordsIterator. Nodes of 4.3.1 and 4.4.0 did so: emptied, zeroed and
with a flipped bit they ended, cut inside the second batch they loaded what is before it.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.recovery.metadata_snapshot import (
    SnapshotEnd,
    SnapshotRead,
    newest_snapshot,
)
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

WHOLE, SHORT, REFUSED = SnapshotEnd.WHOLE, SnapshotEnd.SHORT, SnapshotEnd.REFUSED


@pytest.fixture(scope="module")
def snapshot() -> bytes:
    """A header, a batch of records, a footer."""
    path = captures.path("everything/stopped") / "controller-100" / "__cluster_metadata-0"
    return (path / f"{0:020}-{0:010}.checkpoint").read_bytes()


def borders(content: bytes) -> list[int]:
    """Where batches begin and the last one ends, by the lengths in their headers."""
    found = [0]
    while found[-1] < len(content):
        at = found[-1]
        found.append(at + 12 + int.from_bytes(content[at + 8 : at + 12], "big"))
    return found


def read(folder: Path, content: bytes) -> SnapshotRead:
    state = captures.path("everything/stopped") / "controller-100"
    log = folder / "__cluster_metadata-0"
    log.mkdir(parents=True)
    shutil.copy(state / "meta.properties", folder)
    (log / f"{7:020}-{1:010}.checkpoint").write_bytes(content)
    (directory,) = discover([str(folder)]).partition_directories(ReadRequest())
    found = newest_snapshot(directory)
    assert found is not None
    assert found.end_offset == 7
    return found


def test_a_file_that_ends_after_its_first_batch_ends_the_snapshot(
    tmp_path: Path, snapshot: bytes
) -> None:
    edges = borders(snapshot)
    assert len(edges) == 4
    sizes = {edge + more for edge in edges for more in (-1, 0, 1, 11, 12, 16, 17, 40)}
    for size in sorted(each for each in sizes if 0 <= each < len(snapshot)):
        found = read(tmp_path / str(size), snapshot[:size])
        if size < edges[1]:
            assert (found.end, found.loaded.stop) == (REFUSED, 0), size
            # A NullPointerException in the Raft client; else it sees a file without records.
            assert found.stops_brokers == (0 < size < 17), size
        else:
            loaded = max(edge for edge in edges if edge <= size)
            assert (found.end, found.loaded.stop) == (SHORT, loaded), size
    assert read(tmp_path / "whole", snapshot).end is WHOLE


@pytest.mark.parametrize("batch", [0, 1, 2])
def test_zeros_and_flipped_bits_are_refused(batch: int, tmp_path: Path, snapshot: bytes) -> None:
    start = borders(snapshot)[batch]
    zeroed = snapshot[:start] + bytes(len(snapshot) - start)
    flipped = bytearray(snapshot)
    flipped[start + 30] ^= 1
    unknown = snapshot[: start + 16] + b"\7" + snapshot[start + 17 :]
    for name, content in {"zeroed": zeroed, "flipped": flipped, "magic": unknown}.items():
        found = read(tmp_path / name, bytes(content))
        assert (found.end, found.loaded.stop, found.position) == (REFUSED, 0, start), name
        assert found.stops_brokers


def test_the_first_record_is_a_header(tmp_path: Path, snapshot: bytes) -> None:
    """IllegalStateException: first batch is not a control batch."""
    found = read(tmp_path, snapshot[borders(snapshot)[1] :])
    assert found.end is REFUSED
