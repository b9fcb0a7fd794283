"""Where a log begins, and whether a moved log start explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import LOG_START_CHECKPOINT
from kafkalog_reader.io.partition_directory import segments

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory


def unexplained_base(directory: PartitionDirectory) -> int:
    """Where the log begins; 0 if its log start was moved there, as DeleteRecords does."""
    base, checkpointed = log_beginning(directory)
    return base if checkpointed < base else 0


def log_beginning(directory: PartitionDirectory) -> tuple[int, int]:
    """The base offset of the first log and the checkpointed log start; each 0 if there is none.

    Both are 0 also where only single files of a replica were given.
    """
    if directory.topic is None or directory.partition is None or directory.only is not None:
        return 0, 0
    found = next((each for each in segments(directory) if each.log_size is not None), None)
    if found is None:
        return 0, 0
    row = directory.topic, directory.partition
    rows = checkpointed_offsets(directory.log_directory, LOG_START_CHECKPOINT)
    return found.base_offset, rows.get(row, 0)
