"""Where a log begins, if no moved log start explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import LOG_START_CHECKPOINT
from kafkalog_reader.io.partition_directory import segments

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory


def unexplained_base(directory: PartitionDirectory) -> int:
    """Where the log begins; 0 if its log start was moved there, as DeleteRecords does."""
    if directory.topic is None or directory.partition is None or directory.only is not None:
        return 0
    base = next((each.base_offset for each in segments(directory) if each.log_size is not None), 0)
    if not base:
        return 0
    root, row = directory.log_directory, (directory.topic, directory.partition)
    return base if checkpointed_offsets(root, LOG_START_CHECKPOINT).get(row, 0) < base else 0
