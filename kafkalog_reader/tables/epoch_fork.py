"""Where the leader epochs of two copies of a partition part."""

from __future__ import annotations

import logging
from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.errors import CorruptCheckpointError, UnsupportedFormatError
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan
from kafkalog_reader.scan.sparse_index import SparseIndex

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory

logger = logging.getLogger(__name__)

Lineage = list[tuple[int, int]]
"""(leader epoch, first offset) in order: each epoch lasts to the next one's first offset."""


def epoch_fork(one: PartitionDirectory, other: PartitionDirectory, end: int) -> int:
    """The first offset from which the leader epochs of two copies differ; else ``end``.

    A checkpoint may be older than its log, or of another one: where it says that the copies differ
    and their batches say that they do not, the batches count.
    """
    fork = _fork(_lineage(one), _lineage(other), end)
    if fork == end:
        return end
    epochs = _epoch_of_batch(one, fork), _epoch_of_batch(other, fork)
    if None in epochs or epochs[0] != epochs[1]:
        return fork
    return _fork(_lineage_of_batches(one), _lineage_of_batches(other), end)


def _epoch_of_batch(directory: PartitionDirectory, offset: int) -> int | None:
    """The leader epoch of the first batch that ends at or above an offset; None if unknown."""
    log = [each for each in segments(directory) if each.log_size]
    number = max(bisect_right(log, offset, key=lambda each: each.base_offset) - 1, 0)
    if not log:
        return None
    segment, start = log[number], 0
    if segment.offset_index_size:
        with SparseIndex(segment, context=directory.context) as index:
            if (entry := index.last_below_offset(offset)) >= 0:
                start = index[entry][1]
    for run in Scan(segment, CHAIN_OF_HEADERS, start, context=directory.context).runs():
        reaching = np.flatnonzero(run.last_offset >= offset)
        if len(reaching):
            return int(run.leader_epoch[reaching[0]])
    return None


def _fork(one: Lineage, other: Lineage, end: int) -> int:
    """The first offset from which the leader epochs of two copies differ; else ``end``."""
    for start in sorted({start for _, start in (*one, *other) if start < end}):
        epochs = _epoch_at(one, start), _epoch_at(other, start)
        # below the first known epoch nothing is known to differ
        if None not in epochs and epochs[0] != epochs[1]:
            return start
    return end


def _epoch_at(lineage: Lineage, offset: int) -> int | None:
    return next((epoch for epoch, start in reversed(lineage) if start <= offset), None)


def _lineage(directory: PartitionDirectory) -> Lineage:
    """By the checkpoint, which may have entries after the end; without it, by the batches."""
    try:
        entries = read_leader_epochs(directory.path, context=directory.context)
    except (CorruptCheckpointError, UnsupportedFormatError) as error:
        logger.warning("%s; leader epochs are taken from the batches", error)
        entries = None
    if entries:
        return [(entry.leader_epoch, entry.start_offset) for entry in entries]
    return _lineage_of_batches(directory)


def _lineage_of_batches(directory: PartitionDirectory) -> Lineage:
    lineage: Lineage = []
    for segment in segments(directory):
        if segment.log_size is None:
            continue
        for run in Scan(segment, CHAIN_OF_HEADERS, context=directory.context).runs():
            lineage += [
                (int(run.leader_epoch[number]), int(run.base_offset[number]))
                for number in run.leader_epoch_starts
            ]
    return lineage
