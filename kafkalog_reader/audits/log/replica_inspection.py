"""Reads the small files of a replica."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from kafkalog_reader.audits.log.replica import Replica
from kafkalog_reader.audits.log.tail_stream import tail_end
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_row, read_leader_epochs, read_topic_id
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles

_T = TypeVar("_T")

logger = logging.getLogger(__name__)


def inspect_replica(directory: PartitionDirectory) -> Replica:
    """Read the small files of a replica; one that is damaged does not hide the others."""
    problems: list[LocatedError] = []

    def tried(read: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return read()
        except LocatedError as error:
            logger.warning("%s", error)
            problems.append(error)
            return otherwise

    def row(name: str) -> int | None:
        if directory.topic == METADATA_TOPIC:
            return None  # the quorum keeps no such rows
        return tried(lambda: checkpointed_row(directory, name), None)

    nothing: tuple[SegmentFiles, ...] = ()
    found = tried(lambda: segments(directory), nothing)
    live = [segment for segment in found if segment.log_size is not None]
    first_base = live[0].base_offset if live else 0
    log_start = row("log-start-offset-checkpoint") or 0
    if live and log_start > live[-1].base_offset:
        end = tried(lambda: tail_end(directory), log_start)
        if log_start > end:  # KL-306: its start will delete segments that exist now
            log_start = first_base
    path, context = directory.path, directory.context
    return Replica(
        directory=directory,
        log_start_offset=max(first_base, log_start),
        size_in_bytes=sum(segment.log_size or 0 for segment in live),
        topic_id=tried(lambda: read_topic_id(path, context=context), None),
        checkpointed_high_watermark=row("replication-offset-checkpoint"),
        cleaner_offset=row("cleaner-offset-checkpoint"),
        epoch_entries=tried(lambda: read_leader_epochs(path, context=context), None),
        problems=tuple(problems),
    )
