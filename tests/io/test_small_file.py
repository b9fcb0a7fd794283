"""Small logs are read as a whole, once a look."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.small_file import SMALL_LOG, small_log
from kafkalog_reader.tables.request import ReadRequest
from tests.io.counted_rate import CountedRate
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.segment_files import SegmentFiles


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "orders-3"


def segment_of(partition: Path) -> SegmentFiles:
    (directory,) = discover([str(partition)]).partition_directories(ReadRequest())
    return segments(directory)[0]


@pytest.mark.parametrize(
    ("size", "is_small"), [(0, False), (1, True), (SMALL_LOG, True), (SMALL_LOG + 1, False)]
)
def test_a_log_is_small_up_to_a_limit(partition: Path, size: int, is_small: bool) -> None:
    content = b"a" * size
    write_segment(partition, [content])
    expected = content if is_small else None
    assert small_log(segment_of(partition), context=ReadContext()) == expected


@pytest.mark.parametrize("size", [0, SMALL_LOG + 1])
def test_a_log_that_is_no_longer_small_is_not_read(partition: Path, size: int) -> None:
    path = write_segment(partition, [b"a"])
    segment = segment_of(partition)
    path.write_bytes(bytes(size))
    assert small_log(segment, context=ReadContext()) is None


def test_a_small_log_is_read_once_a_look(partition: Path) -> None:
    content = batch(0)
    path = write_segment(partition, [content])
    rate = CountedRate()
    supplied = discover([str(partition)], ReadContext(rate=rate))
    (directory,) = supplied.partition_directories(ReadRequest())
    (segment,) = segments(directory)
    with one_look([directory]) as (looked_at,):
        for _ in range(2):
            assert small_log(segment, context=looked_at.context) == content
            path.write_bytes(b"another")
        assert rate.taken == [len(content)]
        other = replace(segment, suffix="swap")
        with pytest.raises(UnreadableFileError):
            small_log(other, context=looked_at.context)
    assert small_log(segment, context=looked_at.context) == b"another"
