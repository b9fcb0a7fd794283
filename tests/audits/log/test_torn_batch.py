"""Whole records of a torn batch; the batch is cut in every place, and counted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.log.torn_batch import readable_in_torn_batch
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

HEADER = 61
RECORD = 8
"""One byte of length, attributes, timestamp and offset deltas, no key, a value of one byte."""


@pytest.mark.parametrize("is_first", [False, True], ids=["behind-another", "first-of-the-segment"])
@pytest.mark.parametrize(("kept", "missing"), [(2, 1), (1, RECORD + 3), (0, 3 * RECORD)])
def test_whole_records_are_those_before_the_cut(
    kept: int, missing: int, is_first: bool, tmp_path: Path
) -> None:
    log = "d,e,f@0/e0" if is_first else "a,b,c@0/e0 d,e,f@3/e0"
    base = 0 if is_first else 3
    cluster(tmp_path, {1: replica(log)})
    (path,) = tmp_path.rglob("*.log")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - missing])
    (directory,) = discover([str(tmp_path)]).partition_directories(ReadRequest())
    (segment,) = readable_segments(directory)
    start = 0 if is_first else len(content) // 2
    for position, first in ((start, base), (0, 0)):
        found = readable_in_torn_batch(directory, segment, position, first)
        assert found == ((base, base + kept) if kept else (0, 0))


def test_a_whole_log_has_no_torn_batch(tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica("a,b,c@0/e0")})
    (directory,) = discover([str(tmp_path)]).partition_directories(ReadRequest())
    (segment,) = readable_segments(directory)
    assert readable_in_torn_batch(directory, segment, 0, 0) == (0, 0)
