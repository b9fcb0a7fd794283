"""Predicts the next start for each replica of one partition; elections begin with the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.recovery.start import predict_start
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.recovery import Recovery
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import PartitionDirectory


def predict_starts(
    directories: Sequence[PartitionDirectory],
    topics: ClusterTopics | None = None,
    progress: Progress = no_progress,
    known: Sequence[Mapping[str, ReadSegment]] = (),
    started_at: int | None = None,
) -> tuple[Recovery | LocatedError, ...]:
    """The start of each replica, or the error if a file that decides it cannot be read.

    Only this partition is examined: the table ``recoveries`` shows whether another one prevents the
    broker's start.

    Args:
        directories: one for each replica.
        topics: those of the cluster, if its metadata log was supplied.
        progress: receives the number of bytes read.
        known: for each replica, the segments that were already read, by the path of their log file.
        started_at: milliseconds; None: right after the newest record of each log.
    """
    read = dict(zip(directories, known, strict=False))

    def predicted(directory: PartitionDirectory) -> Recovery | LocatedError:
        peers = [other for other in directories if other is not directory]
        try:
            (recovery,) = predict_start(
                (directory,),
                topics,
                peers=lambda _: peers,
                started_at=started_at,
                progress=progress,
                known=lambda each: read.get(each, {}),
            )
        except LocatedError as error:
            return error
        return recovery

    return tuple(map(predicted, directories))
