"""Finds transaction markers at which rebuilding the producer state fails.

Source: Kafka 4.3, ProducerAppendInfo#append and EndTransactionMarker#deserialize, whose exceptions
are not caught; no CRC is checked there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types
from kafkalog_reader.format.batch_fields import CONTROL_BIT, MAGIC
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.segment import LoadingSegment
    from kafkalog_reader.io.progress import Progress


def unreadable_marker(
    segment: LoadingSegment,
    position: int,
    first_offset: int,
    next_offset: int,
    progress: Progress,
) -> str:
    """Where the first control batch of a producer without a marker is; empty if there is none.

    Args:
        segment: the segment to walk.
        position: of the batch at which the walk begins.
        first_offset: batches that end below it do not count.
        next_offset: batches that begin here or above do not count.
        progress: receives the number of bytes read.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    scan = Scan(
        segment.path,
        CHAIN_OF_HEADERS,
        segment.start + position,
        segment.stop,
        progress=progress,
        context=segment.context,
    )
    for run in scan.runs():
        rows = np.flatnonzero(
            (run.attributes & CONTROL_BIT != 0)
            & (run.producer_id >= 0)
            & (run.magic >= MAGIC)
            & (run.records_count != 0)
            & (run.last_offset >= first_offset)
            & (run.base_offset < next_offset)
        )
        types = control_types(run, rows)
        unreadable = rows[(types != ABORT) & (types != COMMIT)]
        if len(unreadable):
            batch = int(unreadable[0])
            where = segment.where(int(run.position[batch]), int(run.base_offset[batch]))
            return f"{where}: a control batch without a transaction marker"
    return ""
