"""Places at which offsets decrease, and which of them a corrected base offset explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.test_offset_order import build, move

if TYPE_CHECKING:
    from pathlib import Path


def stream_of(root: Path) -> BatchStream:
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    return BatchStream(directory)


def test_a_sound_log_has_none(tmp_path: Path) -> None:
    falls = stream_of(build(tmp_path)).falls
    assert (falls.first, falls.count, falls.unexplained, falls.rises) == ([], 0, 0, True)


def test_the_batch_that_begins_below_the_end_of_the_one_before_is_noted(tmp_path: Path) -> None:
    move(build(tmp_path), batch=2, base_offset=5)
    falls = stream_of(tmp_path).falls
    assert (falls.count, falls.unexplained, falls.rises) == (1, 1, False)
    (place,) = falls.first
    assert (place.where.offset, place.previous_last_offset) == (5, 19)


def test_a_corrected_base_offset_explains_the_fall_at_its_batch(tmp_path: Path) -> None:
    move(build(tmp_path), batch=2, base_offset=5)
    stream = stream_of(tmp_path)
    stream.advance(2)
    stream.restore(20)
    assert (stream.falls.count, stream.falls.unexplained) == (1, 0)


def test_a_corrected_base_offset_explains_the_fall_after_its_batch(tmp_path: Path) -> None:
    move(build(tmp_path), batch=1, base_offset=1034)
    stream = stream_of(tmp_path)
    assert stream.falls.unexplained == 1
    stream.advance(1)
    stream.restore(10)
    assert stream.falls.unexplained == 0
