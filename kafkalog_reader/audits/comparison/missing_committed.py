"""Finds records that a high watermark shows as committed and that no supplied copy holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.hot_copy import is_hot_copy, was_copied_while_written
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.comparison.log_summary import LogSummary
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles

_MIN_COPIES = 2
"""For a single copy, KL-304 reports the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCommitted:
    """Offsets [first, next) between the end of the longest log and the greatest high watermark.

    Attributes:
        replicas: those whose high watermark is above every log end.
        is_proven: one of them was shut down cleanly, so that its high watermark was not written
            after its log was copied.
    """

    replicas: tuple[Replica, ...]
    first_offset: int
    next_offset: int
    is_proven: bool


def missing_committed(
    histories: Mapping[Replica, History], summaries: Mapping[Replica, LogSummary]
) -> MissingCommitted | None:
    """The committed records that are missing; None if none are known to be.

    The checkpointed high watermark is never above the log end of a running broker. In a copy it may
    be if the log was copied first while clients wrote (T01): if file times show this, the row is
    ignored.
    """
    if len(summaries) < _MIN_COPIES or next(iter(summaries)).directory.topic == METADATA_TOPIC:
        return None
    end = max(history.log_end_offset for history in histories.values())
    rows = {
        replica: row
        for replica, summary in summaries.items()
        if (row := replica.checkpointed_high_watermark) is not None
        and row > end
        and not _is_ahead_of_copy(replica, summary)
    }
    if not rows:
        return None
    return MissingCommitted(
        replicas=tuple(rows),
        first_offset=end,
        next_offset=max(rows.values()),
        is_proven=any(each.directory.log_directory.clean_shutdown for each in rows),
    )


def is_hot(replica: Replica, summary: LogSummary) -> bool:
    """Whether file times show that a copy was taken from a running broker."""
    last = _last_segment(replica)
    if last is None or summary.last_timestamp is None:
        return False
    return is_hot_copy(replica.directory, last, summary.last_timestamp)


def _is_ahead_of_copy(replica: Replica, summary: LogSummary) -> bool:
    last = _last_segment(replica)
    if last is None or summary.last_timestamp is None:
        return False
    return is_hot_copy(replica.directory, last, summary.last_timestamp) and (
        was_copied_while_written(replica.directory, HIGH_WATERMARKS, last, summary.last_timestamp)
    )


def _last_segment(replica: Replica) -> SegmentFiles | None:
    try:
        live = [s for s in readable_segments(replica.directory) if s.log_size is not None]
    except LocatedError:
        return None
    return live[-1] if live else None
