"""What time retention deletes right after a start, because it believes a segment to be old.

The largest timestamp of a segment that was not recovered is that of its last time-index entry. Of
an index that was never trimmed that is a zero: 1970. Source: Kafka 4.3,
LogSegment#largestTimestamp, UnifiedLog#deleteRetentionMsBreachedSegments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.recovery.index import last_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.recovery.rule import LogConfig, StartRule
    from kafkalog_reader.audits.recovery.segment import LoadingSegment


def count_expired(segments: Sequence[LoadingSegment], config: LogConfig, rule: StartRule) -> int:
    """How many segments go: from the first one on, up to one that is young enough.

    The high watermark counts as caught up with the log end. With a retention that is only assumed,
    nothing is called expired but what is read as of 1970.

    Raises:
        UnreadableFileError: a time index cannot be opened or read.
    """
    if config.retention_ms is None or not segments:
        return 0
    now = rule.started_at
    if now is None:
        now = max(int(segment.files.modified_at * 1000) for segment in segments)
    for number, segment in enumerate(segments):
        timestamp = _largest_timestamp(segment)
        is_old = now - timestamp > config.retention_ms and (config.is_known or timestamp == 0)
        is_last_and_empty = number == len(segments) - 1 and segment.size_in_bytes == 0
        if not is_old or is_last_and_empty:
            return number
    return len(segments)


def _largest_timestamp(segment: LoadingSegment) -> int:
    if segment.recovered is not None:
        timestamp = segment.recovered.greatest_timestamp
    else:
        timestamp = last_timestamp(segment.files, follow_links=segment.follow_links)
    return timestamp if timestamp >= 0 else int(segment.files.modified_at * 1000)
