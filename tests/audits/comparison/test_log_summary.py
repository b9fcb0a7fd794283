"""What reading one log found, besides the batches that are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, parse_log, replica
from kafkalog_reader.audits.comparison.log_summary import LogSummary, log_summary, spoilt
from kafkalog_reader.audits.comparison.undecided import unusable_copies
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.bare_replica import bare

if TYPE_CHECKING:
    from pathlib import Path

BATCHES = parse_log("0-3/e0 4-5/e0 6-9/e0 10-11/e0")
SIZES = [len(each.build()) for each in BATCHES]


def summary(root: Path, content: bytes) -> tuple[LogSummary, int]:
    """The summary of a log, and how many places spoil it."""
    described = replace(replica(BATCHES[:1]), files={f"{0:020}.log": content})
    cluster(root, {1: described})
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    stream = BatchStream(directory)
    while not stream.ended:
        stream.advance(stream.left_in_window)
    return log_summary(stream), spoilt(stream)


def built(*numbers: int) -> list[bytes]:
    return [BATCHES[number].build() for number in numbers]


def test_a_sound_log_has_its_batches_and_nothing_else(tmp_path: Path) -> None:
    found, places = summary(tmp_path, b"".join(built(0, 1, 2, 3)))
    assert (found.batches, found.size_in_bytes, places) == (4, sum(SIZES), 0)
    assert (found.stops, found.regressions, found.regression_count) == ((), (), 0)
    assert (found.unknown_codecs, found.unknown_codec_count, found.unexplained_falls) == ((), 0, 0)
    assert found.last_timestamp == BATCHES[3].max_timestamp >= EPOCH_MILLIS


def test_an_empty_log_has_no_last_timestamp(tmp_path: Path) -> None:
    found, places = summary(tmp_path, b"")
    assert (found.batches, found.last_timestamp, places) == (0, None, 0)


@pytest.mark.parametrize(
    ("content", "stops", "places"),
    [
        pytest.param([*built(0, 1), b"\xff" * 90, *built(2, 3)], 1, 1, id="bytes_between"),
        pytest.param([*built(0, 1, 2), built(3)[0][:-5]], 1, 0, id="an_unfinished_end"),
        pytest.param([*built(0, 1, 2, 3), bytes(500)], 1, 0, id="zeros_after_the_end"),
    ],
)
def test_only_damage_spoils_a_log(
    tmp_path: Path, content: list[bytes], stops: int, places: int
) -> None:
    """A broker that is killed leaves an unfinished batch, or zeros that it had preallocated."""
    found, spoiling = summary(tmp_path, b"".join(content))
    assert (len(found.stops), spoiling) == (stops, places)


def test_offsets_that_fall_are_counted_and_make_the_copy_unusable(tmp_path: Path) -> None:
    found, _ = summary(tmp_path, b"".join(built(0, 2, 1, 3)))
    assert (found.regression_count, found.unexplained_falls) == (1, 1)
    (fall,) = found.regressions
    assert (fall.where.position, fall.where.offset) == (SIZES[0] + SIZES[2], 4)
    one, other = bare(1), bare(2)
    sound = replace(found, regressions=(), regression_count=0, unexplained_falls=0)
    assert unusable_copies({one: found, other: sound}) == {
        one: f"broker 1: {fall.where}: offsets fall"
    }
    explained = replace(found, unexplained_falls=0)
    assert unusable_copies({one: explained}) == {}


def test_a_format_of_the_future_makes_the_copy_unusable(tmp_path: Path) -> None:
    """Magic 3 where a batch is expected; any other magic is a damaged byte."""
    future = bytearray(built(3)[0])
    future[16] = 3
    found, places = summary(tmp_path, b"".join([*built(0, 1, 2), bytes(future)]))
    assert places == 0
    (reason,) = unusable_copies({bare(1): found}).values()
    assert reason.startswith("broker 1: ")
    assert "unknown magic 3" in reason
    future[16] = 9
    found, places = summary(tmp_path / "nine", b"".join([*built(0, 1, 2), bytes(future)]))
    assert (places, unusable_copies({bare(1): found})) == (1, {})
