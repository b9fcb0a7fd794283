"""Compares logs by their batches alone, without other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.comparison import compare
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.replica import Replica
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.comparison.compared_replicas import Comparison


def compared(root: Path | str, window_size: int) -> Comparison:
    """The comparison of the only partition below a folder; logs start with their first batch."""
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    streams = [BatchStream(each, window_size=window_size) for each in directories]
    replicas = [
        Replica(
            directory=directory,
            log_start_offset=0 if stream.ended else stream.base_offset,
            size_in_bytes=0,
        )
        for directory, stream in zip(directories, streams, strict=True)
    ]
    return compare(replicas, streams)
