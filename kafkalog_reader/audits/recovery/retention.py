"""Predicts what time retention deletes right after a start, because a segment looks old.

The largest timestamp of a segment that was not recovered is that of its last time index entry. In
an index that was never trimmed that is zero: 1970. Source: Kafka 4.3, LogSegment#largestTimestamp,
UnifiedLog#deleteRetentionMsBreachedSegments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.format.layout import utc_text
from kafkalog_reader.tables.time_index_end import last_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.recovery.rule import LogConfig, StartRule
    from kafkalog_reader.audits.recovery.segment import LoadingSegment

_SHOWN: Final = 5
"""Maximum number of segments that a message lists."""
_CHECK_INTERVAL_MS: Final = 5 * 60 * 1000
"""``log.retention.check.interval.ms`` by default."""


class StartTime(NamedTuple):
    """The assumed start time of a broker, in milliseconds, and its source."""

    milliseconds: int
    source: str
    is_given: bool = False

    @property
    def retention_ran_at(self) -> int:
        """When retention ran last before the start.

        What had expired by then is gone, unless the start reads other timestamps than the broker
        did that wrote the log. What expired since then the broker would have deleted as well.
        """
        return self.milliseconds if self.is_given else self.milliseconds - _CHECK_INTERVAL_MS

    def __str__(self) -> str:
        return f"{utc_text(self.milliseconds)}, {self.source}"


def start_time(segments: Sequence[LoadingSegment], rule: StartRule) -> StartTime:
    """The assumed start time of the broker of a log.

    By default it is right after the log's newest record, because file times may be those of a copy;
    but not after the files were modified, because timestamps may be wrong.

    Raises:
        UnreadableFileError: a time index cannot be opened or read.
    """
    if rule.started_at is not None:
        return StartTime(rule.started_at, "the start time that was given", is_given=True)
    files = modified_at(segments)
    newest = max(map(_timestamp, segments), default=-1)
    if not 0 < newest < files:
        return StartTime(files, "when the files were last modified")
    return StartTime(newest, "the time of the newest record")


def modified_at(segments: Sequence[LoadingSegment]) -> int:
    """When the files were last modified, or copied: milliseconds; 0 without files."""
    return max((int(segment.files.modified_at * 1000) for segment in segments), default=0)


def count_expired(
    segments: Sequence[LoadingSegment],
    config: LogConfig,
    now: int,
    *,
    assumes_default: bool = False,
) -> int:
    """How many segments expire at a time: all before the first one that is young enough.

    The high watermark is assumed to be at the log end.

    Args:
        segments: what is left of the log.
        config: of the topic.
        now: milliseconds.
        assumes_default: assume Kafka's default for the retention of a topic that does not set one.
            Otherwise only segments that look like those of 1970 count as expired.

    Raises:
        UnreadableFileError: a time index cannot be opened or read.
    """
    if config.retention_ms is None:
        return 0
    for number, segment in enumerate(segments):
        timestamp = _timestamp(segment)
        if timestamp < 0:
            timestamp = int(segment.files.modified_at * 1000)
        counts = config.is_known or assumes_default or timestamp == 0
        is_old = counts and now - timestamp > config.retention_ms
        is_last_and_empty = number == len(segments) - 1 and segment.size_in_bytes == 0
        if not is_old or is_last_and_empty:
            return number
    return len(segments)


def _timestamp(segment: LoadingSegment) -> int:
    """The largest timestamp that the broker assumes; -1: it uses the file's time."""
    if segment.recovered is not None:
        return segment.recovered.greatest_timestamp
    return last_timestamp(segment.files, context=segment.context)


def retention_text(config: LogConfig) -> str:
    """What deletes segments, for messages."""
    return "retention" if config.is_known else "the default retention of 7 days"


def segments_text(segments: Sequence[LoadingSegment]) -> str:
    """``the segments that begin at offsets 0 and 24``, for messages; long lists are cut."""
    bases = [f"{segment.base_offset:,}" for segment in segments]
    if len(bases) == 1:
        return f"the segment that begins at offset {bases[0]}"
    if len(bases) > _SHOWN:
        return f"{len(bases):,} segments, which begin at offsets {bases[0]} to {bases[-1]}"
    return f"the segments that begin at offsets {', '.join(bases[:-1])} and {bases[-1]}"


def expires_later(segments: Sequence[LoadingSegment], config: LogConfig, started: StartTime) -> str:
    """What a start deletes, as the running broker would, or by file times that may be a copy's."""
    if not config.is_known:
        return ""
    if count := count_expired(segments, config, started.milliseconds):
        return (
            f"{segments_text(segments[:count])} had expired by {started}; retention deletes that "
            "after a start as in a running broker"
        )
    modified = modified_at(segments)
    count = count_expired(segments, config, modified)
    if not count:
        return ""
    return (
        "assumed to start at the time of its newest record; if it starts at "
        f"{utc_text(modified)}, when the files were last modified or copied, retention deletes "
        f"{segments_text(segments[:count])} (--started-at, startedAt: another time)"
    )
