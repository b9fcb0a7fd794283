"""Where the log start of a replica may have been, by the first entry of its leader epochs.

A broker clips the entries of leader-epoch-checkpoint when records are deleted, and writes the log
start a minute later or at shutdown (log.flush.start.offset.checkpoint.interval.ms). So the entries
may be the only trace of a log start that the files no longer, or not yet, have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.release_signs import LOG_STARTS
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets, is_absent, is_empty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.log.lineage import EpochInterval
    from kafkalog_reader.audits.log.replica import Replica


def possible_log_start(
    replica: Replica, intervals: Sequence[EpochInterval], log_end_offset: int
) -> int:
    """The offset up to which the log start may have moved; 0: it has not.

    Args:
        replica: with its epoch entries and its log directory.
        intervals: which epoch wrote which offsets, by the batches: the first entry is that of a
            moved start only if the batches there have its epoch.
        log_end_offset: of the replica; no log starts above it.
    """
    entries = replica.epoch_entries
    if not entries or _is_start_written(replica):
        return 0
    first = entries[0]
    is_of_batches = first.start_offset == log_end_offset or any(
        each.leader_epoch == first.leader_epoch
        and each.first_offset <= first.start_offset < each.next_offset
        for each in intervals
    )
    return first.start_offset if is_of_batches else 0


def _is_start_written(replica: Replica) -> bool:
    """Whether the broker wrote its log starts when it stopped, and the file is still there."""
    root = replica.directory.log_directory
    if not root.clean_shutdown or is_absent(root, LOG_STARTS) or is_empty(root, LOG_STARTS):
        return False
    try:
        checkpointed_offsets(root, LOG_STARTS)
    except LocatedError:  # has its own finding
        return False
    return True
