"""Replicas and histories without files."""

from __future__ import annotations

from fixtures.builder import parse_epochs
from kafkalog_reader.audits.comparison.committed import History
from kafkalog_reader.audits.log.lineage import EpochInterval, Lineage
from kafkalog_reader.audits.log.replica import Replica
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory


def bare(
    broker_id: int | None,
    *,
    path: str = "",
    log_start: int = 0,
    epochs: str | None = None,
    high_watermark: int | None = None,
    topic_id: str | None = None,
    directory_id: str | None = None,
) -> Replica:
    """A replica of t-0; ``epochs`` is its checkpoint in the form ``0:0 1:5``."""
    path = path or f"/{broker_id}"
    root = LogDirectory(path=path, broker_id=broker_id, directory_id=directory_id)
    return Replica(
        directory=PartitionDirectory(
            path=f"{path}/t-0", log_directory=root, topic="t", partition=0
        ),
        log_start_offset=log_start,
        size_in_bytes=0,
        checkpointed_high_watermark=high_watermark,
        topic_id=topic_id,
        epoch_entries=None if epochs is None else tuple(parse_epochs(epochs)),
    )


def history(*steps: tuple[int, int, int], start: int = 0, high_watermark: int = 0) -> History:
    """A log whose batches are ``(leader epoch, first offset, next offset)``."""
    lineage = Lineage(tuple(EpochInterval(*step) for step in steps))
    return History(
        log_start_offset=start,
        log_end_offset=steps[-1][2] if steps else start,
        high_watermark_low=high_watermark,
        lineage=lineage,
        last_leader_epoch=steps[-1][0] if steps else None,
        leader_epochs=frozenset(step[0] for step in steps),
        data=lineage,
    )
