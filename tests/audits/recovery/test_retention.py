"""What time retention deletes right after a start, and when that start is assumed to be."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.recovery.retention import (
    StartTime,
    count_expired,
    expires_later,
    modified_at,
    retention_text,
    segments_text,
    start_time,
)
from kafkalog_reader.audits.recovery.rule import LogConfig, StartRule
from kafkalog_reader.audits.recovery.segment import LoadingSegment, Recovered
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.segment_files import SegmentFiles

NOW = 1_700_000_000_000
HOUR = 3_600_000
ONE_HOUR = LogConfig(retention_ms=HOUR, is_known=True)


def segment(timestamp: int, *, size: int = 100, modified: int = NOW) -> LoadingSegment:
    return LoadingSegment(
        files=SegmentFiles(
            base_offset=0, suffix=None, directory="/t-0", log_size=size, offset_index_size=None,
            time_index_size=None, transaction_index_size=None, modified_at=modified / 1000,
        ),
        base_offset=0, start=0, stop=size, context=ReadContext(),
        recovered=Recovered(
            stop=size, next_offset=1, greatest_offset=0, greatest_timestamp=timestamp,
            cache=LeaderEpochCache(),
        ),
    )  # fmt: skip


OLD, YOUNG = segment(NOW - HOUR - 1), segment(NOW - HOUR)


@pytest.mark.parametrize(
    ("segments", "expired"),
    [
        pytest.param([OLD], 1, id="older_than_the_retention"),
        pytest.param([YOUNG], 0, id="exactly_as_old"),
        pytest.param([OLD, YOUNG, OLD], 1, id="up_to_the_first_young_one"),
        pytest.param([OLD, segment(NOW - 2 * HOUR, size=0)], 1, id="not_the_last_if_it_is_empty"),
        pytest.param([segment(NOW - 2 * HOUR, size=0), OLD], 2, id="an_empty_one_before_it"),
        pytest.param([], 0, id="nothing"),
    ],
)
def test_segments_expire_until_the_first_young_one(
    segments: list[LoadingSegment], expired: int
) -> None:
    """``now - largestTimestamp > retention.ms``; Kafka 4.0, UnifiedLog#deletableSegments."""
    assert count_expired(segments, ONE_HOUR, NOW) == expired


def test_without_a_timestamp_the_time_of_the_file_counts() -> None:
    assert count_expired([segment(-1, modified=NOW - HOUR - 1)], ONE_HOUR, NOW) == 1
    assert count_expired([segment(-1, modified=NOW - HOUR)], ONE_HOUR, NOW) == 0


def test_unlimited_retention_keeps_everything() -> None:
    for_ever = LogConfig(retention_ms=None, is_known=True)
    assert count_expired([segment(0)], for_ever, NOW) == 0


def test_the_default_of_a_topic_counts_only_where_it_is_assumed() -> None:
    default = LogConfig(retention_ms=HOUR, is_known=False)
    assert count_expired([OLD], default, NOW) == 0
    assert count_expired([OLD], default, NOW, assumes_default=True) == 1
    assert count_expired([segment(0)], default, NOW) == 1, "it looks like one of 1970"
    assert count_expired([segment(1)], default, NOW) == 0


def test_a_start_is_right_after_the_newest_record_but_not_after_the_files() -> None:
    files = [segment(5, modified=NOW - 2), segment(7, modified=NOW), segment(6, modified=NOW - 1)]
    assert modified_at(files) == NOW
    found = start_time(files, StartRule())
    assert (found.milliseconds, found.source) == (7, "the time of the newest record")
    assert not found.is_given


@pytest.mark.parametrize("newest", [-1, 0, NOW, NOW + 1])
def test_otherwise_it_is_when_the_files_were_modified(newest: int) -> None:
    found = start_time([segment(newest)], StartRule())
    assert (found.milliseconds, found.source) == (NOW, "when the files were last modified")


def test_a_given_time_decides() -> None:
    found = start_time([segment(7)], StartRule(started_at=0))
    assert (found.milliseconds, found.source) == (0, "the start time that was given")


def test_no_files_have_no_time() -> None:
    assert modified_at([]) == 0


def begin_at(*bases: int) -> list[LoadingSegment]:
    found = []
    for base in bases:
        each = segment(NOW)
        each.base_offset = base
        found.append(each)
    return found


@pytest.mark.parametrize(
    ("bases", "text"),
    [
        ((0,), "the segment that begins at offset 0"),
        ((0, 2400), "the segments that begin at offsets 0 and 2,400"),
        ((0, 1, 2, 3, 4), "the segments that begin at offsets 0, 1, 2, 3 and 4"),
        ((0, 1, 2, 3, 4, 5), "6 segments, which begin at offsets 0 to 5"),
        (tuple(range(1200)), "1,200 segments, which begin at offsets 0 to 1,199"),
    ],
)
def test_at_most_five_segments_are_named(bases: tuple[int, ...], text: str) -> None:
    assert segments_text(begin_at(*bases)) == text


def test_a_start_at_the_time_of_the_files_may_delete_more() -> None:
    """The files were modified an hour and a millisecond after their newest record, or an hour."""
    later = NOW + HOUR + 1
    started = StartTime(NOW, "the time of the newest record")
    text = expires_later([segment(NOW, modified=later)], ONE_HOUR, started)
    assert "retention deletes the segment that begins at offset 0" in text
    assert expires_later([segment(NOW, modified=later - 1)], ONE_HOUR, started) == ""
    unknown = LogConfig(retention_ms=HOUR, is_known=False)
    assert expires_later([segment(NOW, modified=later)], unknown, started) == ""
    assert expires_later([segment(0, modified=later)], unknown, started) == ""


def test_the_default_retention_is_named_as_that() -> None:
    assert retention_text(ONE_HOUR) == "retention"
    assert retention_text(LogConfig(is_known=False)) == "the default retention of 7 days"
