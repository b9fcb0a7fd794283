"""Index entries of truncated records stay in the file of the active segment.

Seen on Kafka 4.3.1: `fixtures/captures/s5_1/d-resynchronised`, broker 0, time index of t-0.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize("from_offset", range(8))
def test_stale_entry_hides_no_record(tmp_path: Path, rows_of: Rows, from_offset: int) -> None:
    log = " ".join(f"{'abcdefgh'[n]}@{n}/e0" for n in range(8))  # 69 bytes a batch
    stale = struct.pack(">iiii", 1, 4 * 69, 2, 6 * 69)  # larger batches were there before
    cluster(tmp_path, {1: replica(log, files={f"{0:020d}.index": stale})})
    rows = rows_of("records", tmp_path, columns=["offset"], from_offset=from_offset)
    assert [row["offset"] for row in rows] == list(range(from_offset, 8))
    batches = rows_of("batches", tmp_path, columns=["baseOffset"])
    assert [row["baseOffset"] for row in batches] == list(range(8))
    assert rows_of("replicas", tmp_path)[0]["logEndOffset"] == 8
