"""Builds the history of one replica from its files and its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.committed import History
from kafkalog_reader.audits.log.lineage import combined_lineage, declared_lineage
from kafkalog_reader.tables.high_watermark import high_watermark_of

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.audits.log.replica import Replica


def history_of(replica: Replica, stream: BatchStream) -> History:
    """Offsets, leader epochs and lineage of a replica whose stream was read to its end."""
    log_end = max(stream.next_offset, replica.log_start_offset)
    high_watermark = high_watermark_of(
        checkpointed=replica.checkpointed_high_watermark,
        cleaner_offset=replica.cleaner_offset,
        log_start=replica.log_start_offset,
        log_end=log_end,
    )
    data = stream.lineage.build()
    lineage = combined_lineage(
        data, declared_lineage(replica.cache, replica.log_start_offset, log_end)
    )
    entries = replica.cache.entries
    return History(
        log_start_offset=replica.log_start_offset,
        log_end_offset=log_end,
        high_watermark_low=high_watermark.low,
        lineage=lineage.clipped(replica.log_start_offset, log_end),
        last_leader_epoch=data.intervals[-1].leader_epoch if data.intervals else None,
        leader_epochs=frozenset(
            {interval.leader_epoch for interval in data.rising.intervals}
            | {entry.leader_epoch for entry in entries}
        ),
        data=data,
        lost_its_end=any(stop.is_unfinished for stop in stream.stops),
    )
